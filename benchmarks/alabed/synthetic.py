"""Compares our Bayesian tuners with BoTorch's tutorial loop on functions whose maximum is known.

Needs BoTorch (pip install rocktune[bo]).
"""

import multiprocessing
import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial

import numpy as np
import torch
from botorch.acquisition import LogExpectedImprovement
from botorch.fit import fit_gpytorch_mll
from botorch.models import SingleTaskGP
from botorch.optim import optimize_acqf
from botorch.test_functions import Hartmann
from gpytorch.mlls import ExactMarginalLogLikelihood
from numpy.typing import NDArray

from benchmarks.common.claims import Claim, Settings, decided, main, mean_interval, ratio_interval, reported
from benchmarks.common.tables import write_csv
from rocktune.objective import objective_named
from rocktune.space import Knob, Space
from rocktune.testing.tuners import drive
from rocktune.trial import Measurement, Result, Status, Trial
from rocktune.tuners import Problem, tuner_named

Reals = NDArray[np.float64]

SEEDS = 10
STEPS = 60
INITIAL = 10
TUTORIAL = "BoTorch's tutorial loop"
OBJECTIVE = "throughput_ops_s"
TASKS = ("write_amplification", "read_amplification", "space_amplification")
MARGIN = 0.3
"""Tolerance of log10 regret: ours may be up to twice theirs."""
NOISE = 0.2
"""Standard deviation of what is seen of the four-task problem's objective; the other tasks have a tenth."""
_LOOP_RESTARTS, _LOOP_RAW_SAMPLES = 10, 512


@dataclass(frozen=True)
class Case:
    """A function over the unit cube to maximise.

    Attributes:
        name: name of the function.
        dimensions: dimensions of the cube.
        best: maximum of the function.
        values: returns, for a point, the true objective first, then the values of the related tasks.
        noise: standard deviations of the observations of these values.
    """

    name: str
    dimensions: int
    best: float
    values: Callable[[Reals], Sequence[float]]
    noise: Sequence[float]


def hartmann6() -> Case:
    """Returns the six-dimensional Hartmann function, without noise."""
    function = Hartmann(dim=6, negate=True)
    return Case("hartmann6", 6, 3.32237, lambda point: [_value(function, point)], [0.0])


def four_tasks(seed: int, opposed: bool) -> Case:
    """Returns noisy Hartmann-6 with three mixtures of it and of similar functions as further tasks.

    The intrinsic coregionalization model assumes exactly this: tasks are sums of the same hidden functions.

    Args:
        seed: seed of the mixtures.
        opposed: whether the mixtures contradict the objective, as write amplification can.
    """
    sign = -1 if opposed else 1
    function, rng = Hartmann(dim=6, negate=True), np.random.default_rng(seed)
    orders = [rng.permutation(6) for _ in range(3)]

    def values(point: Reals) -> list[float]:
        main_value = _value(function, point)
        others = [_value(function, point[order]) for order in orders]
        return [main_value, *(sign * 0.8 * main_value + 0.2 * other for other in others)]

    name = "opposed_tasks" if opposed else "four_tasks"
    return Case(name, 6, 3.32237, values, [NOISE, NOISE / 10, NOISE / 10, NOISE / 10])


def _value(function: Hartmann, point: Reals) -> float:
    return float(function(torch.tensor(point, dtype=torch.float64)))


def regrets_of_tuner(case: Case, name: str, steps: int, seed: int) -> list[float]:
    """Returns the difference between the maximum and the best point so far, after each step."""
    knobs = tuple(Knob(f"x{i}", "cf", "ratio", 0.0, "", low=0.0, high=1.0) for i in range(case.dimensions))
    space = Space(case.name, "a test function", knobs, memory_bytes=1 << 30)
    problem = Problem(
        space=space,
        objective=objective_named(OBJECTIVE),
        scale=1,
        budget_s=steps * 120.0,
        baseline=space.default(),
        expected_entries=1.0,
        entry_bytes=1.0,
    )
    noise, true = np.random.default_rng([seed, 1]), []

    def respond(trial: Trial) -> Result:
        point = np.array([float(trial.configuration[knob.name]) for knob in knobs])
        values = case.values(point)
        true.append(values[0])
        seen = [value + noise.normal(0, std) for value, std in zip(values, case.noise, strict=True)]
        # Less is better in a task's own figure; throughputs are above 0.
        figures = {OBJECTIVE: 10.0 + seen[0]} | dict(
            zip(TASKS, (10.0 - each for each in seen[1:]), strict=False)
        )
        raw = {"from_s": 0.0, "until_s": trial.until_s, "figures": figures}
        return Result(trial, Status.OK, Measurement(raw))

    settings = {"initial": INITIAL} | ({"tasks": list(TASKS)} if name == "multitask-bo" else {})
    drive(tuner_named(name, settings).search(problem, np.random.default_rng(seed)), respond)
    return [float(case.best - each) for each in np.maximum.accumulate(true)]


