"""The thesis' fairness (section 5.2): the minimum share of compactions against the accepted writes."""

from dataclasses import replace

from benchmarks.common.claims import Claim, Settings, main
from benchmarks.common.measuring import embedded_engine, processors_awake
from benchmarks.common.tables import write_csv
from benchmarks.governor.shared import (
    CALIBRATED_MB_S,
    PROPORTIONAL,
    SCALE,
    WAVE_S,
    figures,
    interleaved,
    load_of,
    paired_ratio,
    reported_of,
)

SHARES = ("0.001", "0.02", "0.05", "0.1", "0.2")
DEFAULT = "0.02"
SOURCE = "Warlo, section 5.2: fairness"
FIGURES = ("ingest_mb_s", "random_read_ops_s_after", "write_latency_us_p999")


def fairness(settings: Settings) -> list[Claim]:
    """Runs `proportional` with several minimum shares in turns, compared with its default."""
    shares = (SHARES[0], DEFAULT) if settings.quick else SHARES
    repeats = 1 if settings.quick else int(settings.extra["repeats"])
    ways = {
        share: replace(PROPORTIONAL, name=share, governor={"min_compaction_share": share}) for share in shares
    }
    with processors_awake(), embedded_engine() as engine:
        loads = {share: load_of(settings, way, WAVE_S) for share, way in ways.items()}
        runs = interleaved(settings, engine, loads, repeats)
    if settings.out is not None:
        rows = [
            {"share": share, "turn": turn}
            | {name: f"{figures(runs, name)[share][turn]:.6g}" for name in FIGURES}
            for share in shares
            for turn in range(repeats)
        ]
        write_csv(settings.out / "runs.csv", rows)
    return [
        reported_of(
            runs,
            f"share_{share}_{name}",
            SOURCE,
            f"ratio to a least share of {DEFAULT}",
            paired_ratio(runs, name, share, DEFAULT),
        )
        for share in shares
        if share != DEFAULT
        for name in FIGURES
    ]


if __name__ == "__main__":
    main(
        "governor.fairness",
        fairness,
        scale=SCALE,
        quick_scale=256,
        extra={"repeats": 3, "device_mb_s": CALIBRATED_MB_S},
    )
