"""Converts the output of a db_bench run into a window in the worker's form."""

from typing import Any

from rocktune.engine.db_bench.flags import BenchmarkPlan
from rocktune.engine.db_bench.output import BenchmarkOutput, latency_figures, operations_of
from rocktune.engine.processes.process_group import Finished
from rocktune.measurement import READ_KINDS, Measurement
from rocktune.workload import WorkloadSpec

_WRITTEN_KINDS = ("put", "read_modify_write")
_DEVICE_BYTES = {
    "wal": "rocksdb.wal.bytes",
    "flush": "rocksdb.flush.write.bytes",
    "compaction_read": "rocksdb.compact.read.bytes",
    "compaction_write": "rocksdb.compact.write.bytes",
}
_HITS = ("rocksdb.memtable.hit", "rocksdb.l0.hit", "rocksdb.l1.hit", "rocksdb.l2andup.hit")


def window_of(
    until_s: float,
    workload: WorkloadSpec,
    plan: BenchmarkPlan,
    output: BenchmarkOutput,
    finished: Finished,
    interval_operations: list[int],
    db_bytes: int,
) -> Measurement:
    """Returns the measurement of the window from age 0.

    It lacks the figures that neither db_bench nor the system reports.

    Args:
        until_s: the age that was asked for. db_bench ran at least as long; rates use its own seconds.
        workload: the workload at the size of the run.
        plan: the benchmark that was run.
        output: the benchmark's parsed result.
        finished: the end of the program, with its CPU time and memory.
        interval_operations: number of operations in each whole second.
        db_bytes: bytes of the store at the end.
    """
    operations = operations_of(output, plan.kinds)
    raw: dict[str, Any] = {
        "from_s": 0.0,
        "until_s": until_s,
        "elapsed_s": output.seconds,
        "operations": operations,
        "series": {"interval_s": 1.0, "operations": interval_operations},
        "db_bytes": db_bytes,
        "memory_bytes": {"resident": finished.peak_resident_bytes},
        "cpu_s": finished.cpu_s,
    }
    written = sum(operations[kind]["count"] for kind in _WRITTEN_KINDS if kind in operations)
    raw["user_bytes_written"] = round(written * workload.entry_bytes)
    raw |= _known_content(workload, written)
    figures = {"throughput_ops_s": output.operations / output.seconds} | latency_figures(output, plan.kinds)
    if output.tickers:
        raw |= _from_tickers(output, operations)
        figures["stalled_share"] = raw["stalled_s"] / output.seconds
    return Measurement(raw | {"figures": figures})


def _known_content(workload: WorkloadSpec, written: int) -> dict[str, float]:
    """Returns the live keys and their bytes if they are certain, else nothing.

    They are certain if nothing was written, or if every key existed before, so that writes only overwrite.
    """
    if written and workload.preload.keys < workload.keys:
        return {}
    keys = workload.preload.keys
    return {"live_keys": keys, "logical_bytes": round(keys * workload.entry_bytes)}


def _from_tickers(output: BenchmarkOutput, operations: dict[str, Any]) -> dict[str, Any]:
    """Returns the fields that come from RocksDB's tickers; adds found keys to `operations`."""
    ticked = output.tickers
    # db_bench counts found keys only for some benchmarks; RocksDB's hit counters know them for all.
    for kind in READ_KINDS:
        if kind in operations:
            hits = sum(ticked.get(name, 0) for name in _HITS)
            operations[kind]["found"] = min(hits, operations[kind]["count"])
    return {
        "user_bytes_read": ticked.get("rocksdb.bytes.read", 0) + ticked.get("rocksdb.db.iter.bytes.read", 0),
        "device_bytes": {cause: ticked.get(name, 0) for cause, name in _DEVICE_BYTES.items()},
        "stalled_s": ticked.get("rocksdb.stall.micros", 0) / 1e6,
        "tickers": dict(ticked),
        "histograms": {name: dict(figures) for name, figures in output.histograms.items()},
    }
