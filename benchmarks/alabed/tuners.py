"""Figures 6 and 7 of Alabed and Yoneki: each tuner's distance from the best known after a number of steps.

Each tuner searches the paper's space five times, with one random start each, for workload alabed-text or that
of `--workload`. Winners are verified. An interrupted run continues with the same `--out` or `--ledger`. The
paper's own form of the models is `--tuners "multitask-bo(plain=true),..."`. The Bayesian tuners need BoTorch
(pip install rocktune[bo]).
"""

import math
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from benchmarks.common.claims import Claim, Settings, decided, main, median_spread, ratio_interval, reported
from benchmarks.common.figures import Panel, lines, write_figure
from benchmarks.common.tables import write_csv
from rocktune import api
from rocktune.ledger import Ledger, open_ledger
from rocktune.study import kept_trials
from rocktune.units import format_scale

WORKLOAD, SPACE = "alabed-text", "alabed"
OBJECTIVE = "throughput_ops_s"
TUNERS = (
    "random",
    "tpe",
    "benchmarks/alabed/sklearn_gp.py",
    "additive-bo",
    "bo",
    "multitask-bo",
    "clustered-bo",
    "dremel",
)
SHOWN_STEPS = (10, 30, 60, 100)
TRIAL_S = 120
"""Seconds of one step at full size."""
NEAR_THE_BEST = 0.9
PAPER = {
    "multitask-bo": "1.38 +- 0.06 times the default within 100 steps",
    "clustered-bo": "1.3 times the default after 10 steps",
    "bo": "comparable to clustered after 60 steps",
}
SOURCE = "Alabed and Yoneki, figures 6 and 7"

Reals = NDArray[np.float64]


@dataclass(frozen=True)
class Curve:
    """The progress of one search.

    Attributes:
        steps: measuring time until each trial's end, in full-length trials, ascending, shape (n,). A trial
            that halving carries on from an earlier age counts with what it adds.
        best: the highest throughput until then; 0 while all trials have failed; shape (n,).
    """

    steps: Reals
    best: Reals

    def after(self, steps: float) -> float:
        """Returns the highest throughput of the trials that ended within `steps` steps."""
        ended = int(np.searchsorted(self.steps, steps * (1 + 1e-9), side="right"))
        return float(self.best[ended - 1]) if ended else 0.0


Curves = Mapping[str, Sequence[Curve]]
"""Curves by tuner, one per seed."""
Verified = Mapping[str, Mapping[int, float]]
"""By tuner and seed: the winner's throughput over the default's in fresh runs."""


def tuners(settings: Settings) -> list[Claim]:
    """Compares tuners on alabed-text; `--tuners`, `--steps` and `--seeds` set which and how long."""
    quick, workload = settings.quick, str(settings.extra["workload"])
    tuners = ["random", "tpe"] if quick else str(settings.extra["tuners"]).split(",")
    steps, seeds = (3, 1) if quick else (int(settings.extra["steps"]), int(settings.extra["seeds"]))
    with tempfile.TemporaryDirectory() as scratch:
        ledger = str(settings.extra["ledger"]) or str((settings.out or Path(scratch)) / "ledger.sqlite")
        found = api.compare(
            tuners,
            [workload],
            seeds,
            space=SPACE,
            device=str(settings.extra["device"]),
            scale=format_scale(settings.scale),
            budget=f"{steps * TRIAL_S / settings.scale}s",
            seed=settings.seed,
            study=f"alabed-tuners-{workload}",
            ledger=ledger,
            out=(settings.out or Path(scratch)) / "comparison",
        )
        with open_ledger(ledger) as opened:
            curves = {tuner: _curves(found, tuner, opened, settings.scale) for tuner in found["tuners"]}
            engine = opened.study(found["runs"][0]["study"]).engine_version
    named = {Path(tuner).stem: each for tuner, each in curves.items()}
    best = max(float(curve.best.max()) for each in named.values() for curve in each)
    _write(settings, named, best)
    verified: dict[str, dict[int, float]] = {}
    for run in found["runs"]:
        if not math.isnan(run["verified"]):
            verified.setdefault(Path(run["tuner"]).stem, {})[run["seed"]] = run["verified"]
    claims = [
        *_shares(named, best, settings),
        *_verified(verified),
        *_speed(named),
        *_best_of_all(verified),
    ]
    return [replace(claim, engine=engine, device=str(settings.extra["device"])) for claim in claims]


