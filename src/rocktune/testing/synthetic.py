"""Synthetic measurements in the worker's form, for tests without a store."""

from rocktune.device import DeviceSpec
from rocktune.space import load_space
from rocktune.trial import Experiment, Measurement
from rocktune.workload import load_workload


def synthetic_experiment() -> Experiment:
    """Returns the conditions of a run, for engines that make their figures up."""
    space = load_space("dremel", None, 10_000_000.0)
    return Experiment(load_workload("ycsb-a"), DeviceSpec(name="none"), 64, space)


def synthetic_window(
    from_s: float,
    until_s: float,
    throughput_ops_s: float = 1000.0,
    read_latency_us: float = 100.0,
    others_share: float = 0.0,
    max_space_amplification: float = 1.1,
    full_size_memory_bytes: float = 9 << 20,
) -> Measurement:
    """Returns a window with all fields of docs/design/measurement.md, without compaction debt.

    Half of the operations are reads, all with the given latency, and half are writes of 1,040 bytes. The
    series has ten intervals with equal counts, up to rounding.

    Args:
        from_s: age at which the window begins, seconds.
        until_s: age at which it ends, above `from_s`.
        throughput_ops_s: operations per second, rounded to whole operations in the window.
        read_latency_us: latency of each read, microseconds; a write takes a tenth of it.
        others_share: share of the processors that other programs used, 0 to 1.
        max_space_amplification: the store's bytes per live byte in the fifth interval; 1.1 in the others and
            at the end.
        full_size_memory_bytes: memory that the store takes at full size.
    """
    seconds = until_s - from_s
    operations = round(throughput_ops_s * seconds)
    gets, puts = operations - operations // 2, operations // 2
    written = puts * 1040
    device = {"wal": written, "flush": written, "compaction_read": written, "compaction_write": 2 * written}
    device |= {"user_read": gets * 4096, "other": 0}
    return Measurement(
        {
            "event": "measurement",
            "from_s": from_s,
            "until_s": until_s,
            "operations": {
                "get": {"count": gets, "found": gets, **_latency(gets, read_latency_us)},
                "put": {"count": puts, "found": 0, **_latency(puts, read_latency_us / 10)},
            },
            "user_bytes_read": gets * 1040,
            "user_bytes_written": written,
            "series": {
                "interval_s": seconds / 10,
                "operations": [operations * (step + 1) // 10 - operations * step // 10 for step in range(10)],
                "device_bytes_read": [0] * 10,
                "device_bytes_written": [0] * 10,
                "stalled_s": [0.0] * 10,
                "stored_bytes": [
                    round((max_space_amplification if step == 4 else 1.1) * 10_000) for step in range(10)
                ],
                "live_bytes": [10_000] * 10,
                "memtables_bytes": [1 << 20] * 10,
            },
            "stalled_s": seconds / 7,
            "write_stopped_s": seconds / 70,
            "max_write_stop_s": seconds / 700,
            "device_bytes": device,
            "device_operations": {name: count // 4096 for name, count in device.items()},
            "level_bytes": [written, 10 * written],
            "level_files": [1, 10],
            "db_bytes": 11 * written,
            "logical_bytes": 10 * written,
            "full_size_memory_bytes": full_size_memory_bytes,
            "live_keys": puts,
            "memory_bytes": {
                "memtables": 1 << 20,
                "block_cache": 1 << 23,
                "table_readers": 0,
                "block_cache_pinned": 0,
                "resident": 1 << 25,
            },
            "cpu_s": seconds / 3,
            "debt": {"owed_bytes": 0.0, "moved_bytes": 0.0, "busy_s": 0.0, "debt_s": 0.0},
            "others": {"cpu_s": others_share * seconds, "available_s": seconds},
            "tickers": {"rocksdb.block.cache.hit": gets},
            "histograms": {"rocksdb.db.get.micros": {"count": gets, "p99": read_latency_us}},
        }
    )


def _latency(count: int, latency_us: float) -> dict[str, object]:
    """Returns latencies in the worker's form, all equal."""
    latency_ns = round(latency_us * 1000)
    return {"latency_ns": [[latency_ns, count]] if count else [], "latency_sum_ns": latency_ns * count}
