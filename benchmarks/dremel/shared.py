"""Shared code of Dremel's benchmarks: settings, searches without a proof, and fresh runs."""

import math
import tempfile
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import numpy as np

from benchmarks.common.claims import (
    Claim,
    Measured,
    Settings,
    ratio_interval,
    reported,
)
from rocktune.engine import Engine
from rocktune.errors import UserError
from rocktune.ledger import Ledger, TrialRecord, open_ledger
from rocktune.objective import Objective
from rocktune.study import Observer, StudySpec, kept_trials, make_request, resolve
from rocktune.study.executors import executor_of
from rocktune.study.measuring.interrupt import Interrupt
from rocktune.study.measuring.loop import Loop
from rocktune.study.proving.best import finalists
from rocktune.study.proving.verification import Runs, interleaved
from rocktune.study.seeds import PROVE, seed_of
from rocktune.study.specs.problem import problem_of
from rocktune.study.specs.request import FULL_SIZE_BUDGET_S
from rocktune.trial import Configuration, Experiment, Measurement, Result
from rocktune.tuners import Problem, tuner_named
from rocktune.units import format_scale
from rocktune.workload.dremel_settings import DremelSetting, dremel_settings

FINAL_AGE_S = 120.0
"""Seconds at full size that the paper runs a recommended configuration."""
COMMON_SETTINGS = "dremel-n-skew0.3-30get,dremel-n-skew0.3-90get,dremel-y-skew0.9-30get"
"""Write-heavy, read-heavy and preloaded: the default of `--settings` where the paper has all 18."""
QUICK_BUDGET_S = 1200.0
QUICK_POOL = 2000
THROUGHPUT = "throughput_ops_s"
READ_LATENCY = "read_latency_us_p99"

Rows = list[dict[str, Any]]


def chosen_settings(settings: Settings) -> list[DremelSetting]:
    """Returns the settings that the flag `--settings` names; with `--quick` only the first.

    Names are separated by commas; "all" means all 18. The name of a workload means that workload on
    `ssd-100mb`.
    """
    known = {setting.name: setting for setting in dremel_settings()}
    named = str(settings.extra["settings"])
    names = list(known) if named == "all" else named.split(",")
    chosen = [known.get(name, DremelSetting(name, name, "ssd-100mb")) for name in names]
    return chosen[:1] if settings.quick else chosen


@dataclass(frozen=True)
class Search:
    """A finished search.

    Attributes:
        rng_seed: seed of the tuner's random numbers.
        tuner_settings: settings of the tuner that differ from its defaults.
        problem: problem given to the tuner.
        trials: recorded trials in the order of measuring.
    """

    rng_seed: int
    tuner_settings: Mapping[str, Any]
    problem: Problem
    trials: Sequence[TrialRecord]

    @property
    def measured_s(self) -> float:
        """Seconds of measuring of the search, at its scale."""
        return math.fsum(trial.measured_s for trial in self.trials)

    @property
    def best(self) -> Configuration:
        """Configuration that the search recommends in the end."""
        return leaders(self.trials, self.problem.objective)[-1][1]

    @property
    def first_trials(self) -> list[TrialRecord]:
        """First trial of each configuration in the order of measuring; all have the same age."""
        found: dict[Configuration, TrialRecord] = {}
        for trial in self.trials:
            found.setdefault(trial.trial.configuration, trial)
        return list(found.values())


def leaders(trials: Sequence[TrialRecord], objective: Objective) -> list[tuple[float, Configuration]]:
    """Returns what a search would have recommended if it had ended after any of its batches.

    Within a batch runs differ in age, so they cannot be compared.

    Args:
        trials: trials of one search in the order of measuring.
        objective: objective that ranks them.

    Returns:
        Seconds of measuring until then, and the configuration, for each change of the recommendation.

    Raises:
        UserError: all trials failed.
    """
    found: list[tuple[float, Configuration]] = []
    results: list[Result] = []
    spent_s = 0.0
    for position, trial in enumerate(trials):
        results.append(trial.result)
        spent_s += trial.measured_s
        if position + 1 < len(trials) and trials[position + 1].batch == trial.batch:
            continue
        best = finalists(results, objective, 1)
        if best and (not found or found[-1][1] != best[0]):
            found.append((spent_s, best[0]))
    if not found:
        raise UserError(f"every trial of the search failed: {trials[-1].message}")
    return found


