"""Figures 3.15 to 3.17: the effect of pending-compaction limits, threads and memtables on the toggle.

`--mode drains` measures the thesis' own tuner instead, which had to have these chosen with care.
"""

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
    WAVE_S,
    figures,
    interleaved,
    load_of,
    reported_of,
    rows_of,
)
from rocktune.errors import unknown_name
from rocktune.online import GovernedRun, figures_of
from rocktune.trial import OptionMaps

VARIANTS: dict[str, tuple[str, OptionMaps]] = {
    "as chosen": ("section 3.5.6", {}),
    "one flush thread": ("section 3.5.3", {"db": {"max_background_flushes": "1"}}),
    "four compaction threads": ("figure 3.16", {"db": {"max_background_compactions": "4"}}),
    "four memtables": ("figure 3.17", {"cf": {"max_write_buffer_number": "4"}}),
    "one flush thread, four memtables": (
        "sections 3.5.3 and 3.5.5",
        {"db": {"max_background_flushes": "1"}, "cf": {"max_write_buffer_number": "4"}},
    ),
}
"""Differences from the thesis' configuration, each with the place that discusses it."""
BOUNDED = "debt of 64 GiB"
_SHOWN = ("writes", "compaction_write")


def configuration(settings: Settings) -> list[Claim]:
    """Runs the tuner through the wave under each variant; `debt of 64 GiB` belongs to figure 3.15 too."""
    repeats = 1 if settings.quick else int(settings.extra["repeats"])
    tuners = {way.name: way for way in (TOGGLE, DRAINS)}
    if settings.extra["mode"] not in tuners:
        raise unknown_name("mode", settings.extra["mode"], tuple(tuners))
    tuner = tuners[settings.extra["mode"]]
    loads = {
        name: load_of(settings, tuner, WAVE_S, options=options) for name, (_, options) in VARIANTS.items()
    }
    bounded = {**tuner.governor, "debt_bytes": str(64 << 30)}
    with processors_awake(), embedded_engine() as engine:
        loads[BOUNDED] = replace(load_of(settings, tuner, WAVE_S), governor=bounded)
        runs = interleaved(settings, engine, loads, repeats)
    accepted, reads = figures(runs, "ingest_mb_s"), figures(runs, "random_read_ops_s_after")
    shares_off = {name: [_share_off(run) for run in each] for name, each in runs.items()}
    if settings.out is not None:
        rows = rows_of(
            {"ingest_mb_s": accepted, "random_read_ops_s_after": reads, "share_of_time_off": shares_off}
        )
        write_csv(settings.out / "runs.csv", rows)
    panels = []
    for name, each in runs.items():
        series = figures_of(each[0])["series"]
        traces = [lines(what, series["time_s"], series[f"{what}_mb_s"]) for what in _SHOWN]
        panels.append(Panel(name, "time (s)", "MB/s", traces))
    write_figure(settings, f"The tuner ({tuner.name}) under other configurations", panels, columns=3)
    return [
        reported_of(runs, f"{name}: {what}", f"Warlo, {_source(name)}", unit, mean_interval(values[name]))
        for name in runs
        for what, unit, values in (
            ("accepted", "MB/s", accepted),
            ("reads after", "operations/s", reads),
            ("compactions off", "share of the time", shares_off),
        )
    ]


def _source(name: str) -> str:
    return VARIANTS[name][0] if name in VARIANTS else "figure 3.15"


def _share_off(run: GovernedRun) -> float:
    off = figures_of(run)["series"]["compactions_off"]
    return sum(map(bool, off)) / len(off)


if __name__ == "__main__":
    main(
        "governor.configuration",
        configuration,
        scale=SCALE,
        quick_scale=256,
        extra={"repeats": 3, "mode": TOGGLE.name, "device_mb_s": CALIBRATED_MB_S},
    )
