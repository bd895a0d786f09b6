"""Devices as validated data: limits and latencies of a store's I/O."""

from rocktune.device.catalogue import device_file_text, device_names, load_device
from rocktune.device.spec import DeviceSpec

__all__ = ["DeviceSpec", "device_file_text", "device_names", "load_device"]
