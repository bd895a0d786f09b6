"""A realistic finished study, made of formulas instead of measurements; the same on every machine."""

from datetime import UTC, datetime
from typing import Any

import numpy as np
from tests.report.sample_trials import BASELINE as BASELINE
from tests.report.sample_trials import BEST as BEST
from tests.report.sample_trials import DEFAULTS
from tests.report.sample_trials import measurement as measurement
from tests.report.sample_trials import trials as trials

from rocktune.ledger import StudyRecord
from rocktune.outcome import Outcome
from rocktune.trial import Configuration

SCALE = 64


def interval(value: float, low: float, high: float) -> dict[str, float]:
    """An interval of six values."""
    return {"value": value, "low": low, "high": high, "repeats": 6}


def _interval(value: float, width: float) -> dict[str, float]:
    return interval(value, value * (1 - width), value * (1 + width))


def _side(
    configuration: Configuration, throughput: float, latency: float, amplification: float
) -> dict[str, Any]:
    options = {
        "db": {"max_background_jobs": "4"},
        "cf": {
            name: str(value)
            for name, value in configuration.items()
            if name not in ("block_size", "filter_policy")
        },
        "table": {
            "block_size": str(configuration.get("block_size", 4096)),
            "block_cache": "645922816" if configuration else "8388608",
            "filter_policy": str(configuration.get("filter_policy", "nullptr")),
        },
    }
    return {
        "configuration": dict(configuration),
        "options": options,
        "throughput_ops_s": _interval(throughput, 0.012),
        "read_latency_us_p99": _interval(latency, 0.04),
        "write_amplification": _interval(amplification, 0.02),
    }


def outcome(name: str = "orders-write-heavy", **changes: Any) -> Outcome:
    """A study that proved a gain, with some fields of its document changed."""
    return Outcome.from_json(document(name) | changes)


def document(name: str = "orders-write-heavy") -> dict[str, Any]:
    """The outcome of a study that proved a gain, as JSON."""
    changes = [
        ("max_bytes_for_level_base", 256 << 20, 1024 << 20, (1.24, 1.20, 1.28), True),
        ("write_buffer_size", 64 << 20, 128 << 20, (1.13, 1.09, 1.17), True),
        ("level0_file_num_compaction_trigger", 4, 8, (1.06, 1.02, 1.10), True),
        ("min_write_buffer_number_to_merge", 1, 2, (1.01, 0.98, 1.04), False),
    ]
    effects = {
        "max_bytes_for_level_base": "A larger first level means fewer levels and less rewriting of old data.",
        "write_buffer_size": "Larger memtables absorb more writes before a flush.",
        "level0_file_num_compaction_trigger": "A higher trigger merges more files at once.",
        "min_write_buffer_number_to_merge": "Merging memtables drops overwritten entries early.",
    }
    return {
        "version": 1,
        "study": name,
        "seed": 7,
        "objective": "throughput_ops_s",
        "workload": "dremel-write-heavy",
        "device": "ssd-100mb",
        "space": "dremel",
        "tuner": "dremel",
        "ledger": "sqlite:////home/user/.local/share/rocktune/ledger.sqlite",
        "engine": "RocksDB 7.8.3, assertions on",
        "assertions": True,
        "search_scale": "1/64",
        "verified_at_scale": "1/64",
        "device_busy_share": 0.97,
        "seconds": {
            "search": 36.3,
            "pick": 15.0,
            "ablate": 22.5,
            "prove": 33.8,
            "opening": 2.1,
            "loading": 0.0,
            "repeated": 0.0,
            "other": 2.7,
            "total": 112.4,
        },
        "trials": {"ok": 71, "crashed": 1},
        "baseline": _side(BASELINE, 48_300, 2_350, 5.9) | {"source": "tuning_guide"},
        "rocksdb_defaults": _side(DEFAULTS, 31_900, 4_120, 7.4),
        "best": _side(BEST, 75_900, 1_480, 4.2),
        "ratio_to_baseline": interval(1.571, 1.532, 1.611),
        "ratio_to_rocksdb_defaults": interval(2.379, 2.301, 2.460),
        "options_that_matter": [
            {
                "option": option,
                "from": before,
                "to": after,
                "effect_ratio": interval(*ratio),
                "matters": matters,
                "verdict": "helps" if matters else "undecided",
                "together_with": [],
                "kept": matters,
                "effect": effects[option],
            }
            for option, before, after, ratio, matters in changes
        ],
        "verifications": {},
        "recommended": "best",
        "options_file": "/home/user/out/orders-write-heavy/OPTIONS",
        "report": "/home/user/out/orders-write-heavy/report.html",
        "command": "rocktune tune --workload dremel-write-heavy --device ssd-100mb --seed 7",
    }


def undecided_outcome() -> Outcome:
    """A study whose interval contains 1."""
    return outcome(
        ratio_to_baseline=interval(1.012, 0.983, 1.042),
        recommended="baseline",
        assertions=False,
        engine="RocksDB 11.8.1",
        search_scale="1",
        verified_at_scale="1",
    )


def unproven_outcome(**changes: Any) -> Outcome:
    """A study that found nothing to prove."""
    proven = ("best", "rocksdb_defaults", "ratio_to_baseline", "ratio_to_rocksdb_defaults")
    nothing: dict[str, Any] = dict.fromkeys(proven)
    return outcome(**nothing | {"recommended": "baseline"} | changes)


def study(name: str = "orders-write-heavy") -> StudyRecord:
    """The study's record."""
    return StudyRecord(
        id=1,
        name=name,
        spec={
            "workload": {"name": "dremel-write-heavy"},
            "device": {"name": "ssd-100mb"},
            "space": "dremel",
            "tuner": "dremel",
            "memory_bytes": 1 << 30,
            "budget_s": 36.3,
            "scale": SCALE,
            "base_options": None,
        },
        state="finished",
        created_at=datetime(2026, 3, 4, 9, 30, tzinfo=UTC),
        host="build-7, 8 cores, 16GiB, Linux 6.1",
        engine_version="RocksDB 7.8.3, assertions on",
    )


def arms() -> list[dict[str, Any]]:
    """Sixteen arms of two buckets in each of four features; one was never run."""
    names = (
        "compaction_frequency",
        "write_buffer_full_frequency",
        "read_sstable_cost",
        "block_cache_hit_rate",
    )
    rng = np.random.default_rng(11)
    return [
        {
            "buckets": {name: 1 + (arm >> place & 1) for place, name in enumerate(names)},
            "trials": 0 if arm == 6 else 1 + arm % 4,
            "value": None if arm == 6 else float(rng.uniform(38_000, 62_000) + 14_000 * (arm % 3 == 1)),
        }
        for arm in range(16)
    ]
