"""The runs of the sample study, made of formulas; the same on every machine."""

from datetime import UTC, datetime, timedelta
from typing import Any

import numpy as np

from rocktune.ledger import TrialRecord
from rocktune.trial import Configuration, Measurement, Status, Trial

CAUSES = ("wal", "flush", "compaction_read", "compaction_write", "user_read", "other")

BASELINE = Configuration(
    {
        "write_buffer_size": 64 << 20,
        "max_write_buffer_number": 2,
        "min_write_buffer_number_to_merge": 1,
        "level0_file_num_compaction_trigger": 4,
        "max_bytes_for_level_base": 256 << 20,
        "max_bytes_for_level_multiplier": 10,
        "target_file_size_base": 64 << 20,
        "block_size": 4096,
        "filter_policy": "bloomfilter:10:false",
        "compression": "kNoCompression",
    }
)
BEST = BASELINE.replaced(
    {
        "write_buffer_size": 128 << 20,
        "min_write_buffer_number_to_merge": 2,
        "level0_file_num_compaction_trigger": 8,
        "max_bytes_for_level_base": 1024 << 20,
    }
)
DEFAULTS = Configuration({})


def measurement(until_s: float, throughput_ops_s: float, amplification: float, seed: int) -> Measurement:
    """A window from 0 whose throughput falls with age, as a growing store's does."""
    rng = np.random.default_rng(seed)
    interval_s = 0.05
    steps = max(1, round(until_s / interval_s))
    ages = (np.arange(steps) + 0.5) * interval_s
    shape = 1.25 - 0.25 * np.minimum(ages / 1.2, 1) + rng.normal(0, 0.05, steps)
    shape[(np.arange(steps) + seed) % 13 == 12] *= 0.7
    operations = np.round(shape / shape.mean() * throughput_ops_s * interval_s)
    total = float(operations.sum())
    writes, entry_bytes = 0.7 * total, 1040
    bounds = [float(round(1000 * 1.03**step)) for step in range(420)]
    written = writes * entry_bytes
    shares = {
        "wal": 1.0,
        "flush": 1.0,
        "compaction_write": amplification - 2.0,
        "compaction_read": amplification - 1.6,
    }
    device_bytes = {cause: round(shares.get(cause, 0.01) * written) for cause in CAUSES} | {
        "user_read": round(0.3 * total * 2300)
    }
    return Measurement(
        {
            "event": "measurement",
            "from_s": 0.0,
            "until_s": until_s,
            "operations": {
                "get": _operations(0.3 * total, bounds, 7e7 / throughput_ops_s * 16, 1.1),
                "put": _operations(writes, bounds, 4e7 / throughput_ops_s * 16, 0.8),
            },
            "user_bytes_read": round(0.3 * total * entry_bytes),
            "user_bytes_written": round(written),
            "series": {
                "interval_s": interval_s,
                "operations": [int(count) for count in operations],
                "device_bytes_read": [1_800_000] * steps,
                "device_bytes_written": [3_200_000] * steps,
                "stalled_s": [0.0] * steps,
            },
            "stalled_s": 0.04 * until_s,
            "write_stopped_s": 0.0,
            "max_write_stop_s": 0.0,
            "device_bytes": device_bytes,
            "device_operations": {cause: round(0.01 * count) for cause, count in device_bytes.items()}
            | {"user_read": round(0.2 * total)},
            "level_bytes": [1 << 20, 4 << 20, 40 << 20],
            "level_files": [2, 4, 20],
            "db_bytes": 52 << 20,
            "logical_bytes": 44 << 20,
            "live_keys": 44_000,
            "memory_bytes": {
                "memtables": 4 << 20,
                "block_cache": 9 << 20,
                "table_readers": 1 << 18,
                "block_cache_pinned": 0,
                "resident": 96 << 20,
            },
            "cpu_s": 1.3 * until_s,
            "tickers": {"rocksdb.block.cache.hit": 12345},
            "histograms": {},
        }
    )


