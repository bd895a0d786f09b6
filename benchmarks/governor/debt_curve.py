"""The benefit of a bound on the debt: accepted writes against random reads right after the wave.

`--device-mb-s 430` takes the thesis' drive; by default plain RocksDB accepts as much as in the thesis.
"""

from dataclasses import replace

from benchmarks.common.claims import Claim, Settings, decided, main, mean_interval
from benchmarks.common.figures import Panel, lines, write_figure
from benchmarks.common.measuring import embedded_engine, processors_awake
from benchmarks.common.tables import write_csv
from benchmarks.governor.shared import (
    BLOOM,
    CALIBRATED_MB_S,
    DISABLED,
    DRAINS,
    ENABLED,
    PROPORTIONAL,
    RAISED,
    SCALE,
    TOGGLE,
    WAVE_S,
    figures,
    interleaved,
    load_of,
    paired_ratio,
    reported_of,
    rows_of,
)

BOUNDS = (100, 200, 400, 600, 1000)
"""The last one is the default."""
_SOURCE = "Warlo, figure 4.4 and section 5.2"
_WRITES, _READS = "writes_accepted", "random_read_ops_s_after"


def debt_curve(settings: Settings) -> list[Claim]:
    """Measures `proportional` under several bounds, and the other modes; `--bloom yes` adds filters."""
    repeats = 1 if settings.quick else int(settings.extra["repeats"])
    bounds = BOUNDS[-1:] if settings.quick else BOUNDS
    bounded = {
        f"proportional, {bound}": replace(
            PROPORTIONAL, name=f"proportional, {bound}", governor={"debt_runs": str(bound), "debt_bytes": "0"}
        )
        for bound in bounds
    }
    ways = {way.name: way for way in (ENABLED, RAISED, DISABLED, TOGGLE, DRAINS)} | bounded
    options = BLOOM if settings.extra["bloom"] == "yes" else None
    with processors_awake(), embedded_engine() as engine:
        loads = {name: load_of(settings, way, WAVE_S, options=options) for name, way in ways.items()}
        runs = interleaved(settings, engine, loads, repeats)
    writes, reads = figures(runs, "ingest_mb_s"), figures(runs, _READS)
    if settings.out is not None:
        write_csv(settings.out / "runs.csv", rows_of({"ingest_mb_s": writes, _READS: reads}))
    _draw(settings, writes, reads, list(bounded))
    claims = [
        reported_of(runs, f"{name}_{figure}", _SOURCE, unit, mean_interval(values[name]))
        for name in ways
        for figure, unit, values in (("ingest", "MB/s", writes), ("reads_after", "operations/s", reads))
    ]
    for name in bounded:
        for other, min_writes, min_reads in ((TOGGLE.name, 0.99, 1.5), (DISABLED.name, 0.95, 2.5)):
            for what, figure, least in (("writes", _WRITES, min_writes), ("reads", _READS, min_reads)):
                ratio = paired_ratio(runs, figure, name, other)
                claim = reported_of(runs, f"{name}_{what}_over_{other}", _SOURCE, "ratio", ratio)
                # What a user gets who sets nothing is to be better than either; the others show the way.
                claims.append(decided(claim, low=least) if name == f"proportional, {BOUNDS[-1]}" else claim)
    return claims


def _draw(
    settings: Settings, writes: dict[str, list[float]], reads: dict[str, list[float]], bounded: list[str]
) -> None:
    def mean(values: list[float]) -> float:
        return sum(values) / len(values)

    curve = lines(
        "proportional, by bound",
        [mean(writes[name]) for name in bounded],
        [mean(reads[name]) for name in bounded],
        mode="lines+markers+text",
        text=[name.rpartition(" ")[2] for name in bounded],
        textposition="top center",
    )
    others = [
        lines(name, [mean(writes[name])], [mean(reads[name])], mode="markers")
        for name in writes
        if name not in bounded
    ]
    panel = Panel("", "accepted (MB/s)", "random reads right after the wave (operations/s)", [curve, *others])
    write_figure(settings, "What a bound on the debt buys", [panel])


if __name__ == "__main__":
    main(
        "governor.debt_curve",
        debt_curve,
        scale=SCALE,
        quick_scale=256,
        extra={"repeats": 5, "bloom": "no", "device_mb_s": CALIBRATED_MB_S},
    )
