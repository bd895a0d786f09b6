"""Figures 4.3 to 4.8 and 4.10: one wave of writes, and the state after 350, 700 and 1,000 s.

`--device-mb-s 430` takes the thesis' drive; by default plain RocksDB accepts as much as in the thesis.

Five turns of all ways and ages take an hour and a half at 1/16. The difference that matters is a tenth of
the writes. The toggle's ratio over plain RocksDB varies by 2.7% between turns, and that over raised triggers
by 5.0% (standard deviations of the logarithms, three recorded turns). So three turns give 95% intervals of 7%
and 13% to either side, and five turns 3% and 6%, which decide both.
"""

from typing import Any

from benchmarks.common.claims import Claim, Measured, Settings, main, mean_interval
from benchmarks.common.figures import Panel, lines, write_figure
from benchmarks.common.measuring import embedded_engine, processors_awake
from benchmarks.common.tables import write_csv
from benchmarks.governor.shared import (
    CALIBRATED_MB_S,
    CAPPED,
    DISABLED,
    DRAINS,
    ENABLED,
    LIMITED,
    PROPORTIONAL,
    RAISED,
    SCALE,
    TOGGLE,
    WAVE_S,
    Way,
    decided_of,
    figures,
    interleaved,
    load_of,
    paired_ratio,
    reported_of,
)
from benchmarks.governor.tables import UNITS, published_name, published_values, series_of, table_of
from rocktune.online import GovernedRun, figures_of

AGES_S = (350.0, 700.0, 1000.0)
WAYS = (ENABLED, RAISED, DISABLED, LIMITED, TOGGLE, PROPORTIONAL, CAPPED, DRAINS)
SOURCES = {
    350.0: "Warlo, figures 4.3, 4.4, 4.10",
    700.0: "Warlo, figures 4.5, 4.6",
    1000.0: "Warlo, figures 4.7, 4.8",
}
DIFFERENCES = (("disabled", "compaction_mb_s"), ("enabled", "compaction_mb_s"), ("enabled", "db_gb"))
"""Figures of the thesis' tables whose difference to a way its text states."""
TABLED = (
    "ingest_mb_s", "random_read_ops_s_after", "read_hit_ratio", "write_latency_us_p999",
    "max_write_stop_ms", "stalled_share", "compaction_mb_s", "db_bytes", "write_amplification",
)  # fmt: skip
SHOWN = ("writes_mb_s", "flush_mb_s", "compaction_write_mb_s")


def wave(settings: Settings) -> list[Claim]:
    """Runs each mode to each age in turn, then reads; `--repeats` and `--ages` set how many."""
    repeats = 1 if settings.quick else int(settings.extra["repeats"])
    ages_s = (
        (WAVE_S,) if settings.quick else tuple(float(age) for age in str(settings.extra["ages"]).split(","))
    )
    claims: list[Claim] = []
    rows: list[dict[str, Any]] = []
    series: list[dict[str, Any]] = []
    panels: list[Panel] = []
    with processors_awake(), embedded_engine() as engine:
        for age_s in ages_s:
            loads = {way.name: load_of(settings, way, age_s) for way in WAYS}
            runs = interleaved(settings, engine, loads, repeats)
            claims += [*_claims(runs, age_s), *_table_claims(runs, age_s)]
            rows += [
                _row(way, age_s, turn, run) for way, each in runs.items() for turn, run in enumerate(each)
            ]
            series += [
                {"way": way, "until_s": age_s} | {name: f"{value:.5g}" for name, value in row.items()}
                for way, each in runs.items()
                for row in series_of(each[0])
            ]
            panels += [_panel(way, age_s, each[0]) for way, each in runs.items()]
            panels += [_levels_panel(way, age_s, each[0]) for way, each in runs.items()]
    if settings.out is not None:
        write_csv(settings.out / "runs.csv", rows)
        write_csv(settings.out / "series.csv.gz", series)
    write_figure(settings, "One wave of writes", panels, columns=len(WAYS))
    return claims


def _claims(runs: dict[str, list[GovernedRun]], age_s: float) -> list[Claim]:
    source = SOURCES.get(age_s, "Warlo, section 4.3")
    claims = []
    for name, unit in (
        ("ingest_mb_s", "MB/s"),
        ("random_read_ops_s_after", "operations/s"),
        ("read_hit_ratio", ""),
    ):
        for way, values in figures(runs, name).items():
            claims.append(_beside(runs, way, f"{name}_{age_s:.0f}", source, unit or "share", values))
    if age_s == WAVE_S:
        return claims + _wave_claims(runs, source)
    share = paired_ratio(runs, "random_read_ops_s_after", PROPORTIONAL.name, ENABLED.name)
    name = f"proportional_reads_over_enabled_{age_s:.0f}"
    if age_s == max(AGES_S):
        return [*claims, decided_of(runs, name, source, "ratio", share, least=0.95, paper=0.5)]
    return [*claims, reported_of(runs, name, source, "ratio", share)]


