"""The ablation of section 3.5.4: how long level 0 stays full after the peak, by number of subcompactions.

The thesis: with two, the compaction of level 0 after the peak takes 30 to 50 s less; more do not help. The
difference that matters is 30 s. A window of the series is 7 s. Five turns decide it unless the difference
varies by more than 24 s between turns (standard deviation; not known before the first run). They take half an
hour at 1/16.
"""

from collections.abc import Sequence
from dataclasses import replace

from benchmarks.common.claims import Claim, Settings, main, mean_interval
from benchmarks.common.figures import Panel, lines, write_figure
from benchmarks.common.measuring import embedded_engine, processors_awake
from benchmarks.common.tables import write_csv
from benchmarks.governor.shared import (
    CALIBRATED_MB_S,
    DRAINS,
    SCALE,
    TOGGLE,
    figures,
    interleaved,
    load_of,
    reported_of,
    rows_of,
)
from rocktune.online import GovernedRun, figures_of
from rocktune.space import merged_options

COUNTS = (1, 2, 4)
CHOSEN = 2
UNTIL_S = 700.0
PEAK_S = 175.0
FULL_FILES = 20
"""RocksDB's own options slow writes from so many files in level 0 (`level0_slowdown_writes_trigger`)."""
_SOURCE = "Warlo, section 3.5.4"
_COMPACTIONS = "rocksdb.compaction.times.micros"


def subcompactions(settings: Settings) -> list[Claim]:
    """Runs both tuners through the wave and the low load after it, with several numbers of subcompactions."""
    repeats = 1 if settings.quick else int(settings.extra["repeats"])
    ways = {
        _name(tuner.name, count): replace(
            tuner, options=merged_options(tuner.options, {"db": {"max_subcompactions": str(count)}})
        )
        for tuner in (TOGGLE, DRAINS)
        for count in COUNTS
    }
    with processors_awake(), embedded_engine() as engine:
        loads = {name: load_of(settings, way, UNTIL_S) for name, way in ways.items()}
        runs = interleaved(settings, engine, loads, repeats)
    values = {
        "level0_full_s": {name: [full_seconds(run) for run in each] for name, each in runs.items()},
        "longest_compaction_s": {name: [_longest_s(run) for run in each] for name, each in runs.items()},
        "ingest_mb_s": figures(runs, "ingest_mb_s"),
        "random_read_ops_s_after": figures(runs, "random_read_ops_s_after"),
    }
    if settings.out is not None:
        write_csv(settings.out / "runs.csv", rows_of(values))
    _draw(settings, runs)
    units = {"level0_full_s": "s", "longest_compaction_s": "s", "ingest_mb_s": "MB/s"}
    claims = [
        reported_of(
            runs, f"{name}_{figure}", _SOURCE, units.get(figure, "operations/s"), mean_interval(found[name])
        )
        for figure, found in values.items()
        for name in runs
    ]
    return [*claims, *_saved(runs, values["level0_full_s"])]


def _saved(runs: dict[str, list[GovernedRun]], full_s: dict[str, list[float]]) -> list[Claim]:
    """Returns the seconds that each further step of subcompactions saves, next to the thesis' words."""
    claims = []
    for tuner in (TOGGLE.name, DRAINS.name):
        for less, more, paper in ((1, CHOSEN, "30 to 50 s"), (CHOSEN, COUNTS[-1], "no further reduction")):
            pairs = zip(full_s[_name(tuner, less)], full_s[_name(tuner, more)], strict=True)
            saved = mean_interval([before - after for before, after in pairs])
            name = f"{tuner}_saved_by_{more}_over_{less}"
            claims.append(reported_of(runs, name, _SOURCE, "s", saved, paper))
    return claims


def full_seconds(run: GovernedRun) -> float:
    """Returns the time after the peak with more files in level 0 than RocksDB's options bear."""
    series = figures_of(run)["series"]
    return time_above(series["time_s"], series["level0_files"], PEAK_S, FULL_FILES)


def time_above(ends_s: Sequence[float], values: Sequence[float], from_s: float, bound: float) -> float:
    """Returns the time of the windows beginning at `from_s` or later whose value at the end exceeds a bound.

    Args:
        ends_s: ends of consecutive windows, the first of which begins at 0.
        values: value at the end of each window.
        from_s: begin of the time that counts.
        bound: bound.
    """
    begins_s = [0.0, *ends_s]
    return sum(
        end_s - begin_s
        for begin_s, end_s, value in zip(begins_s, ends_s, values, strict=False)
        if begin_s >= from_s and value > bound
    )


def _longest_s(run: GovernedRun) -> float:
    compactions = run.windows[-1].raw.get("histograms", {}).get(_COMPACTIONS, {})
    return float(compactions.get("max", 0.0)) / 1e6 * run.load.scale


def _draw(settings: Settings, runs: dict[str, list[GovernedRun]]) -> None:
    panels = []
    for tuner in (TOGGLE.name, DRAINS.name):
        traces = []
        for count in COUNTS:
            series = figures_of(runs[_name(tuner, count)][0])["series"]
            traces.append(lines(f"{count} subcompactions", series["time_s"], series["level0_files"]))
        panels.append(Panel(tuner, "time (s)", "files in level 0", traces))
    write_figure(settings, "Level 0 after the peak", panels)


def _name(tuner: str, count: int) -> str:
    return f"{tuner}, {count}"


if __name__ == "__main__":
    main(
        "governor.subcompactions",
        subcompactions,
        scale=SCALE,
        quick_scale=256,
        extra={"repeats": 5, "device_mb_s": CALIBRATED_MB_S},
    )