def regrets_of_tutorial(case: Case, steps: int, seed: int) -> list[float]:
    """Returns the regrets of BoTorch's tutorial loop: SingleTaskGP, LogEI, 10 restarts and 512 samples."""
    torch.set_num_threads(1)
    torch.manual_seed(seed)
    rng, noise = np.random.default_rng(seed), np.random.default_rng([seed, 1])
    points = rng.uniform(size=(INITIAL, case.dimensions))
    true = [case.values(point)[0] for point in points]
    seen = [value + noise.normal(0, case.noise[0]) for value in true]
    bounds = torch.tensor([[0.0] * case.dimensions, [1.0] * case.dimensions], dtype=torch.float64)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for _ in range(steps - INITIAL):
            model = SingleTaskGP(torch.tensor(points), torch.tensor(seen, dtype=torch.float64).unsqueeze(-1))
            fit_gpytorch_mll(ExactMarginalLogLikelihood(model.likelihood, model))
            acquisition = LogExpectedImprovement(model, best_f=max(seen))
            found, _ = optimize_acqf(
                acquisition, bounds, q=1, num_restarts=_LOOP_RESTARTS, raw_samples=_LOOP_RAW_SAMPLES
            )
            points = np.vstack([points, found.detach().numpy()])
            true.append(case.values(points[-1])[0])
            seen.append(true[-1] + noise.normal(0, case.noise[0]))
    return [float(case.best - each) for each in np.maximum.accumulate(true)]


def _regrets(task: tuple[str, str, int], steps: int) -> list[float]:
    case_name, name, seed = task
    case = hartmann6() if case_name == "hartmann6" else four_tasks(seed, case_name == "opposed_tasks")
    return (
        regrets_of_tutorial(case, steps, seed)
        if name == TUTORIAL
        else regrets_of_tuner(case, name, steps, seed)
    )


def synthetic(settings: Settings) -> list[Claim]:
    """Measures the regret on Hartmann-6, and the steps to equal regret on four tasks, with 10 seeds."""
    seeds, steps = (2, 14) if settings.quick else (SEEDS, STEPS)
    programs = {
        "hartmann6": (TUTORIAL, "bo"),
        "four_tasks": (TUTORIAL, "bo", "multitask-bo"),
        "opposed_tasks": ("bo", "multitask-bo"),
    }
    tasks = [
        (case, name, settings.seed + number)
        for number in range(seeds)
        for case, names in programs.items()
        for name in names
    ]
    found: dict[tuple[str, str, int], list[float]] = {}
    with multiprocessing.get_context("spawn").Pool(2) as pool:
        for task, regrets in zip(tasks, pool.imap(partial(_regrets, steps=steps), tasks), strict=True):
            found[task] = regrets
            settings.say(f"{task}: regret {regrets[-1]:.4g} after {steps} steps")
    if settings.out is not None:
        rows = [
            {"case": case, "program": name, "seed": seed, "step": step, "regret": regret}
            for (case, name, seed), regrets in found.items()
            for step, regret in enumerate(regrets, 1)
        ]
        write_csv(settings.out / "regrets.csv", rows)
    return [
        *(_no_worse(found, case) for case, names in programs.items() if TUTORIAL in names),
        _fewer_steps(found, "four_tasks", "multitask_steps_over_single_task"),
        _fewer_steps(found, "opposed_tasks", "opposed_multitask_steps_over_single_task"),
    ]


def _no_worse(found: dict[tuple[str, str, int], list[float]], case: str) -> Claim:
    ours, theirs = (_finals(found, case, name) for name in ("bo", TUTORIAL))
    measured = mean_interval((np.log10(ours) - np.log10(theirs)).tolist())
    claim = reported(
        f"bo_regret_on_{case}",
        TUTORIAL,
        "difference of log10 regret, ours - theirs",
        measured,
        engine="none",
        device="none",
    )
    medians = f"Median regret ours {np.median(ours):.3g}, theirs {np.median(theirs):.3g}"
    return replace(decided(claim, high=MARGIN, why=medians), scale="none")


def _finals(found: dict[tuple[str, str, int], list[float]], case: str, name: str) -> Reals:
    return np.array([max(each[-1], 1e-6) for key, each in found.items() if key[:2] == (case, name)])


def _fewer_steps(found: dict[tuple[str, str, int], list[float]], of: str, claimed: str) -> Claim:
    """Returns multi-task's steps on a case to single-task's final regret, over single-task's steps."""
    shares = []
    for (case, name, seed), regrets in found.items():
        if (case, name) == (of, "bo"):
            other = found[case, "multitask-bo", seed]
            own_steps = 1 + int(np.argmax(np.array(regrets) <= regrets[-1]))
            reached = np.array(other) <= regrets[-1]
            steps = 1 + int(np.argmax(reached)) if reached.any() else len(other)
            shares.append(steps / own_steps)
    claim = reported(
        claimed,
        "multi-task against single-task",
        "ratio of steps until single-task's last regret; a search that misses it counts all its steps",
        ratio_interval(shares),
        engine="none",
        device="none",
    )
    return replace(decided(claim, high=1), scale="none")


if __name__ == "__main__":
    main("alabed.synthetic", synthetic)