def _curves(found: Mapping[str, Any], tuner: str, ledger: Ledger, scale: int) -> list[Curve]:
    """Returns the progress of each search of a tuner."""
    curves = []
    for run in found["runs"]:
        if run["tuner"] == tuner:
            trials = kept_trials(ledger, ledger.study(run["study"]))
            records = [each for each in trials if each.phase == "search"]
            values = [
                0.0 if record.measurement is None else record.measurement.figures[OBJECTIVE]
                for record in records
            ]
            measured_s = np.cumsum([record.measured_s for record in records])
            curves.append(Curve(measured_s * scale / TRIAL_S, np.maximum.accumulate(np.array(values))))
    return curves


def _shares(curves: Curves, best: float, settings: Settings) -> list[Claim]:
    steps = SHOWN_STEPS if not settings.quick else (3,)
    return [
        reported(
            f"{tuner}_share_after_{step}_steps",
            SOURCE,
            "share of the best known throughput; median [min, max]",
            median_spread([curve.after(step) / best for curve in each]),
            engine="",
            device="",
        )
        for tuner, each in curves.items()
        for step in steps
    ]


def _verified(verified: Verified) -> list[Claim]:
    return [
        reported(
            f"{tuner}_verified",
            "Alabed and Yoneki, figure 6",
            "ratio of throughput to the default, fresh runs; median [min, max]",
            median_spread([*ratios.values()]),
            PAPER.get(tuner),
            engine="",
            device="",
        )
        for tuner, ratios in verified.items()
    ]


def _speed(curves: Curves) -> list[Claim]:
    """Returns claims that compare clustered after 10 steps with single-task after 30."""
    if not {"clustered-bo", "bo"} <= {*curves}:
        return []
    after_30 = float(np.median([curve.after(30) for curve in curves["bo"]]))
    claim = reported(
        "clustered_after_10_over_single_task_after_30",
        SOURCE,
        "ratio of throughput to single-task's median; median [min, max]",
        median_spread([curve.after(10) / after_30 for curve in curves["clustered-bo"]]),
        "10 steps against 60",
        engine="",
        device="",
    )
    return [decided(claim, low=1)]


def _best_of_all(verified: Verified) -> list[Claim]:
    """Returns a target: multi-task's winners against those of the best other tuner, paired by seed."""
    means = {
        tuner: float(np.mean(np.log([*ratios.values()])))
        for tuner, ratios in verified.items()
        if tuner != "multitask-bo"
    }
    if "multitask-bo" not in verified or not means:
        return []
    leader = max(means, key=lambda tuner: means[tuner])
    own, other = verified["multitask-bo"], verified[leader]
    claim = reported(
        "multitask_over_the_best_other",
        "Alabed and Yoneki, figure 6",
        f"ratio of verified throughput to that of {leader}, the best of the others",
        ratio_interval([own[seed] / other[seed] for seed in own.keys() & other.keys()]),
        engine="",
        device="",
    )
    return [decided(claim, low=NEAR_THE_BEST)]


def _write(settings: Settings, curves: Curves, best: float) -> None:
    if settings.out is None:
        return
    rows = [
        {
            "tuner": tuner,
            "seed": settings.seed + number,
            "steps": f"{steps:.5g}",
            "best_throughput_ops_s": f"{value:.6g}",
        }
        for tuner, each in curves.items()
        for number, curve in enumerate(each)
        for steps, value in zip(curve.steps.tolist(), curve.best.tolist(), strict=True)
    ]
    write_csv(settings.out / "curves.csv", rows)
    traces = []
    for tuner, each in curves.items():
        steps = list(range(1, 1 + math.ceil(min(float(curve.steps[-1]) for curve in each))))
        median = [float(np.median([curve.after(step) for curve in each])) / best for step in steps]
        traces.append(lines(tuner, steps, median))
    panel = Panel(
        "Best so far, median of all seeds",
        "steps of measuring time",
        "share of the best known throughput",
        traces,
    )
    write_figure(settings, f"{settings.extra['workload']} at {format_scale(settings.scale)}", [panel])


if __name__ == "__main__":
    main(
        "alabed.tuners",
        tuners,
        scale=256,
        extra={
            "tuners": ",".join(TUNERS),
            "steps": 100,
            "seeds": 5,
            "device": "ssd-100mb",
            "workload": WORKLOAD,
            "ledger": "",
        },
    )
