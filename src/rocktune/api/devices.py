"""Measures a disk, writes it as a device file, and compares it with another device."""

import platform
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from rocktune.api.new_files import checked_new_file
from rocktune.device import (
    MEASURED_FIGURES,
    DeviceSpec,
    MeasuredDisk,
    compare_devices,
    device_file_text,
    load_device,
    remember,
)
from rocktune.engine import MeasuredDevice, MeasureRequest, measured_device
from rocktune.errors import UserError
from rocktune.study import Observer
from rocktune.units import format_bytes, parse_bytes, parse_seconds

DEFAULT_BYTES = "2GiB"
DEFAULT_SECONDS = 20
_PHASE = "measure-device"
_OPERATION_BYTES = 256 << 10
"""The throttled file system charges one operation for so many bytes."""


@dataclass(frozen=True)
class PreparedDeviceMeasurement:
    """A checked measurement of a disk that has not written anything yet.

    Attributes:
        request: what to measure.
        out: device file to write; None for none.
        compared: device to compare with; None for none.
    """

    request: MeasureRequest
    out: Path | None
    compared: DeviceSpec | None

    def run(self, observer: Observer | None = None) -> dict[str, Any]:
        """Measures; see `rocktune.api.measure_device`."""
        watching = observer or Observer()
        watching.estimated(self.request.seconds)
        watching.phase_started(_PHASE, self.request.seconds)

        def report(phase: str, done_s: float, total_s: float) -> None:
            watching.estimated(total_s - done_s)  # a phase may end early
            watching.progress(phase, done_s, total_s)

        name = "measured" if self.out is None else self.out.stem
        measured = measured_device(self.request, name, report)
        found: dict[str, Any] = {
            "directory": str(self.request.directory),
            "device": measured.device.model_dump(mode="json", include={"name", *MEASURED_FIGURES}),
            "written_bytes": measured.written_bytes,
            "engine": measured.engine,
            "notes": _notes(measured.device),
            "compared_with": None if self.compared is None else self.compared.name,
            "comparison": None
            if self.compared is None
            else [row.model_dump() for row in compare_devices(measured.device, self.compared)],
            "file": None if self.out is None else str(self.out),
        }
        if self.out is not None:
            _write(self.out, self.request, measured)
        _remember(self.request, measured)
        return found


def prepare_device_measurement(
    directory: str | Path,
    *,
    out: str | Path | None = None,
    size: str | int = DEFAULT_BYTES,
    seconds: str | float = DEFAULT_SECONDS,
    compare: str | None = None,
) -> PreparedDeviceMeasurement:
    """Returns a checked measurement. Writes nothing.

    Args:
        directory: see `measure_device`.
        out: see `measure_device`.
        size: see `measure_device`.
        seconds: see `measure_device`.
        compare: see `measure_device`.

    Raises:
        UserError: see `measure_device`.
    """
    compared = None if compare is None else load_device(compare)
    path = None if out is None else checked_new_file(Path(out), "--device")
    request = MeasureRequest.checked(
        Path(directory), parse_bytes(size, "bytes"), parse_seconds(seconds, "seconds")
    )
    return PreparedDeviceMeasurement(request, path, compared)


def measure_device(
    directory: str | Path,
    *,
    out: str | Path | None = None,
    size: str | int = DEFAULT_BYTES,
    seconds: str | float = DEFAULT_SECONDS,
    compare: str | None = None,
    observer: Observer | None = None,
) -> dict[str, Any]:
    """Measures what the disk under a directory gives RocksDB.

    All files lie in a new subdirectory, which is removed afterwards.

    Args:
        directory: existing directory on the disk.
        out: device file to write, for `--device`; it must end in .toml and not exist yet.
        size: maximum bytes written, at least 64 MiB. More bytes show what a disk gives once its own caches
            are full.
        seconds: maximum duration, at least 1 s.
        compare: preset or device file to compare with.
        observer: observer of progress.

    Returns:
        A JSON object. `device`: name and figures as in `rocktune.device.DeviceSpec`. `directory`,
        `written_bytes`, `engine`, `notes` (sentences), `file` (None if none was written), `compared_with`
        and `comparison` (the fields of `rocktune.device.FigureComparison` for each figure; None without
        `compare`). Reports of later studies on this machine name the disk if their device is unlike it.

    Raises:
        UserError: an argument is invalid; the directory is missing, unsafe, in use, in memory or without
            direct I/O; there is too little free space; or this machine lacks the worker.
    """
    prepared = prepare_device_measurement(directory, out=out, size=size, seconds=seconds, compare=compare)
    return prepared.run(observer)


def _notes(device: DeviceSpec) -> list[str]:
    """Returns sentences on what the device file cannot express."""
    sequential_bytes_s = device.iops * _OPERATION_BYTES
    if sequential_bytes_s >= device.bandwidth_bytes_s:
        return []
    return [
        f"A device emulated from these figures moves at most {format_bytes(sequential_bytes_s)}/s, because "
        f"each {format_bytes(_OPERATION_BYTES)} count as one of its {device.iops:,} operations a second."
    ]


def _remember(request: MeasureRequest, measured: MeasuredDevice) -> None:
    """Keeps the measurement for the reports of later studies, where the user's data directory allows it."""
    disk = MeasuredDisk(
        machine=platform.node(),
        directory=str(request.directory),
        date=datetime.now(UTC).date().isoformat(),
        device=measured.device,
    )
    with suppress(OSError):
        remember(disk)


def _write(path: Path, request: MeasureRequest, measured: MeasuredDevice) -> None:
    """Writes a device file.

    Raises:
        UserError: it cannot be written; the message has the figures, so that they are not lost.
    """
    figures = device_file_text(measured.device)
    # ascii(), because the name of a directory may hold line ends, which would end the comment.
    where = ascii(str(request.directory))
    day = datetime.now(UTC).date().isoformat()
    head = (
        f"# Measured by `rocktune device measure` in {where} on {day}\n"
        f"# with {measured.engine}: {format_bytes(measured.written_bytes)} written.\n"
    )
    try:
        # "x": a file that was made during the measurement is not overwritten either.
        with path.open("x", encoding="utf-8") as file:
            file.write(head + figures)
    except OSError as failure:
        said = ", ".join(figures.splitlines())
        raise UserError(f"out: {path} cannot be written: {failure.strerror}; measured: {said}") from None
