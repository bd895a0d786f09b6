"""Device specs. The worker reads their JSON form (`cpp/include/rocktune/device_spec.h`)."""

from pydantic import Field

from rocktune.spec_file import Count, Spec


class DeviceSpec(Spec):
    """A device that the throttled file system emulates. 0 means no limit, or no added latency.

    Attributes:
        name: name of the device for users.
        bandwidth_bytes_s: maximum bytes per second of reads and writes together.
        iops: maximum device operations per second, reads and writes together.
        read_latency_us: microseconds added to each read.
        write_latency_us: microseconds added to each device write, one per 256 KiB appended or sync.
        sync_latency_us: microseconds added to each sync.
        capacity_bytes: maximum bytes of all files; writes beyond it fail as on a full disk.
    """

    name: str = Field(strict=True, min_length=1)
    bandwidth_bytes_s: Count = 0
    iops: Count = 0
    read_latency_us: Count = 0
    write_latency_us: Count = 0
    sync_latency_us: Count = 0
    capacity_bytes: Count = 0