class Bench:
    """One of Dremel's settings on one engine. Equal runs are measured once.

    Attributes:
        setting: the setting.
        workload: workload of the setting.
        problem: problem given to tuners.
        guide: the tuning guide's configuration, the reference of all comparisons.
    """

    def __init__(
        self,
        engine: Engine,
        ledger: Ledger,
        setting: DremelSetting,
        settings: Settings,
        threads: int | None = None,
        part: str = "",
    ) -> None:
        """Creates a bench; see `bench_of`."""
        self.setting = setting
        self._engine = engine
        self._ledger = ledger
        self._settings = settings
        self._threads = threads
        self._part = part
        self._searches = 0
        spec = self._spec("fresh", {})
        self.workload = spec.workload
        self.problem = problem_of(spec)
        self.guide = self.problem.baseline
        self._fresh = self._loop(spec, self.problem)

    def search(
        self,
        tuner: str = "dremel",
        objective: str = THROUGHPUT,
        budget_s: float | None = None,
        tuner_settings: Mapping[str, Any] | None = None,
    ) -> Search:
        """Runs a search without verification.

        Args:
            tuner: name of the tuner.
            objective: name of the objective.
            budget_s: seconds of measuring at full size; by default the paper's 2,325, and in a smoke run the
                time of Dremel's arms without further rounds.
            tuner_settings: settings of the tuner by name.
        """
        self._searches += 1
        if budget_s is None:
            budget_s = QUICK_BUDGET_S if self._settings.quick else FULL_SIZE_BUDGET_S
        given = {
            "tuner": tuner,
            "objective": objective,
            "budget": budget_s / self._settings.scale,
            "tuner_settings": {**self._quick_settings(tuner), **(tuner_settings or {})},
        }
        spec = self._spec(f"search-{self._searches}", given)
        problem = problem_of(spec)
        rng_seed = seed_of(spec.seed, "tuner")
        rng = np.random.default_rng(rng_seed)
        search = tuner_named(spec.tuner, spec.tuner_settings).search(problem, rng)
        self._loop(spec, problem).run("search", search, continues_runs=True)
        self._settings.say(f"{self.setting.name}: searched with {tuner} for {objective}")
        trials = kept_trials(self._ledger, self._ledger.study(spec.name))
        return Search(rng_seed, spec.tuner_settings, problem, trials)

    def fresh(
        self, configurations: Iterable[Configuration], repeats: int, full_size_s: float = FINAL_AGE_S
    ) -> Runs:
        """Measures configurations in fresh interleaved runs, with seeds that no search used.

        Args:
            configurations: configurations to run; equal ones are run once.
            repeats: runs of each; runs of equal number share their seed and form pairs.
            full_size_s: length of each run in seconds at full size.
        """
        replicates = range(PROVE, PROVE + repeats)
        age_s = full_size_s / self._settings.scale
        runs = self._fresh.run("fresh", interleaved(configurations, replicates, age_s), continues_runs=False)
        self._settings.say(f"{self.setting.name}: ran {len(runs)} configurations {repeats} times")
        return runs

    def reported(
        self, name: str, source: str, unit: str, measured: Measured, paper: float | str | None = None
    ) -> Claim:
        """Returns a claim about this setting without a target; the claim's name includes the setting."""
        engine, device = self._engine.version, self.setting.device
        name = f"{self.setting.name}_{name}"
        return reported(name, source, unit, measured, paper, engine=engine, device=device)

    def _quick_settings(self, tuner: str) -> dict[str, Any]:
        return {"pool": QUICK_POOL} if self._settings.quick and tuner == "dremel" else {}

    def _spec(self, name: str, given: Mapping[str, Any]) -> StudySpec:
        conditions = {"workload": self.setting.workload, "device": self.setting.device}
        scale = {"scale": format_scale(self._settings.scale), "seed": self._settings.seed}
        # Names must be unique in a ledger that a script continues with.
        parts = (self.setting.name, self._part, f"{self._threads or ''}", f"seed-{self._settings.seed}", name)
        study = "-".join(filter(None, parts))
        spec = resolve(make_request({"protocol": "short", **conditions, **scale, **given}), study)
        if self._threads is None:
            return spec
        return spec.model_copy(
            update={"workload": spec.workload.model_copy(update={"threads": self._threads})}
        )

    def _loop(self, spec: StudySpec, problem: Problem) -> Loop:
        experiment = Experiment(spec.workload, spec.device, spec.scale, problem.space)
        objective = problem.objective

        def score(window: Measurement) -> float:
            value = objective.direction(objective.primary) * window.figures[objective.primary]
            return -math.inf if math.isnan(value) else value

        study = self._ledger.create_study(spec.name, spec.model_dump(mode="json"), self._engine.version)
        return Loop(
            executor_of(self._engine),
            lambda configuration, replicate: (experiment, configuration, seed_of(spec.seed, replicate)),
            score,
            self._ledger,
            study,
            Observer(),
            Interrupt(Observer()),
        )


@contextmanager
def bench_of(
    engine: Engine, setting: DremelSetting, settings: Settings, threads: int | None = None, part: str = ""
) -> Iterator[Bench]:
    """Yields a bench.

    Its ledger is that of the flag `--ledger`, with which an interrupted script continues, or one that is
    removed at the end.

    Args:
        engine: the engine.
        setting: the setting.
        settings: flags of the script.
        threads: number of threads in place of the workload's 16.
        part: tells apart benches of one script that have the same setting, seed and threads.
    """
    given = str(settings.extra.get("ledger", ""))
    with (
        tempfile.TemporaryDirectory(prefix="rocktune-benchmark-") as scratch,
        open_ledger(given or f"sqlite:///{scratch}/ledger.sqlite") as ledger,
    ):
        yield Bench(engine, ledger, setting, settings, threads, part)


def paired(runs: Runs, field: str, above: Configuration, below: Configuration) -> Measured:
    """Returns the ratio of a figure between two configurations, over the pairs without failures.

    Raises:
        UserError: there is no such pair.
    """
    pairs = zip(runs[above], runs[below], strict=True)
    ratios = [first.figure(field) / second.figure(field) for first, second in pairs]
    known = [ratio for ratio in ratios if not math.isnan(ratio)]
    if not known:
        messages = [result.message for result in (*runs[above], *runs[below]) if result.message]
        raise UserError(
            f"no pair of runs could be compared: {'; '.join(messages) or field + ' is undefined'}"
        )
    return ratio_interval(known)


def mean_figure(results: Sequence[Result], field: str) -> float:
    """Returns the mean of a figure over successful runs, NaN without any."""
    known = [value for value in (result.figure(field) for result in results) if not math.isnan(value)]
    return math.fsum(known) / len(known) if known else math.nan
