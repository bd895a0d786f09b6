"""The figures of a governed run in full-size units: counts, bytes and times of the model multiplied by S."""

import math
from collections.abc import Callable
from typing import Any

from rocktune.measurement import WRITE_KINDS, Measurement
from rocktune.online.governed import GovernedRun
from rocktune.units import format_scale

_MB = 1e6
_GOVERNOR_COUNTS = (
    "switched_off", "switched_on", "level0_merges", "level0_merged_tables", "failed_changes",
    "discarded_intervals",
)  # fmt: skip


def figures_of(run: GovernedRun) -> dict[str, Any]:
    """Returns the figures of a governed run and their course over time.

    Everything is at full size, except `governor_settings`, which are the model's. Rates per second are the
    same at every scale. Larger is better for `writes_accepted`, `ingest_mb_s`, `random_read_ops_s_after` and
    `read_hit_ratio`. Smaller is better for `write_latency_us_p999` (from the intended start),
    `max_write_stop_ms`, `stalled_share`, `write_amplification` and `db_bytes`. `compaction_mb_s` counts bytes
    written by flushes and compactions, as RocksDB does.

    `series` holds lists with one value per window. `time_s` is the window's end. `compaction_limit_mb_s` and
    `compactions_off` are the governor's last decision in the window, None without a governor or limit.

    Returns:
        A JSON object with `mode`, `scale`, `workload`, `device`, `engine`, `seconds` and the figures.
    """
    load, whole = run.load, run.whole
    scale = load.scale
    governed = whole.raw.get("governor", {})
    return {
        "mode": load.mode,
        "workload": load.workload.name,
        "device": load.device.name,
        "scale": format_scale(scale),
        "engine": run.engine,
        "seed": load.seed,
        "seconds": load.until_s,
        "writes_accepted": whole.operations(WRITE_KINDS) * scale,
        # Rates are not multiplied by S: the model has 1/S of the bytes in 1/S of the time.
        "ingest_mb_s": whole.raw["user_bytes_written"] / whole.seconds / _MB,
        **_read_figures(run.reads),
        "write_latency_us_p999": whole.figures["write_latency_us_p999"] * scale,
        "max_write_stop_ms": whole.figures["max_write_stop_s"] * 1e3 * scale,
        "stalled_share": whole.figures["stalled_share"],
        "compaction_mb_s": _rate(whole, "flush", "compaction_write"),
        "db_bytes": int(whole.raw["db_bytes"]) * scale,
        "write_amplification": whole.figures["write_amplification"],
        "level_bytes": [size * scale for size in whole.raw["level_bytes"]],
        "level_files": whole.raw["level_files"],
        "governor": {name: governed[name] for name in _GOVERNOR_COUNTS if name in governed},
        "governor_settings": run.options.get("governor", {}),
        "series": _series(run),
    }


def _read_figures(reads: Measurement | None) -> dict[str, float]:
    """Returns the speed and hit ratio of the random reads, NaN if there were none."""
    gets = {} if reads is None else reads.raw["operations"].get("get", {})
    count = gets.get("count", 0)
    return {
        "random_read_ops_s_after": math.nan if reads is None else reads.figures["throughput_ops_s"],
        "read_hit_ratio": gets["found"] / count if count else math.nan,
    }


def _series(run: GovernedRun) -> dict[str, list[Any]]:
    """Returns the figures of each window by name, in full-size units."""
    scale = run.load.scale

    def each(figure: Callable[[Measurement], Any]) -> list[Any]:
        return [figure(window) for window in run.windows]

    def governor(window: Measurement, name: str) -> Any:
        return window.raw.get("governor", {}).get(name)

    def limit_mb_s(window: Measurement) -> float | None:
        bytes_per_s = governor(window, "compaction_bytes_per_s")
        # The governor reports no limit as 0.
        return bytes_per_s / _MB if bytes_per_s else None

    return {
        "time_s": each(lambda window: window.until_s * scale),
        "writes_mb_s": each(lambda window: window.raw["user_bytes_written"] / window.seconds / _MB),
        "wal_mb_s": each(lambda window: _rate(window, "wal")),
        "flush_mb_s": each(lambda window: _rate(window, "flush")),
        "compaction_write_mb_s": each(lambda window: _rate(window, "compaction_write")),
        "compaction_read_mb_s": each(lambda window: _rate(window, "compaction_read")),
        "write_latency_us_p999": each(lambda window: window.figures["write_latency_us_p999"] * scale),
        "stalled_share": each(lambda window: window.figures["stalled_share"]),
        "level0_files": each(lambda window: window.raw["level_files"][0]),
        "db_bytes": each(lambda window: window.raw["db_bytes"] * scale),
        "debt_share": each(lambda window: governor(window, "debt_share")),
        "compactions_off": each(lambda window: governor(window, "compactions_off")),
        "compaction_limit_mb_s": each(limit_mb_s),
    }


def _rate(window: Measurement, *causes: str) -> float:
    """Returns the device traffic of some causes in MB/s."""
    return float(sum(window.raw["device_bytes"][cause] for cause in causes) / window.seconds / _MB)
