"""Figures 6 and 7 of Alabed and Yoneki: how near the best known each tuner is after so many steps.

Every tuner searches alabed-text in their space, with one random start, five times; winners are verified. An
interrupted run goes on with the same `--ledger`. The Bayesian tuners need BoTorch (pip install rocktune[bo]).
"""

import math
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from benchmarks.claims import Claim, Settings, main, mean_interval, median_spread, reported, write_csv
from benchmarks.figures import Panel, lines, write_figure
from rocktune import api
from rocktune.ledger import Ledger, open_ledger
from rocktune.units import format_scale

WORKLOAD, SPACE = "alabed-text", "alabed"
OBJECTIVE = "throughput_ops_s"
TUNERS = (
    "random",
    "tpe",
    f"{Path(__file__).parent / 'sklearn_gp.py'}",
    "additive-bo",
    "bo",
    "multitask-bo",
    "clustered-bo",
    "dremel",
)
SHOWN_STEPS = (10, 30, 60, 100)
TRIAL_S = 120
"""Of a step, at full size."""
PAPER = {
    "multitask-bo": "1.38 +- 0.06 times the default within 100 steps",
    "clustered-bo": "1.3 times the default after 10 steps",
    "bo": "comparable to clustered after 60 steps",
}
SOURCE = "Alabed and Yoneki, figures 6 and 7"

Reals = NDArray[np.float64]
Curves = Mapping[str, Sequence[Reals]]
"""Of each tuner one curve a seed: the best throughput after each step."""


def alabed_tuners(settings: Settings) -> list[Claim]:
    """Compares tuners on alabed-text; `--tuners` names others, `--steps` and `--seeds` change how long."""
    quick = settings.quick
    tuners = ["random", "tpe"] if quick else str(settings.extra["tuners"]).split(",")
    steps, seeds = (3, 3) if quick else (int(settings.extra["steps"]), int(settings.extra["seeds"]))
    with tempfile.TemporaryDirectory() as scratch:
        ledger = str(settings.extra["ledger"]) or str(Path(scratch) / "ledger.sqlite")
        found = api.compare(
            tuners,
            [WORKLOAD],
            seeds,
            space=SPACE,
            device=str(settings.extra["device"]),
            scale=format_scale(settings.scale),
            budget=f"{steps * TRIAL_S / settings.scale}s",
            seed=settings.seed,
            study="alabed-tuners",
            ledger=ledger,
            out=(settings.out or Path(scratch)) / "comparison",
        )
        with open_ledger(ledger) as opened:
            curves = {tuner: _curves(found, tuner, opened) for tuner in found["tuners"]}
            engine = opened.study(found["runs"][0]["study"]).engine_version
    named = {Path(tuner).stem: each for tuner, each in curves.items()}
    best = max(float(curve.max()) for each in named.values() for curve in each)
    _write(settings, named, best)
    verified = {Path(run["tuner"]).stem: [] for run in found["runs"]}  # type: dict[str, list[float]]
    for run in found["runs"]:
        if not math.isnan(run["verified"]):
            verified[Path(run["tuner"]).stem].append(run["verified"])
    claims = [
        *_shares(named, best, settings),
        *_verified(verified),
        *_speed(named),
        *_best_of_all(verified),
    ]
    return [replace(claim, engine=engine, device=str(settings.extra["device"])) for claim in claims]


def _curves(found: Mapping[str, Any], tuner: str, ledger: Ledger) -> list[Reals]:
    """Returns the best throughput after each trial of a tuner's searches; 0 while all have failed."""
    curves = []
    for run in found["runs"]:
        if run["tuner"] == tuner:
            records = ledger.trials(ledger.study(run["study"]))
            values = [
                0.0 if record.measurement is None else record.measurement.figures[OBJECTIVE]
                for record in records
                if record.phase == "search"
            ]
            curves.append(np.maximum.accumulate(np.array(values)))
    return curves


def _at(curve: Reals, step: int) -> float:
    return float(curve[min(step, len(curve)) - 1])


def _shares(curves: Curves, best: float, settings: Settings) -> list[Claim]:
    steps = SHOWN_STEPS if not settings.quick else (3,)
    return [
        reported(
            f"{tuner}_share_after_{step}_steps",
            SOURCE,
            "share of the best known throughput; median, minimum, maximum",
            median_spread([_at(curve, step) / best for curve in each]),
            PAPER.get(tuner),
            engine="",
            device="",
        )
        for tuner, each in curves.items()
        for step in steps
    ]


def _verified(verified: Mapping[str, Sequence[float]]) -> list[Claim]:
    return [
        reported(
            f"{tuner}_verified",
            "Alabed and Yoneki, figure 6",
            "ratio of throughput to the default, fresh runs; median, minimum, maximum",
            median_spread(ratios),
            PAPER.get(tuner),
            engine="",
            device="",
        )
        for tuner, ratios in verified.items()
        if ratios
    ]


def _speed(curves: Curves) -> list[Claim]:
    """Clustered after 10 steps against single-task after 30."""
    if not {"clustered-bo", "bo"} <= {*curves}:
        return []
    after_10 = [_at(curve, 10) for curve in curves["clustered-bo"]]
    after_30 = float(np.median([_at(curve, 30) for curve in curves["bo"]]))
    measured = median_spread([each / after_30 for each in after_10])
    return [
        Claim(
            "clustered_after_10_over_single_task_after_30",
            SOURCE,
            "ratio of throughput; median, minimum, maximum",
            ">= 1",
            measured,
            measured.value >= 1,
            "10 steps against 60",
        )
    ]


def _best_of_all(verified: Mapping[str, Sequence[float]]) -> list[Claim]:
    """Whether multi-task's verified results are the best, or within the interval of the best."""
    if not verified.get("multitask-bo"):
        return []
    means = {tuner: float(np.mean(np.log(ratios))) for tuner, ratios in verified.items() if ratios}
    leader = max(means, key=lambda tuner: means[tuner])
    pairs = zip(verified["multitask-bo"], verified[leader], strict=False)
    measured = mean_interval([math.log(own / other) for own, other in pairs])
    return [
        Claim(
            "multitask_over_the_best",
            "Alabed and Yoneki, figure 6",
            f"log ratio of verified throughput to that of {leader}, the best",
            "interval reaches 0",
            measured,
            measured.high >= 0,
        )
    ]


def _write(settings: Settings, curves: Curves, best: float) -> None:
    if settings.out is None:
        return
    rows = [
        {
            "tuner": tuner,
            "seed": settings.seed + number,
            "step": step,
            "best_throughput_ops_s": f"{value:.6g}",
        }
        for tuner, each in curves.items()
        for number, curve in enumerate(each)
        for step, value in enumerate(curve.tolist(), 1)
    ]
    write_csv(settings.out / "curves.csv", rows)
    traces = []
    for tuner, each in curves.items():
        length = min(map(len, each))
        median = np.median([curve[:length] for curve in each], axis=0) / best
        traces.append(lines(tuner, list(range(1, length + 1)), median.tolist()))
    panel = Panel("Best so far, median of all seeds", "steps", "share of the best known throughput", traces)
    write_figure(settings, f"{WORKLOAD} at {format_scale(settings.scale)}", [panel])


if __name__ == "__main__":
    main(
        "alabed_tuners",
        alabed_tuners,
        scale=256,
        extra={
            "tuners": ",".join(TUNERS),
            "steps": 100,
            "seeds": 5,
            "device": "ssd-100mb",
            "ledger": "",
        },
    )
