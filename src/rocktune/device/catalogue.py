"""Device presets, and devices from TOML files.

Dremel limits only bandwidth, and so do the two presets of its limits. The figures of presets without a source
are our choice: typical of their class, a little below data sheets.
"""

from pathlib import Path

import tomli_w

from rocktune.device.spec import DeviceSpec
from rocktune.errors import unknown_name
from rocktune.spec_file import is_file_name, read_toml, validated
from rocktune.units import MIB

_PRESETS: dict[str, tuple[str, DeviceSpec]] = {
    device.name: (summary, device)
    for summary, device in (
        ("no limit: the machine's own storage, nothing added", DeviceSpec(name="none")),
        (
            "a drive whose only limit is 100 MB/s, as in Dremel's evaluation",
            # MB means MiB in all sizes of rocktune, as in RocksDB.
            DeviceSpec(name="ssd-100mb", bandwidth_bytes_s=100 * MIB),
        ),
        (
            "a drive whose only limit is 200 MB/s, as in Dremel's evaluation",
            DeviceSpec(name="ssd-200mb", bandwidth_bytes_s=200 * MIB),
        ),
        (
            "a SATA solid-state drive: 500 MB/s, 80,000 operations a second, 100 us",
            DeviceSpec(
                name="sata",
                bandwidth_bytes_s=500 * MIB,
                iops=80_000,
                read_latency_us=100,
                write_latency_us=50,
                sync_latency_us=1000,
            ),
        ),
        (
            "a data-centre NVMe drive: 3 GB/s, 500,000 operations a second, 80 us",
            DeviceSpec(
                name="nvme",
                bandwidth_bytes_s=3000 * MIB,
                iops=500_000,
                read_latency_us=80,
                write_latency_us=20,
                sync_latency_us=30,
            ),
        ),
        (
            "Intel's 750 (PCIe), of Jia and Chen's table I: 1.16 GB/s, 280,000 operations a second, 20 us",
            DeviceSpec(
                name="intel-750",
                bandwidth_bytes_s=1160 * 10**6,  # data sheets count in powers of 1000
                iops=280_000,
                read_latency_us=20,
                write_latency_us=20,
                sync_latency_us=20,
            ),
        ),
        (
            "Intel's 530 (SATA), of Jia and Chen's table I: 510 MB/s, 54,000 operations a second, 80 us",
            DeviceSpec(
                name="intel-530",
                bandwidth_bytes_s=510 * 10**6,
                iops=54_000,
                read_latency_us=80,
                write_latency_us=85,
                sync_latency_us=500,
            ),
        ),
        (
            "Lite-On's LCS-256 (SATA), of Warlo's thesis: 430 MB/s, 70,000 operations a second",
            DeviceSpec(name="lite-on-256", bandwidth_bytes_s=430 * 10**6, iops=70_000),
        ),
        (
            "a hard disk with 7,200 rpm: 160 MB/s, 150 operations a second, 8 ms",
            DeviceSpec(
                name="hdd",
                bandwidth_bytes_s=160 * MIB,
                iops=150,
                read_latency_us=8000,
                sync_latency_us=8000,
            ),
        ),
        (
            "a general-purpose cloud volume: 125 MB/s, 3,000 operations a second, 500 us",
            DeviceSpec(
                name="cloud-gp3",
                bandwidth_bytes_s=125 * MIB,
                iops=3000,
                read_latency_us=500,
                write_latency_us=800,
                sync_latency_us=1000,
            ),
        ),
    )
}


def device_names() -> dict[str, str]:
    """Returns the presets' names, each with a description in one line."""
    return {name: summary for name, (summary, _) in _PRESETS.items()}


def load_device(name_or_path: str) -> DeviceSpec:
    """Returns a preset by its name, or the device that a TOML file describes.

    A file has the fields of DeviceSpec. The default of `name` is the file's name without its extension.

    Raises:
        UserError: there is no such preset, or the file is missing or invalid.
    """
    if name_or_path in _PRESETS:
        return _PRESETS[name_or_path][1]
    if not is_file_name(name_or_path):
        raise unknown_name("device", name_or_path, _PRESETS)
    path = Path(name_or_path)
    return validated(DeviceSpec, {"name": path.stem} | read_toml(path), name_or_path)


def device_file_text(device: DeviceSpec) -> str:
    """Returns the text of a TOML file that `load_device` reads as this device, named after the file."""
    return tomli_w.dumps(device.model_dump(exclude={"name"}, exclude_defaults=True))
