"""Keeps what `rocktune device measure` found on this machine, and compares it with other devices."""

import platform
import tempfile
from collections.abc import Iterable
from pathlib import Path

import platformdirs
from pydantic import TypeAdapter, ValidationError

from rocktune.device.spec import DeviceSpec
from rocktune.spec_file import Spec

MEASURED_FIGURES = (
    "bandwidth_bytes_s",
    "iops",
    "read_latency_us",
    "write_latency_us",
    "sync_latency_us",
)
"""The fields of `DeviceSpec` that are measured."""
DIFFERENCE = 1.25
"""Figures differ if one is more than so many times the other."""


class FigureComparison(Spec):
    """A figure of a measured disk beside that of a device.

    Attributes:
        figure: a field of `DeviceSpec`.
        measured: its value for the disk.
        device: its value for the device.
        ratio: `measured` over `device`; None where the device has 0, so limits or adds nothing.
        differs: whether the two differ by more than `DIFFERENCE`; False without a ratio.
    """

    figure: str
    measured: int
    device: int
    ratio: float | None
    differs: bool


class MeasuredDisk(Spec):
    """The result of a measurement of a disk.

    Attributes:
        machine: host name of the machine.
        directory: the directory on the disk that was measured.
        date: day of the measurement, such as "2026-11-26".
        device: what the disk gave.
    """

    machine: str
    directory: str
    date: str
    device: DeviceSpec


_Disks = TypeAdapter(tuple[MeasuredDisk, ...])


def compare_devices(measured: DeviceSpec, device: DeviceSpec) -> tuple[FigureComparison, ...]:
    """Compares a measured device with another one, figure by figure."""
    rows = []
    for figure in MEASURED_FIGURES:
        found, given = getattr(measured, figure), getattr(device, figure)
        ratio = found / given if given else None
        differs = ratio is not None and not 1 / DIFFERENCE <= ratio <= DIFFERENCE
        rows.append(
            FigureComparison(figure=figure, measured=found, device=given, ratio=ratio, differs=differs)
        )
    return tuple(rows)


def measured_disks() -> tuple[MeasuredDisk, ...]:
    """Returns the newest measurement of each directory of this machine, the newest first."""
    return tuple(disk for disk in _recorded() if disk.machine == platform.node())


def _recorded() -> tuple[MeasuredDisk, ...]:
    """Returns the measurements of all machines that share the user's home directory.

    A file that cannot be read counts as empty: the measurements are hints, and no study fails for them.
    """
    try:
        return _Disks.validate_json(_path().read_bytes())
    except (OSError, ValidationError):
        return ()


def remember(disk: MeasuredDisk) -> None:
    """Keeps a measurement, in place of an earlier one of the same directory.

    Raises:
        OSError: the file cannot be written.
    """
    others = (
        each for each in _recorded() if (each.machine, each.directory) != (disk.machine, disk.directory)
    )
    path = _path()
    path.parent.mkdir(parents=True, exist_ok=True)
    # Replaced at once, so that a reader never sees half of it.
    with tempfile.NamedTemporaryFile(dir=path.parent, prefix=path.name, delete=False) as file:
        file.write(_Disks.dump_json((disk, *others), indent=1))
    Path(file.name).replace(path)


def unlike(device: DeviceSpec, disks: Iterable[MeasuredDisk]) -> tuple[MeasuredDisk, ...]:
    """Returns the disks that differ from a device; none if one of them is like it.

    Args:
        device: a study's device.
        disks: see `measured_disks`.
    """
    found = tuple(disks)
    differing = tuple(
        disk for disk in found if any(row.differs for row in compare_devices(disk.device, device))
    )
    return differing if len(differing) == len(found) else ()


def _path() -> Path:
    """Returns the file of measurements, which lies beside the default ledger."""
    return platformdirs.user_data_path("rocktune") / "measured-disks.json"
