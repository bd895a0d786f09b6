"""Measures a disk with the worker (docs/design/device.md)."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from rocktune.device import DeviceSpec
from rocktune.engine.base import Progress, RunFailed
from rocktune.engine.local.scratch_directory import checked_parent, scratch_directory
from rocktune.engine.worker import find_worker, start_worker
from rocktune.errors import UserError
from rocktune.trial import Status
from rocktune.units import MIB, format_bytes

MIN_MEASURED_BYTES = 64 * MIB
"""Minimum of the bytes that a measurement may write; less would not say anything."""
MIN_MEASURED_S = 1.0
"""Minimum duration of a measurement in seconds."""

# A disk that takes longer for one operation has failed. Progress restarts the time.
_TIMEOUT_S = 120.0
_MENDS = {
    Status.INVALID: "; name a directory of a file system on a disk that has direct I/O, such as ext4 or XFS",
    Status.OUT_OF_DISK: "; free some space, or write less",
}


@dataclass(frozen=True)
class MeasureRequest:
    """A checked request to measure a disk.

    Attributes:
        directory: directory on the disk, absolute.
        max_bytes: maximum number of bytes that are written, at least `MIN_MEASURED_BYTES`.
        seconds: maximum duration, at least `MIN_MEASURED_S`.
    """

    directory: Path
    max_bytes: int
    seconds: float

    @classmethod
    def checked(cls, directory: Path, max_bytes: int, seconds: float) -> "MeasureRequest":
        """Returns a request after checking it, without writing anything.

        Raises:
            UserError: an argument is out of its range, or the directory cannot be measured; see
                `checked_parent`.
        """
        if max_bytes < MIN_MEASURED_BYTES:
            least = format_bytes(MIN_MEASURED_BYTES)
            raise UserError(f"bytes: {format_bytes(max_bytes)} are too few; give at least {least}")
        if seconds < MIN_MEASURED_S:
            raise UserError(f"seconds: {seconds:g} is too short; give at least {MIN_MEASURED_S:g}")
        return cls(checked_parent(directory, max_bytes), max_bytes, seconds)


@dataclass(frozen=True)
class MeasuredDevice:
    """The result of a measurement.

    Attributes:
        device: figures in the sense of the throttled file system, without a capacity.
        written_bytes: bytes that were written.
        engine: the RocksDB that measured, such as "RocksDB 7.8.3, assertions on".
    """

    device: DeviceSpec
    written_bytes: int
    engine: str


def measured_device(
    request: MeasureRequest,
    name: str,
    progress: Progress | None = None,
    command: Sequence[str] | None = None,
) -> MeasuredDevice:
    """Measures the disk under a directory. All files are removed, whatever happens.

    Args:
        request: what to measure.
        name: name of the device.
        progress: is called with the phases of the worker's `measure_device`, and seconds.
        command: program and arguments that start a worker; the result of `find_worker` by default.

    Raises:
        UserError: no worker is installed; the directory cannot be written or is in use; its files are in
            memory or its file system refuses direct I/O; or the measurement failed.
    """
    worker_command = tuple(command or find_worker())
    with scratch_directory(request.directory) as scratch:
        worker = start_worker(worker_command, [scratch.lock_descriptor])
        fields = {
            "directory": str(scratch.path),
            "bytes": request.max_bytes,
            "seconds": request.seconds,
        }
        try:
            reply = worker.request("measure_device", _TIMEOUT_S, fields, progress, renewed=True)
        except RunFailed as failure:
            mend = _MENDS.get(failure.status, "")
            raise UserError(f"{request.directory}: {failure.message}{mend}") from None
        finally:
            worker.kill()
    device = DeviceSpec.model_validate({"name": name} | reply["device"])
    return MeasuredDevice(device, int(reply["written_bytes"]), worker.engine)
