"""Cgroups in a made-up file tree, and, where it is permitted, a real one."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from rocktune.device import DeviceSpec
from rocktune.engine.processes.cgroup import DeviceCgroup, Kernel, device_cgroup
from rocktune.errors import UserError

DEVICE = DeviceSpec(name="slow", bandwidth_bytes_s=1000, iops=50)


class FakeKernel:
    """A tree like the kernel's, in which `directory` lies on a whole block device."""

    def __init__(self, root: Path) -> None:
        number = root.stat().st_dev
        self.number = f"{os.major(number)}:{os.minor(number)}"
        self.kernel = Kernel(root / "cgroup", root / "devices", root / "own")
        self.cgroups = self.kernel.cgroups
        (self.kernel.devices / self.number).mkdir(parents=True)
        self.cgroups.mkdir()

    def unified(self, own: str, controllers: dict[str, str]) -> None:
        (self.cgroups / "cgroup.controllers").write_text("cpu io\n")
        self.kernel.own_cgroups.write_text(f"0::{own}\n")
        for path, given in controllers.items():
            place = self.cgroups / path
            place.mkdir(parents=True, exist_ok=True)
            (place / "cgroup.subtree_control").write_text(given)

    def blkio(self, own: str) -> None:
        place = self.cgroups / "blkio"
        (place / own.lstrip("/")).mkdir(parents=True, exist_ok=True)
        (place / "cgroup.procs").touch()
        self.kernel.own_cgroups.write_text(f"9:name=systemd:/other\n7:cpu,blkio:{own}\n0::/\n")


@pytest.fixture
def fake(tmp_path: Path) -> FakeKernel:
    return FakeKernel(tmp_path)


def test_version_2(fake: FakeKernel, tmp_path: Path) -> None:
    """The nearest ancestor whose children have the controller."""
    fake.unified("/user/mine", {"": "io cpu", "user": "io", "user/mine": "cpu"})
    found = device_cgroup(DEVICE, tmp_path, fake.kernel)
    limits = f"{fake.number} rbps=1000 wbps=1000 riops=50 wiops=50"
    assert found == DeviceCgroup(fake.cgroups / "user", (("io.max", limits),))


def test_version_2_beside_version_1(fake: FakeKernel, tmp_path: Path) -> None:
    """Where version 2 has no such controller, as on hybrid systems, version 1 may have it."""
    fake.unified("/", {"": "cpu"})
    fake.blkio("/mine")
    assert device_cgroup(DEVICE, tmp_path, fake.kernel).parent == fake.cgroups / "blkio" / "mine"


def test_version_1(fake: FakeKernel, tmp_path: Path) -> None:
    fake.blkio("/")
    bandwidth = DeviceSpec(name="slow", bandwidth_bytes_s=1000)
    found = device_cgroup(bandwidth, tmp_path, fake.kernel)
    assert found.parent == fake.cgroups / "blkio"
    assert found.limits == (
        ("blkio.throttle.read_bps_device", f"{fake.number} 1000"),
        ("blkio.throttle.write_bps_device", f"{fake.number} 1000"),
    )
    every = dict(device_cgroup(DEVICE, tmp_path, fake.kernel).limits)
    assert every["blkio.throttle.write_iops_device"] == f"{fake.number} 50"
    assert len(every) == 4


def test_version_1_in_a_container(fake: FakeKernel, tmp_path: Path) -> None:
    """The kernel tells the host's path, which is not there."""
    fake.blkio("/")
    fake.kernel.own_cgroups.write_text("7:blkio:/docker/1234\n")
    assert device_cgroup(DEVICE, tmp_path, fake.kernel).parent == fake.cgroups / "blkio"


def test_a_partition_is_limited_as_its_device(fake: FakeKernel, tmp_path: Path) -> None:
    fake.blkio("/")
    entry = fake.kernel.devices / fake.number
    entry.rmdir()
    partition = tmp_path / "sda" / "sda1"
    partition.mkdir(parents=True)
    (partition / "partition").write_text("1\n")
    (partition.parent / "dev").write_text("8:0\n")
    entry.symlink_to(partition)
    limits = dict(device_cgroup(DEVICE, tmp_path, fake.kernel).limits)
    assert limits["blkio.throttle.read_bps_device"] == "8:0 1000"


