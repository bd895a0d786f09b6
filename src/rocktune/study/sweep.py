"""Sweeps: every configuration of a space, or a sample, measured once; what comes out is a table."""

import time
from collections.abc import Sequence

import numpy as np

from rocktune.engine import Engine
from rocktune.errors import UserError
from rocktune.ledger import Ledger, StudyRecord, default_ledger_url
from rocktune.space import Configuration, Space
from rocktune.study import seeds
from rocktune.study.executors import Executor, executor_of
from rocktune.study.measuring.interrupt import Interrupt, StudyInterrupted
from rocktune.study.measuring.loop import Loop, StopRequested
from rocktune.study.measuring.observer import Observer
from rocktune.study.proving.verification import Stage
from rocktune.study.recording import table_of
from rocktune.study.specs.problem import space_of
from rocktune.study.specs.spec import SweepSpec
from rocktune.table import Table
from rocktune.trial import Batch, Experiment, Measurement, Result, RunKey, Trial

_OPENING_S = 0.5
_DRAWS = 20
_BATCH_RUNS = 120
"""Runs that may be measured at once. As many divide evenly among 2, 3, 4, 5, 6, 8, 10 or 12 workers."""

DISTURBED_SHARE = 0.1
"""A run is measured again if others took more than this share of the processors meanwhile."""
_REPEATS = 2
"""How often at most."""


def run_sweep(
    spec: SweepSpec, engine: Engine | Executor, ledger: Ledger, observer: Observer | None = None
) -> Table:
    """Measures what a sweep asks for, or the rest of it, and returns its table.

    Ctrl-C ends it after the present trials; a second one ends it at once. Everything recorded stays.

    Args:
        spec: what to do.
        engine: measures one run at a time, or an executor several; stays open.
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
            _measure(spec, executor_of(engine), ledger, study, observer or Observer())
            ledger.set_state(study, "finished")
        return table_of(ledger, study)


def runs_of(spec: SweepSpec, space: Space) -> list[RunKey]:
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
    runs: list[RunKey] = []
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


def _measure(
    spec: SweepSpec, executor: Executor, ledger: Ledger, study: StudyRecord, observer: Observer
) -> None:
    space = space_of(spec)
    runs = runs_of(spec, space)
    experiment = Experiment(spec.workload, spec.device, spec.scale, space, spec.base_options or {})
    watching = _Counting(observer, spec, len(runs), _whole_runs(spec, ledger, study))
    interrupt = Interrupt(
        lambda: observer.note("Ending after what is being measured; Ctrl-C again ends at once.")
    )

    def opening(configuration: Configuration, replicate: int) -> tuple[Experiment, Configuration, int]:
        seed = seeds.seed_of(spec.seed, seeds.intended(replicate))
        return experiment.loaded_by(configuration), configuration, seed

    loop = Loop(executor, opening, _equal, ledger, study, watching, interrupt)
    ledger.set_state(study, "sweep")
    observer.phase_started("sweep", None)
    try:
        with interrupt:
            stage = _swept(spec, runs, may_repeat=not executor.is_parallel, observer=observer)
            loop.run("sweep", stage, continues_runs=False)
    except StopRequested:
        ledger.set_state(study, "interrupted")
        where = "" if ledger.url == default_ledger_url() else f" --ledger {ledger.url}"
        where += f" {executor.arguments}" if executor.arguments else ""
        raise StudyInterrupted(
            spec.name,
            None,
            None,
            f"rocktune resume {spec.name}{where}",
            so_far=f"{watching.done} of {len(runs)} runs are measured.",
        ) from None


def _equal(_: Measurement) -> float:
    """No run is given up for another one."""
    return 0.0


def _ages_s(spec: SweepSpec) -> list[float]:
    ages_s = [spec.warm_up_s] if spec.warm_up_s else []
    return [*ages_s, spec.warm_up_s + spec.measured_s]


def _whole_runs(spec: SweepSpec, ledger: Ledger, study: StudyRecord) -> int:
    """Returns how many runs are recorded to their end."""
    return sum(_is_run(record.trial, _ages_s(spec)[-1]) for record in ledger.trials(study))


def _is_run(trial: Trial, last_s: float) -> bool:
    """Says whether a run that is asked for ends with a trial; repeats are not asked for."""
    return trial.until_s == last_s and trial.replicate == seeds.intended(trial.replicate)


def _swept(spec: SweepSpec, runs: list[RunKey], may_repeat: bool, observer: Observer) -> Stage[None]:
    """Measures the runs, and those that were disturbed again; each is over before its worker begins another.

    Several workers disturb each other as a matter of course, so that there nothing is repeated.
    """
    ages_s = _ages_s(spec)
    for start in range(0, len(runs), _BATCH_RUNS):
        due = runs[start : start + _BATCH_RUNS]
        for repeats_left in range(_REPEATS if may_repeat else 0, -1, -1):
            trials = [Trial(run, age_s, replicate) for run, replicate in due for age_s in ages_s]
            results = yield Batch(tuple(trials))
            measured, due = len(due), _disturbed(results, ages_s[-1])
            if not due or not repeats_left:
                break
            observer.note(
                f"{len(due)} of {measured} runs were disturbed, since other work took more than "
                f"{DISTURBED_SHARE:.0%} of the processors: they are measured again."
            )


def _disturbed(results: Sequence[Result], last_s: float) -> list[RunKey]:
    """Returns what is to be measured again."""
    return [
        (result.trial.configuration, seeds.again(result.trial.replicate))
        for result in results
        if result.trial.until_s == last_s and result.figure("others_cpu_share") > DISTURBED_SHARE
    ]


class _Counting(Observer):
    """Tells another observer which run of how many is measured, and how long the rest will take."""

    def __init__(self, told: Observer, spec: SweepSpec, runs: int, done: int) -> None:
        self._told = told
        self._runs = runs
        self._run_s = sweep_s(spec, 1)
        self._last_s = _ages_s(spec)[-1]
        self._measured = 0
        self._began_s: float | None = None
        self.done = done

    def trial_started(self, trial: Trial, index: int, of: int) -> None:  # noqa: ARG002 -- counts runs
        if self._began_s is None:
            self._began_s = time.monotonic()
        self._told.trial_started(trial, self.done, self._runs)
        spent_s = time.monotonic() - self._began_s
        run_s = spent_s / self._measured if self._measured else self._run_s
        self._told.estimated((self._runs - self.done) * run_s)

    def at_work(self, machines: Sequence[str]) -> None:
        self._told.at_work(machines)

    def progress(self, phase: str, done: float, total: float) -> None:
        self._told.progress(phase, done, total)

    def trial_finished(self, result: Result) -> None:
        self._told.trial_finished(result)
        if _is_run(result.trial, self._last_s):
            self.done += 1
            self._measured += 1

    def note(self, text: str) -> None:
        self._told.note(text)
