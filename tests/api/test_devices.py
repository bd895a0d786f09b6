"""Disks, measured by the substitute of the worker, as device files and in comparisons."""

from pathlib import Path
from typing import Any

import pytest

from rocktune import api
from rocktune.api import devices
from rocktune.device import DeviceSpec, compare_devices, load_device, measured_disks
from rocktune.engine import MeasuredDevice
from rocktune.errors import UserError
from rocktune.study import Observer

pytestmark = pytest.mark.usefixtures("fake_worker_program")


class Watching(Observer):
    """Keeps what it is told."""

    def __init__(self) -> None:
        self.left_s: list[float] = []
        self.phases: list[str] = []

    def estimated(self, total_s: float) -> None:
        self.left_s.append(total_s)

    def phase_started(self, name: str, total_s: float | None) -> None:
        self.phases.append(name)

    def progress(self, phase: str, done: float, total: float) -> None:
        self.phases.append(phase)


@pytest.fixture
def disk(tmp_path: Path) -> Path:
    disk = tmp_path / "disk"
    disk.mkdir()
    return disk


def test_a_measured_disk_is_a_device_for_studies(disk: Path, tmp_path: Path) -> None:
    out = tmp_path / "mine.toml"
    watching = Watching()
    found = api.measure_device(disk, out=out, size="64MiB", seconds="4s", observer=watching)
    assert found["device"] == {
        "name": "mine",
        "bandwidth_bytes_s": 400 << 20,
        "iops": 60_000,
        "read_latency_us": 110,
        "write_latency_us": 40,
        "sync_latency_us": 2_000,
    }
    assert found["file"] == str(out)
    assert found["written_bytes"] == 64 << 20
    assert (found["notes"], found["comparison"], found["compared_with"]) == ([], None, None)
    assert load_device(str(out)) == DeviceSpec(**found["device"])
    assert str(disk) in out.read_text().splitlines()[0]
    (kept,) = measured_disks()
    assert (kept.directory, kept.device) == (str(disk), load_device(str(out)))
    assert watching.left_s == [4.0, 4.0, 2.0]
    assert watching.phases == ["measure-device", "fill", "iops"]


def test_without_a_file_only_figures_are_returned(disk: Path, tmp_path: Path) -> None:
    found = api.measure_device(disk, size="64MiB", seconds=1)
    assert found["file"] is None
    assert found["device"]["name"] == "measured"
    assert [path.name for path in tmp_path.iterdir()] == ["disk"]
    assert list(disk.iterdir()) == []


def test_a_directory_with_a_strange_name_makes_a_valid_file(tmp_path: Path) -> None:
    disk = tmp_path / "a\nb\x7f"
    disk.mkdir()
    api.measure_device(disk, out=tmp_path / "x.toml", size="64MiB", seconds=1)
    assert load_device(str(tmp_path / "x.toml")).iops == 60_000


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"out": "there.toml"}, "there.toml exists; remove it, or name another file"),
        ({"out": "link.toml"}, "link.toml exists"),
        ({"out": "device.txt"}, "'device.txt' must end in .toml"),
        ({"out": "nowhere/x.toml"}, "does not exist; make it first"),
        ({"compare": "nmve"}, "did you mean 'nvme'"),
        ({"compare": "missing.toml"}, "missing.toml: cannot be read"),
        ({"size": "1MiB"}, "bytes: 1MiB are too few; give at least 64MiB"),
        ({"size": "many"}, "bytes: 'many' is not a size"),
        ({"size": "1000TiB"}, "are needed in addition"),
        ({"seconds": "0.1"}, "seconds: 0.1 is too short"),
        ({"seconds": "soon"}, "seconds: 'soon' is not a duration"),
        ({"directory": "missing"}, "missing: is not a directory"),
        ({"directory": "there.toml"}, "there.toml: is not a directory"),
    ],
)
def test_what_is_wrong_is_said_before_anything_is_written(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, wrong: dict[str, Any], message: str
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("there.toml").write_text("iops = 1\n")
    Path("link.toml").symlink_to("nothing")
    Path("disk").mkdir()
    given: dict[str, Any] = {"directory": "disk", "size": "64MiB", "seconds": 1} | wrong
    with pytest.raises(UserError) as refused:
        api.prepare_device_measurement(**given)
    assert message in str(refused.value)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["disk", "link.toml", "there.toml"]
    assert Path("there.toml").read_text() == "iops = 1\n"


def test_a_file_that_appears_meanwhile_is_not_overwritten(disk: Path, tmp_path: Path) -> None:
    out = tmp_path / "mine.toml"
    prepared = api.prepare_device_measurement(disk, out=out, size="64MiB", seconds=1)
    out.write_text("iops = 1\n")
    with pytest.raises(UserError, match="cannot be written: File exists; measured: bandwidth_bytes_s = 4"):
        prepared.run()
    assert out.read_text() == "iops = 1\n"


def test_comparisons_name_what_differs(disk: Path) -> None:
    found = api.measure_device(disk, size="64MiB", seconds=1, compare="sata")
    assert found["compared_with"] == "sata"
    rows = {row["figure"]: row for row in found["comparison"]}
    assert rows["bandwidth_bytes_s"]["ratio"] == pytest.approx(0.8)
    # 0.8 is within a factor of 1.25, 60,000 of 80,000 is not.
    differing = [name for name, row in rows.items() if row["differs"]]
    assert differing == ["iops", "sync_latency_us"]


def test_a_device_without_a_limit_differs_in_nothing() -> None:
    measured = DeviceSpec(name="m", bandwidth_bytes_s=1000, iops=10, sync_latency_us=0)
    rows = compare_devices(measured, DeviceSpec(name="d", bandwidth_bytes_s=1000, sync_latency_us=500))
    found = {row.figure: (row.ratio, row.differs) for row in rows}
    assert found["bandwidth_bytes_s"] == (1.0, False)
    assert found["iops"] == (None, False)
    assert found["read_latency_us"] == (None, False)
    assert found["sync_latency_us"] == (0.0, True)


def test_a_disk_with_slow_seeks_gets_a_note(disk: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    slow = DeviceSpec(name="x", bandwidth_bytes_s=160 << 20, iops=150)
    monkeypatch.setattr(devices, "measured_device", lambda *_: MeasuredDevice(slow, 1000, "RocksDB 7.8.3"))
    (note,) = api.measure_device(disk, size="64MiB", seconds=1)["notes"]
    assert "at most 37.5MiB/s" in note
