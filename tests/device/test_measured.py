"""Measured disks are kept on a machine and compared with devices."""

import os
import platform
from pathlib import Path
from typing import Any

import platformdirs
import pytest

from rocktune.device import DeviceSpec, MeasuredDisk, load_device, measured_disks, remember, unlike

HERE = os.uname().nodename


@pytest.fixture(autouse=True)
def empty_directory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "data"))


def disk(directory: str = "/d", machine: str = HERE, **figures: Any) -> MeasuredDisk:
    device = load_device("ssd-100mb").model_copy(update=figures)
    return MeasuredDisk(machine=machine, directory=directory, date="2026-11-26", device=device)


def test_the_newest_measurement_of_each_directory_is_kept() -> None:
    assert measured_disks() == ()
    for each in (disk("/a", iops=1), disk("/b"), disk("/a", iops=2)):
        remember(each)
    assert [(each.directory, each.device.iops) for each in measured_disks()] == [
        ("/a", 2),
        ("/b", load_device("ssd-100mb").iops),
    ]
    # No temporary file stays.
    assert [path.name for path in platformdirs.user_data_path("rocktune").iterdir()] == [
        "measured-disks.json"
    ]


def test_disks_of_other_machines_on_a_shared_home_do_not_count(monkeypatch: pytest.MonkeyPatch) -> None:
    remember(disk(machine="elsewhere"))
    assert measured_disks() == ()
    remember(disk("/here"))
    monkeypatch.setattr(platform, "node", lambda: "elsewhere")
    assert [each.directory for each in measured_disks()] == ["/d"]


@pytest.mark.parametrize("text", ["", "{", "[1]", '[{"machine": "x"}]', "\x00"])
def test_a_damaged_file_counts_as_empty_and_is_replaced(text: str) -> None:
    path = platformdirs.user_data_path("rocktune") / "measured-disks.json"
    path.parent.mkdir(parents=True)
    path.write_text(text)
    assert measured_disks() == ()
    remember(disk())
    assert measured_disks() == (disk(),)


def test_a_device_like_one_of_the_disks_is_unlike_none() -> None:
    device = load_device("ssd-100mb")
    slow = disk("/slow", bandwidth_bytes_s=50_000_000)
    near = disk("/near", bandwidth_bytes_s=round(1.2 * device.bandwidth_bytes_s))
    assert unlike(device, ()) == ()
    assert unlike(device, (slow,)) == (slow,)
    assert unlike(device, (slow, near)) == ()
    # A device without limits is unlike nothing.
    assert unlike(DeviceSpec(name="none"), (slow,)) == ()
