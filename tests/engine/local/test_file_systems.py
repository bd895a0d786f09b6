"""The type of the file system of a directory."""

from pathlib import Path

import pytest

from rocktune.engine.local.file_systems import file_system_of

MOUNTS = r"""22 1 254:1 / / rw,relatime shared:1 - ext4 /dev/vda1 rw
30 22 0:27 / /dev rw,nosuid - devtmpfs udev rw
31 30 0:28 / /dev/shm rw shared:4 master:1 - tmpfs tmpfs rw,size=1g
40 22 8:1 / /data rw - xfs /dev/sda1 rw
41 40 0:50 / /data rw - overlay overlay rw,lowerdir=/a:/b
42 22 8:2 / /with\040space rw - btrfs /dev/sdb1 rw
"""


@pytest.mark.parametrize(
    ("directory", "expected"),
    [
        ("/home/user/.cache", "ext4"),
        ("/dev/shm/rocktune", "tmpfs"),
        ("/dev/shm-other", "devtmpfs"),
        ("/data/stores", "overlay"),
        ("/data", "overlay"),
        ("/with space/x", "btrfs"),
        ("/", "ext4"),
    ],
)
def test_the_innermost_and_last_mount_decides(directory: str, expected: str) -> None:
    assert file_system_of(Path(directory), MOUNTS) == expected


def test_malformed_mounts_give_no_type() -> None:
    assert file_system_of(Path("/data"), "") == ""
    assert file_system_of(Path("/data"), "40 22 8:1 /\n- \n22 1 254:1 / / rw - ") == ""


def test_this_machine_has_one(tmp_path: Path) -> None:
    assert file_system_of(tmp_path.resolve())
    assert file_system_of(Path("/proc/self").resolve()) == "proc"