def _operations(count: float, bounds: list[float], median_ns: float, spread: float) -> dict[str, Any]:
    """A log-normal latency histogram."""
    edges = np.log(np.array(bounds) / median_ns) / spread
    weights = np.exp(-(edges**2) / 2)
    counts = np.round(weights / weights.sum() * count).astype(int)
    filled = [[bound, int(number)] for bound, number in zip(bounds, counts, strict=True) if number]
    total = sum(number for _, number in filled)
    return {"count": total, "found": total, "latency_ns": filled, "latency_sum_ns": median_ns * total}


def trials() -> list[TrialRecord]:
    """A search with halving, one crash, a pick among three finalists and a proof in six rounds."""
    return _baseline() + _search() + _pick() + _proof()


def _baseline() -> list[TrialRecord]:
    ages = ((0.94, 50_000), (1.25, 49_500), (1.56, 49_000), (1.88, 48_300))
    return [
        _record("baseline", batch, 0, BASELINE, age_s, speed, batch, 0.47)
        for batch, (age_s, speed) in enumerate(ages)
    ]


def _search() -> list[TrialRecord]:
    rng = np.random.default_rng(3)
    speeds = 1000 * np.concatenate([rng.uniform(28, 62, 16), rng.uniform(45, 76, 15)]).round(1)
    found = [BASELINE.replaced({"write_buffer_size": (32 + step) << 20}) for step in range(30)] + [BEST]
    records = []
    for index, (configuration, speed) in enumerate(zip(found, speeds, strict=True)):
        records.append(
            _record("search", 0 if index < 16 else 1, index % 16, configuration, 0.94, speed, index, 0.94)
        )
    records[5] = _record("search", 0, 5, found[5], 0.94, None, 5, 0.4)
    best = sorted(range(31), key=lambda index: -speeds[index])
    for batch, (count, age_s) in enumerate(((15, 1.25), (7, 1.56)), 2):
        for place, index in enumerate(best[:count]):
            speed = speeds[index] * (0.97 if batch == 2 else 0.95)
            records.append(_record("search", batch, place, found[index], age_s, speed, index, 0.31))
    return records


def _pick() -> list[TrialRecord]:
    finalists = [
        BEST,
        BASELINE.replaced({"write_buffer_size": 96 << 20}),
        BASELINE.replaced({"block_size": 8192}),
    ]
    return [
        _record(
            "pick",
            4 + replicate,
            place,
            finalist,
            1.9,
            speed,
            40 + 3 * replicate + place,
            1.9,
            replicate + 1,
        )
        for replicate in range(2)
        for place, (finalist, speed) in enumerate(zip(finalists, (75_000, 69_000, 66_500), strict=True))
    ]


def _proof() -> list[TrialRecord]:
    sides = ((BEST, 75_900, 4.2), (BASELINE, 48_300, 5.9), (DEFAULTS, 31_900, 7.4))
    return [
        _record(
            "prove",
            6 + pair,
            place,
            side,
            1.9,
            speed,
            60 + 3 * pair + place,
            1.9,
            101 + pair,
            amplification,
        )
        for pair in range(6)
        for place, (side, speed, amplification) in enumerate(sides)
    ]


def _record(
    phase: str,
    batch: int,
    index: int,
    configuration: Configuration,
    until_s: float,
    speed: float | None,
    seed: int,
    measured_s: float,
    replicate: int = 0,
    amplification: float = 5.0,
) -> TrialRecord:
    return TrialRecord(
        phase=phase,
        batch=batch,
        index=index,
        trial=Trial(configuration, until_s, replicate),
        status=Status.CRASHED if speed is None else Status.OK,
        message="signal 6: Assertion `files.size() > 0' failed <db/version_set.cc>" if speed is None else "",
        measured_s=measured_s,
        repeated_s=0.0,
        options={},
        measurement=None if speed is None else measurement(until_s, speed, amplification, seed),
        window=None,
        recorded_at=datetime(2026, 3, 4, 9, 31, tzinfo=UTC) + timedelta(seconds=10 * batch + index),
    )
