import os
import signal
import subprocess
import sys
import time
from contextlib import suppress
from pathlib import Path

import pytest
from tests.processes import children

from rocktune.engine import MeasureRequest, measured_device
from rocktune.engine.device_measurement import MIN_MEASURED_BYTES
from rocktune.errors import UserError
from rocktune.testing.fake_worker import fake_worker_command

HANGING_DRIVER = (
    "import signal, sys\n"
    "from pathlib import Path\n"
    "from rocktune.engine import MeasureRequest, measured_device\n"
    "from rocktune.testing.fake_worker import fake_worker_command\n"
    "signal.signal(signal.SIGINT, signal.default_int_handler)\n"
    "request = MeasureRequest(Path(sys.argv[1]), 1 << 26, 1.0)\n"
    "measured_device(request, 'x', print, fake_worker_command('measure_device=hang'))\n"
)
SLOWEST_START_S = 120.0


def request(directory: Path) -> MeasureRequest:
    return MeasureRequest.checked(directory, MIN_MEASURED_BYTES, 1.0)


def test_figures_and_progress(tmp_path: Path) -> None:
    seen: list[tuple[str, float, float]] = []
    measured = measured_device(
        request(tmp_path), "mine", lambda *progress: seen.append(progress), fake_worker_command()
    )
    assert (measured.device.name, measured.device.iops) == ("mine", 60_000)
    assert measured.device.capacity_bytes == 0
    assert measured.written_bytes == MIN_MEASURED_BYTES
    assert measured.engine == "RocksDB 7.8.3, assertions off"
    assert seen == [("fill", 0.0, 1.0), ("iops", 0.5, 1.0)]
    assert list(tmp_path.iterdir()) == []
    assert children() == []


def test_requests_have_bounds(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="bytes: 63MiB are too few; give at least 64MiB"):
        MeasureRequest.checked(tmp_path, 63 << 20, 1.0)
    with pytest.raises(UserError, match=r"seconds: 0.5 is too short; give at least 1"):
        MeasureRequest.checked(tmp_path, MIN_MEASURED_BYTES, 0.5)


@pytest.mark.parametrize(
    ("fault", "message"),
    [
        ("invalid", "; name a directory of a file system on a disk"),
        ("out_of_disk", "; free some space, or write less"),
        ("segfault", "killed by SIGSEGV"),
    ],
)
def test_failures_are_one_line_and_leave_nothing(tmp_path: Path, fault: str, message: str) -> None:
    with pytest.raises(UserError, match=message) as failed:
        measured_device(request(tmp_path), "x", command=fake_worker_command(f"measure_device={fault}"))
    assert str(failed.value).startswith(str(tmp_path))
    assert list(tmp_path.iterdir()) == []
    assert children() == []


def hanging_driver(directory: Path) -> "subprocess.Popen[str]":
    """Returns a driver whose worker is measuring, and has left files."""
    driver = subprocess.Popen(
        [sys.executable, "-c", HANGING_DRIVER, str(directory)], stderr=subprocess.PIPE, text=True
    )
    deadline = time.monotonic() + SLOWEST_START_S
    while not (directory / "rocktune-measure" / "files").is_dir():
        assert driver.poll() is None, driver.communicate()
        assert time.monotonic() < deadline
        time.sleep(0.01)
    (directory / "rocktune-measure" / "files" / "filled.sst").write_text("x")
    return driver


def test_an_interrupt_leaves_nothing(tmp_path: Path) -> None:
    with hanging_driver(tmp_path) as driver:
        driver.send_signal(signal.SIGINT)
        assert "KeyboardInterrupt" in driver.communicate()[1]
    assert list(tmp_path.iterdir()) == []


def test_the_next_measurement_removes_what_a_killed_one_left(tmp_path: Path) -> None:
    with hanging_driver(tmp_path) as driver:
        driver.send_signal(signal.SIGKILL)
    assert (tmp_path / "rocktune-measure" / "files" / "filled.sst").is_file()
    # The worker ends with its driver, but a moment later.
    deadline = time.monotonic() + SLOWEST_START_S
    while (tmp_path / "rocktune-measure").exists():
        assert time.monotonic() < deadline
        with suppress(UserError):  # another measurement uses it
            measured_device(request(tmp_path), "x", command=fake_worker_command())
    assert list(tmp_path.iterdir()) == []


def takes_direct_io(directory: Path) -> bool:
    """Returns whether files in a directory can be opened for direct I/O."""
    try:
        descriptor = os.open(directory / "probe", os.O_CREAT | os.O_WRONLY | os.O_DIRECT)
    except OSError:
        return False
    finally:
        (directory / "probe").unlink(missing_ok=True)
    os.close(descriptor)
    return True


def kind_of(directory: Path) -> str:
    """Returns the name of a directory's file system."""
    command = ["stat", "--file-system", "--format=%T", str(directory)]
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout.strip()


def test_a_real_disk(tmp_path: Path, real_worker: tuple[str, ...]) -> None:
    refusal = ""
    if kind_of(tmp_path) in ("tmpfs", "ramfs"):
        refusal = "in memory"
    elif not takes_direct_io(tmp_path):
        refusal = "direct I/O"
    if refusal:
        with pytest.raises(UserError, match=refusal):
            measured_device(request(tmp_path), "real", command=real_worker)
    else:
        measured = measured_device(request(tmp_path), "real", command=real_worker)
        assert min(measured.device.bandwidth_bytes_s, measured.device.iops) > 0
        assert 0 < measured.written_bytes <= MIN_MEASURED_BYTES
    assert list(tmp_path.iterdir()) == []


def test_memory_is_no_disk(real_worker: tuple[str, ...]) -> None:
    shared = Path("/dev/shm")
    if not shared.is_dir() or kind_of(shared) != "tmpfs":
        pytest.skip("/dev/shm is no tmpfs here")
    with pytest.raises(UserError, match=r"in memory \(tmpfs\), not on a disk; name a directory"):
        measured_device(request(shared), "x", command=real_worker)
    assert not (shared / "rocktune-measure").exists()
