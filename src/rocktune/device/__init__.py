"""Devices as validated data: limits and latencies of a store's I/O."""

from rocktune.device.catalogue import device_file_text, device_names, load_device
from rocktune.device.measured import (
    MEASURED_FIGURES,
    FigureComparison,
    MeasuredDisk,
    compare_devices,
    measured_disks,
    remember,
    unlike,
)
from rocktune.device.spec import DeviceSpec

__all__ = [
    "MEASURED_FIGURES",
    "DeviceSpec",
    "FigureComparison",
    "MeasuredDisk",
    "compare_devices",
    "device_file_text",
    "device_names",
    "load_device",
    "measured_disks",
    "remember",
    "unlike",
]
