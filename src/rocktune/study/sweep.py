"""Sweeps: measure each configuration of a space, or a sample of them, once into a table."""

import time
from collections.abc import Sequence

import numpy as np

from rocktune.engine import Engine
from rocktune.errors import UserError
from rocktune.ledger import Ledger, StudyRecord
from rocktune.space import Configuration, Space
from rocktune.study import seeds
from rocktune.study.executors import Executor, executor_of
from rocktune.study.measuring.interrupt import Interrupt, StudyInterrupted, continuing_arguments
from rocktune.study.measuring.loop import Loop, StopRequested
from rocktune.study.measuring.observer import Observer
from rocktune.study.measuring.score import equal_score
from rocktune.study.proving.verification import Stage
from rocktune.study.recording import table_of
from rocktune.study.sampling import sampled
from rocktune.study.specs.problem import experiment_of, space_of
from rocktune.study.specs.spec import SweepSpec
from rocktune.table import Table
from rocktune.trial import Batch, Experiment, Result, RunKey, Trial
from rocktune.tuners.hand import hand_set

_OPENING_S = 0.5
_BATCH_RUNS = 120
"""Number of runs in a batch. 120 divides evenly among 2, 3, 4, 5, 6, 8, 10 or 12 workers."""


def run_sweep(
    spec: SweepSpec, engine: Engine | Executor, ledger: Ledger, observer: Observer | None = None
) -> Table:
    """Measures the runs of a sweep that are not recorded yet, and returns the table of all runs.

    Ctrl-C ends it after the trials that are being measured; a second Ctrl-C ends it at once. All recorded
    trials stay.

    Args:
        spec: the sweep.
        engine: an engine, which measures one run at a time, or an executor. It stays open.
        ledger: records all trials.
        observer: is informed of progress; nobody by default.

    Raises:
        StudyInterrupted: the user pressed Ctrl-C.
        UserError: the name is taken in the ledger, another process runs the sweep, or the sweep has a warm-up
            and the engine cannot pause a run.
    """
    if spec.warm_up_s and not engine.can_park:
        raise UserError(
            f"warm-up: engine '{spec.engine.kind}' measures a run as a whole; "
            "have its own program warm up, and leave the warm-up out"
        )
    study = ledger.create_study(spec.name, spec.model_dump(mode="json"), engine.version)
    with ledger.lock(study):
        if study.state != "finished":
            _measure(spec, executor_of(engine), ledger, study, observer or Observer())
            ledger.set_state(study, "finished")
        return table_of(ledger, study)


