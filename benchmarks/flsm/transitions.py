"""Figure 10: the effect on a serving store of changing all levels from one run to ten at once.

At a scale below 1/32 the write buffer is larger than the paper's, so the tree has fewer levels.
"""

from collections.abc import Sequence
from dataclasses import asdict
from typing import Any

import numpy as np

from benchmarks.common.claims import Claim, Settings, exactly, main, mean_interval, ratio_interval, reported
from benchmarks.common.figures import Panel, lines, write_figure
from benchmarks.common.measuring import embedded_engine, processors_awake
from benchmarks.common.tables import write_csv
from benchmarks.flsm.shared import RUSKEY, SIZE_RATIO, Where, buffer_at, decided_at, latency_us, layout
from rocktune.device import load_device
from rocktune.engine import EmbeddedEngine, EmbeddedRun
from rocktune.online import MissionLoad, run_missions
from rocktune.space import merged_options
from rocktune.trial import Measurement
from rocktune.workload import load_workload

SOURCE = "RusKey, figure 10"
TRANSITIONS = ("flexible", "lazy", "greedy")
PAPER_S = {"flexible": 40, "lazy": 44, "greedy": 51}
MISSION_OPERATIONS = 1_000_000
SPIKE_MISSIONS = 3
"""In which an immediate cost of the change would show."""


def transitions(settings: Settings) -> list[Claim]:
    """Runs each transition in turn; `--repeats`, `--missions` and `--device` change how much and where."""
    repeats = 1 if settings.quick else int(settings.extra["repeats"])
    missions = 8 if settings.quick else int(settings.extra["missions"])
    runs: dict[str, list[list[Measurement]]] = {name: [] for name in TRANSITIONS}
    with processors_awake(), embedded_engine() as engine:
        for turn in range(repeats):
            for name in TRANSITIONS:
                done = _run(settings, engine, name, missions, settings.seed + turn)
                runs[name].append(done)
                settings.say(f"{turn + 1}/{repeats} {name}: {done[-1].until_s:.1f} s")
        version = engine.version
    if settings.out is not None:
        write_csv(settings.out / "missions.csv", _rows(runs))
    write_figure(settings, "Policies 1 to 10 in mid-run", _panels(runs))
    return _claims(runs, missions, version, str(settings.extra["device"]))


def _run(
    settings: Settings, engine: EmbeddedEngine, transition: str, missions: int, seed: int
) -> list[Measurement]:
    def control(run: EmbeddedRun, done: Sequence[Measurement]) -> None:
        if len(done) == missions // 2:
            for level in range(1, 7):
                run.set_policy(level, SIZE_RATIO, transition)

    load = MissionLoad(
        workload=load_workload("ruskey-balanced"),
        device=load_device(str(settings.extra["device"])),
        scale=settings.scale,
        missions=missions,
        operations=MISSION_OPERATIONS,
        options=merged_options(RUSKEY, buffer_at(settings.scale), layout([1])),
        seed=seed,
    )
    return list(run_missions(engine, load, control))


def _claims(
    runs: dict[str, list[list[Measurement]]], missions: int, version: str, device: str
) -> list[Claim]:
    where = Where(version, device)
    seconds = {name: [done[-1].until_s for done in each] for name, each in runs.items()}
    claims = [
        reported(f"{name}_seconds", SOURCE, "s", mean_interval(values), PAPER_S[name], **asdict(where))
        for name, values in seconds.items()
    ]
    for name in ("lazy", "greedy"):
        ratio = ratio_interval(
            [other / flexible for other, flexible in zip(seconds[name], seconds["flexible"], strict=True)]
        )
        paper = PAPER_S[name] / PAPER_S["flexible"]
        claims.append(
            decided_at(f"{name}_over_flexible", SOURCE, "ratio", ratio, low=1.0, paper=paper, where=where)
        )
    order = ratio_interval(
        [greedy / lazy for greedy, lazy in zip(seconds["greedy"], seconds["lazy"], strict=True)]
    )
    claims.append(decided_at("greedy_over_lazy", SOURCE, "ratio", order, low=1.0, paper=51 / 44, where=where))
    for name, each in runs.items():
        spike = ratio_interval([_spike(done, missions) for done in each])
        unit = "highest of the missions after the change / highest before"
        if name == "flexible":
            claims.append(
                decided_at(
                    f"{name}_write_spike", SOURCE, unit, spike, high=1.0, paper="no spike", where=where
                )
            )
        else:
            claims.append(reported(f"{name}_write_spike", SOURCE, unit, spike, **asdict(where)))
    fewest = exactly(min(_disk_levels(done[-1]) for each in runs.values() for done in each))
    unit = "levels that hold something in the end, the fewest of all runs"
    deep = "four disk levels"
    return [*claims, decided_at("disk_levels", deep, unit, fewest, low=4, where=where)]


def _disk_levels(window: Measurement) -> int:
    return sum(bool(level["runs"]) for level in window.raw["flsm"]["levels"])


def _spike(done: list[Measurement], missions: int) -> float:
    """Returns the highest mean write latency of the missions right after the change over that before it."""
    latencies = np.array([latency_us(window, "put") for window in done])
    change = missions // 2
    before = latencies[missions // 8 : change]
    return float(latencies[change : change + SPIKE_MISSIONS].max() / before.max())


def _rows(runs: dict[str, list[list[Measurement]]]) -> list[dict[str, Any]]:
    return [
        {
            "transition": name,
            "turn": turn,
            "mission": mission,
            "seconds": window.until_s - window.from_s,
            "put_us": latency_us(window, "put"),
            "get_us": latency_us(window, "get"),
            "runs": sum(len(level["runs"]) for level in window.raw["flsm"]["levels"]),
            "compaction_write_bytes": window.raw["device_bytes"]["compaction_write"],
        }
        for name, each in runs.items()
        for turn, done in enumerate(each)
        for mission, window in enumerate(done)
    ]


def _panels(runs: dict[str, list[list[Measurement]]]) -> list[Panel]:
    def panel(kind: str, title: str) -> Panel:
        return Panel(
            title,
            "mission",
            "mean latency (us)",
            [
                lines(name, range(len(each[0])), [latency_us(window, kind) for window in each[0]])
                for name, each in runs.items()
            ],
        )

    elapsed = Panel(
        "time until each mission's end",
        "mission",
        "time (s)",
        [lines(name, range(len(each[0])), [w.until_s for w in each[0]]) for name, each in runs.items()],
    )
    return [panel("put", "updates"), panel("get", "lookups"), elapsed]


if __name__ == "__main__":
    main(
        "flsm.transitions",
        transitions,
        scale=128,
        quick_scale=2048,
        extra={"repeats": 3, "missions": 120, "device": "ssd-100mb"},
    )
