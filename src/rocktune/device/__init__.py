"""Devices as plain, validated data: what a store's I/O may use."""

from rocktune.device.catalogue import device_names, load_device
from rocktune.device.spec import DeviceSpec

__all__ = ["DeviceSpec", "device_names", "load_device"]