def runs_of(spec: SweepSpec, space: Space) -> list[RunKey]:
    """Returns the runs of a sweep in random order, so that drift of the machine is not taken for an effect.

    The space's default is repeated at regular intervals as a control, which shows the noise of the table.

    Raises:
        UserError: the space has no grid, or fewer configurations than the sweep's `samples` or its part.
    """
    rng = np.random.default_rng(seeds.seed_of(spec.seed, "sweep"))
    if spec.samples is None:
        grid = space.grid()
        chosen = [grid[index] for index in rng.permutation(len(grid))]
    else:
        chosen = sampled(space, spec.samples, rng, "samples", "leave it out to measure all of them")
    if spec.hand:
        by_hand = [each.configuration for each in hand_set(space) if each.configuration is not None]
        chosen = [each for each in dict.fromkeys([*chosen, *by_hand]) if each != space.default()]
        chosen = [chosen[index] for index in rng.permutation(len(chosen))]
    part, parts = spec.part
    if part > len(chosen):
        raise UserError(
            f"part: {part}/{parts} has no configuration, because there are only {len(chosen)}; "
            "make fewer parts"
        )
    runs: list[RunKey] = []
    for number, configuration in enumerate(chosen[part - 1 :: parts]):
        if number % spec.control_every == 0:
            runs.append((space.default(), seeds.CONTROL + number // spec.control_every))
        runs.append((configuration, seeds.SEARCH))
    return runs


def sweep_s(spec: SweepSpec, runs: int) -> float:
    """Returns the estimated wall seconds of a number of runs, without loading data."""
    return runs * (spec.warm_up_s + spec.measured_s + _OPENING_S)


def _measure(
    spec: SweepSpec, executor: Executor, ledger: Ledger, study: StudyRecord, observer: Observer
) -> None:
    """Measures the runs of a sweep; raises StudyInterrupted at Ctrl-C."""
    space = space_of(spec)
    runs = runs_of(spec, space)
    experiment = experiment_of(spec, space, spec.scale)
    watching = _Counting(observer, spec, len(runs), _whole_runs(spec, ledger, study))
    interrupt = Interrupt(observer)

    def engine_inputs(configuration: Configuration, replicate: int) -> tuple[Experiment, Configuration, int]:
        return experiment.loaded_by(configuration), configuration, seeds.seed_of(spec.seed, replicate)

    loop = Loop(executor, engine_inputs, equal_score, ledger, study, watching, interrupt)
    ledger.set_state(study, "sweep")
    observer.phase_started("sweep", None)
    try:
        with interrupt:
            loop.run("sweep", _swept(spec, runs), continues_runs=False)
    except StopRequested:
        ledger.set_state(study, "interrupted")
        resume = f"rocktune resume {spec.name}{continuing_arguments(ledger, executor)}"
        raise StudyInterrupted(
            spec.name,
            None,
            None,
            resume,
            so_far=f"{watching.done} of {len(runs)} runs are measured.",
        ) from None


def _ages_s(spec: SweepSpec) -> list[float]:
    """Returns the ages in seconds of each run: the warm-up's end, if any, and the run's end."""
    ages_s = [spec.warm_up_s] if spec.warm_up_s else []
    return [*ages_s, spec.warm_up_s + spec.measured_s]


def _whole_runs(spec: SweepSpec, ledger: Ledger, study: StudyRecord) -> int:
    """Returns the number of runs that are recorded up to their last age, without repeats."""
    return sum(_is_run(record.trial, _ages_s(spec)[-1]) for record in ledger.trials(study))


def _is_run(trial: Trial, last_s: float) -> bool:
    """Returns whether a trial is the last one of a run in `runs_of`, not of a repeat."""
    return trial.until_s == last_s and trial.replicate == seeds.original_of(trial.replicate)


def _swept(spec: SweepSpec, runs: Sequence[RunKey]) -> Stage[None]:
    """Measures the runs."""
    for start in range(0, len(runs), _BATCH_RUNS):
        due = runs[start : start + _BATCH_RUNS]
        yield Batch(tuple(Trial(run, age_s, replicate) for run, replicate in due for age_s in _ages_s(spec)))


class _Counting(Observer):
    """Passes events on to another observer, with the run's number and the estimated remaining time added.

    The estimate comes from the mean wall time of a run with its repeats, so delays are not passed on.
    """

    def __init__(self, observer: Observer, spec: SweepSpec, runs: int, done: int) -> None:
        self._observer = observer
        self._runs = runs
        self._run_s = sweep_s(spec, 1)
        self._last_s = _ages_s(spec)[-1]
        self._measured = 0
        self._began_s: float | None = None
        self.done = done

    def trial_started(self, trial: Trial, index: int, of: int) -> None:  # noqa: ARG002 -- counts runs
        if self._began_s is None:
            self._began_s = time.monotonic()
        self._observer.trial_started(trial, self.done, self._runs)
        spent_s = time.monotonic() - self._began_s
        # The estimate comes from the specification until a run of this session has been measured.
        run_s = spent_s / self._measured if self._measured else self._run_s
        self._observer.estimated((self._runs - self.done) * run_s)

    def at_work(self, machines: Sequence[str]) -> None:
        self._observer.at_work(machines)

    def progress(self, phase: str, done: float, total: float) -> None:
        self._observer.progress(phase, done, total)

    def trial_finished(self, result: Result) -> None:
        self._observer.trial_finished(result)
        if _is_run(result.trial, self._last_s):
            self.done += 1
            self._measured += 1

    def note(self, text: str) -> None:
        self._observer.note(text)
