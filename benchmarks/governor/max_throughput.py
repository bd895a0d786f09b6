"""Figures 4.11 and 4.12: writes at full speed, on an empty store and on one in debt."""

from collections.abc import Mapping
from dataclasses import replace

from benchmarks.common.claims import Claim, Settings, main, mean_interval
from benchmarks.common.figures import Panel, lines, write_figure
from benchmarks.common.measuring import embedded_engine, processors_awake
from benchmarks.common.tables import write_csv
from benchmarks.governor.shared import (
    CALIBRATED_MB_S,
    DISABLED,
    DRAINS,
    SCALE,
    TOGGLE,
    WAYS,
    figures,
    load_of,
    paired_ratio,
    reported_of,
    told,
)
from rocktune.online import GovernedRun, figures_of, run_governed
from rocktune.workload import load_workload
from rocktune.workload.loads import MixSpec
from rocktune.workload.sessions import SessionSpec

FILL_S, OVERWRITE_S = 250.0, 125.0
"""500,000 and 250,000 values of 100 KB at the 200 MB/s of the thesis."""
_SOURCES = {"fill": "Warlo, figure 4.11", "overwrite": "Warlo, figure 4.12"}


def max_throughput(settings: Settings) -> list[Claim]:
    """Runs each mode on an empty store, then on 25 GB that were written with compactions off."""
    repeats = 1 if settings.quick else int(settings.extra["repeats"])
    closed = load_workload("sine").model_copy(
        update={"name": "closed", "sessions": (SessionSpec(mix=MixSpec(put=1.0)),)}
    )
    claims: list[Claim] = []
    rows = []
    panels = []
    with processors_awake(), embedded_engine() as engine:
        for what, until_s in (("fill", FILL_S), ("overwrite", OVERWRITE_S)):
            loads = {
                way.name: load_of(settings, way, until_s, read_s=0.0, workload=closed)
                for way in (*WAYS, DRAINS)
            }
            # The thesis fills in ascending order, which leaves nothing to merge; random keys are harder.
            filled = load_of(settings, DISABLED, OVERWRITE_S, read_s=0.0, workload=closed)
            runs: dict[str, list[GovernedRun]] = {name: [] for name in loads}
            for turn in range(repeats):
                for name, load in loads.items():
                    seeded = replace(load, seed=load.seed + turn)
                    before = replace(filled, seed=1000 + turn) if what == "overwrite" else None
                    runs[name].append(run_governed(engine, seeded, before=before))
                    settings.say(f"{turn + 1}/{repeats} {what}, {told(name, runs[name][-1])}")
            accepted = figures(runs, "ingest_mb_s")
            claims += [
                reported_of(runs, f"{what}_{way}", _SOURCES[what], "MB/s", mean_interval(values))
                for way, values in accepted.items()
            ]
            for way in (TOGGLE.name, DRAINS.name):
                name = f"{what}_{way}_over_disabled"
                ratio = paired_ratio(runs, "writes_accepted", way, DISABLED.name)
                claims.append(reported_of(runs, name, _SOURCES[what], "ratio", ratio))
            rows += [
                {"what": what, "way": way, "turn": turn, "ingest_mb_s": value}
                for way, values in accepted.items()
                for turn, value in enumerate(values)
            ]
            panels.append(_panel(what, runs))
    if settings.out is not None:
        write_csv(settings.out / "runs.csv", rows)
    write_figure(settings, "Writes as fast as the store takes them", panels)
    return claims


def _panel(what: str, runs: Mapping[str, list[GovernedRun]]) -> Panel:
    traces = []
    for way, each in runs.items():
        series = figures_of(each[0])["series"]
        traces.append(lines(way, series["time_s"], series["writes_mb_s"]))
    return Panel(what, "time (s)", "accepted (MB/s)", traces)


if __name__ == "__main__":
    main(
        "governor.max_throughput",
        max_throughput,
        scale=SCALE,
        quick_scale=256,
        extra={"repeats": 3, "device_mb_s": CALIBRATED_MB_S},
    )
