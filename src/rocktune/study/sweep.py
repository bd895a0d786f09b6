"""Sweeps: every configuration of a space, or a sample, measured once; what comes out is a table."""

import time

import numpy as np

from rocktune.engine import Engine
from rocktune.errors import UserError
from rocktune.ledger import Ledger, StudyRecord, default_ledger_url
from rocktune.space import Configuration, Space
from rocktune.study import seeds
from rocktune.study.interrupt import Interrupt, StudyInterrupted
from rocktune.study.loop import Loop, StopRequested
from rocktune.study.observer import Observer
from rocktune.study.problem import space_of
from rocktune.study.recording import table_of
from rocktune.study.spec import SweepSpec
from rocktune.study.verification import Stage
from rocktune.table import Table
from rocktune.trial import Batch, Experiment, Measurement, Result, Trial

_OPENING_S = 0.5
_DRAWS = 20
_KEEP_ONE = 1 << 62

RunOf = tuple[Configuration, int]
"""What is measured: a configuration and a replicate."""


def run_sweep(spec: SweepSpec, engine: Engine, ledger: Ledger, observer: Observer | None = None) -> Table:
    """Measures what a sweep asks for, or the rest of it, and returns its table.

    Ctrl-C ends it after the present run; a second one ends it at once. Everything recorded stays.

    Args:
        spec: what to do.
        engine: opens the runs; stays open.
        ledger: records everything.
        observer: is told what happens.

    Raises:
        StudyInterrupted: Ctrl-C.
        UserError: the name belongs to something else, another process runs it, or a warm-up is asked of an
            engine that cannot go on with a run.
    """
    if spec.warm_up_s and not engine.can_park:
        raise UserError(
            f"warm-up: engine '{spec.engine.kind}' measures a run as a whole; "
            "let its own program warm up, and leave this out"
        )
    study = ledger.create_study(spec.name, spec.model_dump(mode="json"), engine.version)
    with ledger.lock(study):
        if study.state != "finished":
            _measure(spec, engine, ledger, study, observer or Observer())
            ledger.set_state(study, "finished")
        return table_of(ledger, study)


def runs_of(spec: SweepSpec, space: Space) -> list[RunOf]:
    """Returns what a sweep measures, in random order, lest drift of the machine pass for an effect.

    The space's default comes again and again as the control: how its figures differ is the table's noise.

    Raises:
        UserError: the space has no grid, or fewer configurations than are to be drawn.
    """
    rng = np.random.default_rng(seeds.seed_of(spec.seed, "sweep"))
    if spec.samples is None:
        grid = space.grid()
        chosen = [grid[place] for place in rng.permutation(len(grid))]
    else:
        chosen = _sampled(space, spec.samples, rng)
    part, parts = spec.part
    runs: list[RunOf] = []
    for number, configuration in enumerate(chosen[part - 1 :: parts]):
        if number % spec.control_every == 0:
            runs.append((space.default(), seeds.CONTROL + number // spec.control_every))
        runs.append((configuration, seeds.SEARCH))
    return runs


def sweep_s(spec: SweepSpec, runs: int) -> float:
    """Returns the seconds that so many runs take, roughly, without loading."""
    return runs * (spec.warm_up_s + spec.measured_s + _OPENING_S)


def _sampled(space: Space, count: int, rng: np.random.Generator) -> list[Configuration]:
    distinct: dict[Configuration, None] = {}
    for _ in range(_DRAWS):
        distinct |= dict.fromkeys(space.sample(count, rng))
        if len(distinct) >= count:
            return list(distinct)[:count]
    raise UserError(
        f"samples: {count} is more than the {len(distinct)} configurations that space '{space.name}' seems "
        "to have; leave it out for all of them"
    )


def _measure(spec: SweepSpec, engine: Engine, ledger: Ledger, study: StudyRecord, observer: Observer) -> None:
    space = space_of(spec)
    runs = runs_of(spec, space)
    experiment = Experiment(spec.workload, spec.device, spec.scale, space, spec.base_options or {})
    watching = _Counting(observer, spec, len(runs))
    interrupt = Interrupt(lambda: observer.note("Ending after this run; Ctrl-C again ends at once."))

    def opening(configuration: Configuration, replicate: int) -> tuple[Experiment, Configuration, int]:
        seed = seeds.seed_of(spec.seed, replicate)
        return experiment.loaded_by(configuration), configuration, seed

    def score(_: Measurement) -> float:
        return 0.0

    loop = Loop(engine, opening, score, ledger, study, watching, interrupt, _KEEP_ONE)
    ledger.set_state(study, "sweep")
    observer.phase_started("sweep", None)
    try:
        with interrupt:
            loop.run("sweep", _swept(spec, runs, watching), continues_runs=bool(spec.warm_up_s))
    except StopRequested:
        ledger.set_state(study, "interrupted")
        where = "" if ledger.url == default_ledger_url() else f" --ledger {ledger.url}"
        raise StudyInterrupted(
            spec.name,
            None,
            None,
            f"rocktune resume {spec.name}{where}",
            so_far=f"{watching.done} of {len(runs)} runs are measured.",
        ) from None


def _swept(spec: SweepSpec, runs: list[RunOf], watching: "_Counting") -> Stage[None]:
    """Measures one run after the other; a run is given up before the next one is opened."""
    ages_s = [spec.warm_up_s] if spec.warm_up_s else []
    ages_s.append(spec.warm_up_s + spec.measured_s)
    release: tuple[RunOf, ...] = ()
    for configuration, replicate in runs:
        yield Batch(tuple(Trial(configuration, age_s, replicate) for age_s in ages_s), release)
        release = ((configuration, replicate),)
        watching.finished()


class _Counting(Observer):
    """Tells another observer which run of how many is measured, and how long the rest will take."""

    def __init__(self, told: Observer, spec: SweepSpec, runs: int) -> None:
        self._told = told
        self._runs = runs
        self._run_s = sweep_s(spec, 1)
        self._measured = 0
        self._began_s: float | None = None
        self.done = 0

    def trial_started(self, trial: Trial, index: int, of: int) -> None:  # noqa: ARG002 -- counts runs
        if self._began_s is None:
            self._began_s = time.monotonic()
        self._told.trial_started(trial, self.done, self._runs)
        if index == 0:
            spent_s = time.monotonic() - self._began_s
            run_s = spent_s / self._measured if self._measured else self._run_s
            self._told.estimated((self._runs - self.done) * run_s)

    def progress(self, phase: str, done: float, total: float) -> None:
        self._told.progress(phase, done, total)

    def trial_finished(self, result: Result) -> None:
        self._told.trial_finished(result)

    def note(self, text: str) -> None:
        self._told.note(text)

    def finished(self) -> None:
        """The present run is over, measured or found recorded."""
        self.done += 1
        self._measured += self._began_s is not None