def refusal(fake: FakeKernel, directory: Path) -> str:
    with pytest.raises(UserError) as refused:
        device_cgroup(DEVICE, directory, fake.kernel)
    line = str(refused.value)
    assert line.startswith("device 'slow': cannot be limited: ")
    assert line.endswith(", or use device 'none'")
    assert "\n" not in line
    return line


def test_a_ram_disk_is_refused(fake: FakeKernel, tmp_path: Path) -> None:
    fake.blkio("/")
    (fake.kernel.devices / fake.number).rmdir()
    assert f"{tmp_path} lies on no block device" in refusal(fake, tmp_path)


def test_no_controller_is_refused(fake: FakeKernel, tmp_path: Path) -> None:
    fake.unified("/", {"": "cpu"})
    assert "no cgroup has the controller 'io'" in refusal(fake, tmp_path)


def test_what_is_not_permitted_is_refused(
    fake: FakeKernel, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    fake.blkio("/")
    # Root may write anywhere, whatever the mode says.
    monkeypatch.setattr(os, "access", lambda _path, _mode: False)
    assert f"not permitted to make a cgroup in {fake.cgroups / 'blkio'}; run as root" in refusal(
        fake, tmp_path
    )


def test_a_cgroup_is_there_while_it_is_entered(tmp_path: Path) -> None:
    """The kernel makes the files in a new cgroup, and lets it be removed with them in it."""
    place = DeviceCgroup(tmp_path, ())
    with place.entered() as command:
        (cgroup,) = tmp_path.iterdir()
        assert cgroup.name.startswith(f"rocktune-{os.getpid()}-")
        assert command[-1] == str(cgroup / "cgroup.procs")
    assert list(tmp_path.iterdir()) == []


def test_a_refused_limit_is_one_line(tmp_path: Path) -> None:
    place = DeviceCgroup(tmp_path, (("no/such/file", "1"),))
    with pytest.raises(UserError, match="No such file or directory; use device 'none'"), place.entered():
        pass
    assert list(tmp_path.iterdir()) == []


def test_cgroups_of_drivers_that_were_killed_go(fake: FakeKernel, tmp_path: Path) -> None:
    fake.blkio("/")
    with subprocess.Popen(["true"]) as gone:
        gone.wait()
    names = {"gone": f"rocktune-{gone.pid}-0", "own": f"rocktune-{os.getpid()}-7", "foreign": "rocktune-x-y"}
    places = {who: fake.cgroups / "blkio" / name for who, name in names.items()}
    for place in places.values():
        place.mkdir()
    device_cgroup(DEVICE, tmp_path, fake.kernel)
    assert {who for who, place in places.items() if place.exists()} == {"own", "foreign"}


def test_entering(tmp_path: Path) -> None:
    """The program has the process that entered, and its arguments as they are."""
    (place,) = [DeviceCgroup(tmp_path, ())]
    with place.entered() as command:
        text = "import os, sys; print(os.getpid(), sys.argv[1:])"
        program = [*command, sys.executable, "-c", text, "a b", "$HOME"]
        said = subprocess.run(program, capture_output=True, text=True, check=True).stdout
        (processes,) = tmp_path.glob("*/cgroup.procs")
        assert said == f"{processes.read_text()} ['a b', '$HOME']\n"
        processes.unlink()


def test_a_real_cgroup(tmp_path: Path) -> None:
    """Skips where the machine does not permit one."""
    try:
        place = device_cgroup(DeviceSpec(name="slow", bandwidth_bytes_s=1 << 30), tmp_path)
    except UserError as missing:
        pytest.skip(str(missing))
    with place.entered() as command:
        cgroup = Path(command[-1]).parent
        said = subprocess.run(
            [*command, "cat", "/proc/self/cgroup"], capture_output=True, text=True, check=True
        )
        assert f"/{cgroup.name}\n" in said.stdout
        for name, text in place.limits:
            assert text.split(" ")[1] in (cgroup / name).read_text()
    assert not cgroup.exists()
