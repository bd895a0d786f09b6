"""The tables of figures 4.4, 4.6 and 4.8: data held, bytes written, compaction time and levels of a run.

As in the thesis, bytes written are those of flushes and compactions, without the log; its "compaction rate"
includes flushes. Everything is at full size; a GB is 10^9 bytes, where the thesis counts 2^30.
"""

from collections.abc import Mapping
from typing import Any

from benchmarks.common.published import published_figures
from rocktune.measurement import Measurement
from rocktune.online import GovernedRun, figures_of

UNITS = {
    "db_gb": "GB",
    "written_gb": "GB",
    "write_amplification": "ratio",
    "compaction_mb_s": "MB/s",
    "compaction_s": "s",
    "read_mb_s": "MB/s",
    "level0_gb": "GB",
    "level1_gb": "GB",
    "level2_gb": "GB",
    "level3_gb": "GB",
}
"""Figures of a table with their units."""
_GB, _MB = 1e9, 1e6
_LEVELS = 4
_JOB_HISTOGRAMS = ("rocksdb.db.flush.micros", "rocksdb.compaction.times.micros")
_PUBLISHED_WAYS = {"enabled": "enabled", "disabled": "disabled", "toggle": "tuned", "drains": "tuned"}


def published_values() -> dict[str, float]:
    """Returns the values that the thesis' text states, by name; those of its figures alone are lost."""
    return {name: value for figure in published_figures() for name, value in figure.values.items()}


def published_name(way: str, figure: str) -> str | None:
    """Returns the name of a figure of a way among `published_values`; None if the thesis lacks the way."""
    return f"{_PUBLISHED_WAYS[way]}_{figure}" if way in _PUBLISHED_WAYS else None


def table_of(run: GovernedRun) -> dict[str, float]:
    """Returns the figures of `UNITS` at the end of a run's load; `read_mb_s` is of values that were found."""
    last = series_of(run)[-1]
    found = figures_of(run)
    value_bytes = run.load.workload.value.max_size
    return {name: last[name] for name in UNITS if name in last} | {
        "compaction_mb_s": found["compaction_mb_s"],
        "read_mb_s": found["random_read_ops_s_after"] * found["read_hit_ratio"] * value_bytes / _MB,
    }


def series_of(run: GovernedRun) -> list[dict[str, float]]:
    """Returns the figures of a table as they were at the end of each window of the load."""
    scale = run.load.scale
    user_bytes = written_bytes = 0.0
    rows = []
    for window in run.windows:
        user_bytes += window.raw["user_bytes_written"] * scale
        written_bytes += _written_bytes(window) * scale
        sizes = [*window.raw["level_bytes"], *[0] * _LEVELS][:_LEVELS]
        rows.append(
            {
                "time_s": window.until_s * scale,
                "db_gb": window.raw["db_bytes"] * scale / _GB,
                "written_gb": written_bytes / _GB,
                "write_amplification": written_bytes / user_bytes if user_bytes else 0.0,
                "compaction_s": _job_seconds(window.raw) * scale,
                "level0_files": window.raw["level_files"][0],
            }
            | {f"level{level}_gb": size * scale / _GB for level, size in enumerate(sizes)}
        )
    return rows


def _written_bytes(window: Measurement) -> float:
    return float(sum(window.raw["device_bytes"][cause] for cause in ("flush", "compaction_write")))


def _job_seconds(raw: Mapping[str, Any]) -> float:
    """Returns the seconds of all flushes and compactions that have ended, as RocksDB's Comp(sec) does."""
    histograms = raw.get("histograms", {})
    return sum(float(histograms.get(name, {}).get("sum", 0.0)) for name in _JOB_HISTOGRAMS) / 1e6
