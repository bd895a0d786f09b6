"""Sentences on disks of this machine that are unlike a study's device."""

import shlex
from collections.abc import Iterable

from rocktune.device import DeviceSpec, FigureComparison, MeasuredDisk, compare_devices
from rocktune.units import format_bytes

FIGURE_LABELS = {
    "bandwidth_bytes_s": "bandwidth",
    "iops": "operations per second",
    "read_latency_us": "read latency",
    "write_latency_us": "write latency",
    "sync_latency_us": "sync latency",
}
"""The measured figures in words."""


def format_device_figure(figure: str, value: int) -> str:
    """Returns a figure of a device with its unit."""
    if figure == "bandwidth_bytes_s":
        return f"{format_bytes(value)}/s"
    return f"{value:,}" if figure == "iops" else f"{value:,} µs"


def disk_notes(device: DeviceSpec, disks: Iterable[MeasuredDisk]) -> tuple[str, ...]:
    """Returns a sentence for each disk: in what it differs from a study's device, and what to do.

    Args:
        device: the study's device.
        disks: disks that differ from it.
    """
    return tuple(_note(device, disk) for disk in disks)


def _note(device: DeviceSpec, disk: MeasuredDisk) -> str:
    """Returns the sentence for one disk; names in backquotes are code."""
    differing = [row for row in compare_devices(disk.device, device) if row.differs]
    figures = ", ".join(map(_difference, differing))
    # A name with a line end or a backquote would break the sentence.
    is_plain = disk.directory.isprintable() and "`" not in disk.directory
    directory = disk.directory if is_plain else "DIR"
    return (
        f"Device {device.name} is unlike the disk under {directory}, measured on {disk.date}: {figures}. "
        f"If the store will lie there, run `rocktune device measure {shlex.quote(directory)} "
        "--out my-disk.toml` and tune with `--device my-disk.toml`."
    )


def _difference(row: FigureComparison) -> str:
    """Returns the figure of the disk beside that of the device."""
    found, given = (format_device_figure(row.figure, value) for value in (row.measured, row.device))
    return f"{FIGURE_LABELS[row.figure]} {found} there, {given} here"
