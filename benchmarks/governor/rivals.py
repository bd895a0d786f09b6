"""RocksDB's own means against compactions that take the device, compared with the governor."""

from benchmarks.common.claims import Claim, Settings, main, mean_interval
from benchmarks.common.measuring import embedded_engine, processors_awake
from benchmarks.common.tables import write_csv
from benchmarks.governor.shared import (
    CALIBRATED_MB_S,
    DISABLED,
    ENABLED,
    PROPORTIONAL,
    RAISED,
    SCALE,
    TOGGLE,
    WAVE_S,
    Way,
    figures,
    interleaved,
    load_of,
    reported_of,
    rows_of,
)
from rocktune.units import MIB

_SOURCE = "Warlo, sections 3.3.5 and 4.5"
_FIGURES = {
    "ingest_mb_s": "MB/s",
    "random_read_ops_s_after": "operations/s",
    "write_latency_us_p999": "us at full size",
    "stalled_share": "share",
}


def rivals(settings: Settings) -> list[Claim]:
    """Also measures RocksDB's auto-tuned rate limiter, the tuning guide's settings, and larger triggers."""
    repeats = 1 if settings.quick else int(settings.extra["repeats"])
    # The limiter counts what flushes and compactions write; the wiki advises the device's write rate for it.
    half_device = str(round(float(settings.extra["device_mb_s"]) * 1e6 / 2))
    ways = (
        ENABLED,
        Way(
            "auto-tuned limiter",
            "enabled",
            {"db": {"rate_limiter_bytes_per_sec": half_device, "rate_limiter_auto_tuned": "true"}},
        ),
        Way(
            "tuning guide",
            "enabled",
            {
                "db": {"max_background_flushes": "-1", "max_background_compactions": "-1",
                       "max_background_jobs": "6", "bytes_per_sync": str(MIB)},
                "cf": {"level_compaction_dynamic_level_bytes": "true",
                       "max_bytes_for_level_base": str(512 * MIB)},
            },
        ),
        RAISED,
        DISABLED,
        TOGGLE,
        PROPORTIONAL,
    )  # fmt: skip
    with processors_awake(), embedded_engine() as engine:
        runs = interleaved(
            settings, engine, {way.name: load_of(settings, way, WAVE_S) for way in ways}, repeats
        )
    values = {name: figures(runs, name) for name in _FIGURES}
    if settings.out is not None:
        write_csv(settings.out / "runs.csv", rows_of(values))
    return [
        reported_of(runs, f"{way}_{name}", _SOURCE, unit, mean_interval(values[name][way]))
        for way in runs
        for name, unit in _FIGURES.items()
    ]


if __name__ == "__main__":
    main(
        "governor.rivals",
        rivals,
        scale=SCALE,
        quick_scale=256,
        extra={"repeats": 5, "device_mb_s": CALIBRATED_MB_S},
    )