def _beside(
    runs: dict[str, list[GovernedRun]], way: str, figure: str, source: str, unit: str, values: list[float]
) -> Claim:
    """Returns the claim of a way's figure next to the value that the thesis' text states, if it does."""
    paper = published_values().get(published_name(way, figure) or "")
    return reported_of(runs, f"{way}_{figure}", source, unit, mean_interval(values), paper)


def _table_claims(runs: dict[str, list[GovernedRun]], age_s: float) -> list[Claim]:
    """Returns what the tables of figures 4.4, 4.6 and 4.8 show, for the ways that these have."""
    source = SOURCES.get(age_s, "Warlo, section 4.3")
    tables = {way: [table_of(run) for run in each] for way, each in runs.items() if published_name(way, "")}
    claims = [
        _beside(runs, way, f"{figure}_{age_s:.0f}", source, unit, [table[figure] for table in each])
        for figure, unit in UNITS.items()
        for way, each in tables.items()
    ]
    for way in (TOGGLE.name, DRAINS.name):
        for other, figure in DIFFERENCES:
            pairs = zip(tables[way], tables[other], strict=True)
            values = mean_interval([own[figure] - others[figure] for own, others in pairs])
            tail = f"minus_{other}_{figure}_{age_s:.0f}"
            paper = published_values().get(f"tuned_{tail}")
            claims.append(reported_of(runs, f"{way}_{tail}", source, UNITS[figure], values, paper))
    return claims


def _wave_claims(runs: dict[str, list[GovernedRun]], source: str) -> list[Claim]:
    def writes_over(way: Way, other: Way) -> tuple[str, Measured]:
        return f"{way.name}_writes_over_{other.name}", paired_ratio(
            runs, "writes_accepted", way.name, other.name
        )

    wanted = ((TOGGLE, ENABLED, 1.8, 1.905), (TOGGLE, DISABLED, 0.97, 0.993), (TOGGLE, RAISED, 1.35, 1.43))
    claims = []
    for way, other, least, paper in wanted:
        name, ratio = writes_over(way, other)
        claims.append(decided_of(runs, name, source, "ratio", ratio, least=least, paper=paper))
    for way, other, published in (
        (PROPORTIONAL, DISABLED, None),
        (DRAINS, ENABLED, 1.905),
        (DRAINS, DISABLED, 0.993),
        (DRAINS, RAISED, 1.43),
        # What the switch gains by itself: without it, the limit on compactions or the cap is the same.
        (TOGGLE, LIMITED, None),
        (DRAINS, CAPPED, None),
    ):
        name, ratio = writes_over(way, other)
        claims.append(reported_of(runs, name, source, "ratio", ratio, published))
    return claims


def _row(way: str, age_s: float, turn: int, run: GovernedRun) -> dict[str, Any]:
    found = figures_of(run)
    levels = {f"level{level}_bytes": size for level, size in enumerate(found["level_bytes"])}
    files = {"level0_files": found["level_files"][0]}
    counted = {name: found["governor"].get(name, 0) for name in ("switched_off", "switched_on")}
    return (
        {"way": way, "until_s": age_s, "turn": turn}
        | {name: found[name] for name in TABLED}
        | files
        | levels
        | counted
    )


def _levels_panel(way: str, age_s: float, run: GovernedRun) -> Panel:
    rows = series_of(run)
    times = [row["time_s"] for row in rows]
    names = ("db_gb", "level0_gb", "level1_gb", "level2_gb", "level3_gb")
    traces = [lines(name.removesuffix("_gb"), times, [row[name] for row in rows]) for name in names]
    return Panel(f"{way}, {age_s:.0f} s", "time (s)", "held (GB)", traces)


def _panel(way: str, age_s: float, run: GovernedRun) -> Panel:
    series = figures_of(run)["series"]
    traces = [lines(name.removesuffix("_mb_s"), series["time_s"], series[name]) for name in SHOWN]
    return Panel(f"{way}, {age_s:.0f} s", "time (s)", "MB/s", traces)


if __name__ == "__main__":
    main(
        "governor.wave",
        wave,
        scale=SCALE,
        quick_scale=256,
        extra={"repeats": 5, "ages": "350,700,1000", "device_mb_s": CALIBRATED_MB_S},
    )
