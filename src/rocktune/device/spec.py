"""What a store's I/O may use. The JSON form is the worker's (`cpp/include/rocktune/device_spec.h`)."""

from pydantic import Field

from rocktune.spec_file import Count, Spec


class DeviceSpec(Spec):
    """A device as the throttled file system presents it; 0 stands for no limit and no added latency.

    Attributes:
        name: what people call it.
        bandwidth_bytes_s: bytes a second, reads and writes together.
        iops: device operations a second, reads and writes together.
        read_latency_us: microseconds added to each read.
        write_latency_us: microseconds added to each device write (per 256 KiB appended, or a sync).
        sync_latency_us: microseconds added to each sync.
        capacity_bytes: beyond it writes fail as on a full disk.
    """

    name: str = Field(strict=True, min_length=1)
    bandwidth_bytes_s: Count = 0
    iops: Count = 0
    read_latency_us: Count = 0
    write_latency_us: Count = 0
    sync_latency_us: Count = 0
    capacity_bytes: Count = 0
