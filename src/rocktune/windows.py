"""Combines the raw figures of consecutive windows of a run."""

from typing import Any

# Raw figures that are not sums over the window. States are taken from the later window; histograms are among
# them because RocksDB accumulates these since the store was opened.
_STATES = frozenset(
    {
        "level_bytes",
        "level_files",
        "db_bytes",
        "logical_bytes",
        "full_size_memory_bytes",
        "live_keys",
        "memory_bytes",
        "histograms",
        "memtable_bytes",
        "pending_compaction_bytes",
        "governor",
        "flsm",
        "engine",
        "until_s",
    }
)
_MAXIMA = frozenset({"max_write_stop_s"})
# Taken from the earlier window.
_KEPT = frozenset({"from_s", "interval_s", "event", "ageing"})


def merged_windows(first: dict[str, Any], second: dict[str, Any]) -> dict[str, Any]:
    """Returns the raw figures of two consecutive windows combined; a field's name decides how."""
    result = dict(first)
    for name, later in second.items():
        earlier: Any = first.get(name)
        # A counter that the earlier window lacks was 0 there, as tickers that were not counted yet.
        if name in _STATES or (earlier is None and name not in _KEPT):
            result[name] = later
        elif name in _KEPT:
            continue
        elif name in _MAXIMA:
            result[name] = max(earlier, later)
        elif name == "latency_ns":
            counts = dict(earlier)
            for bound, count in later:
                counts[bound] = counts.get(bound, 0) + count
            result[name] = [[bound, counts[bound]] for bound in sorted(counts)]
        # Series are lists, so `+` below appends the later window's intervals.
        elif isinstance(later, dict):
            result[name] = merged_windows(earlier, later)
        else:
            result[name] = earlier + later
    return result
