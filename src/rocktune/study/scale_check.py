"""Checks a scale: measures configurations at two models and compares how these rank them."""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from rocktune.engine import Engine
from rocktune.errors import UserError
from rocktune.ledger import Ledger, StudyRecord
from rocktune.outcome import ScaleCheck
from rocktune.space import Configuration, Space
from rocktune.study import seeds
from rocktune.study.executors import Executor, executor_of
from rocktune.study.measuring.interrupt import Interrupt, StudyInterrupted, continuing_arguments
from rocktune.study.measuring.kept import KeptTrial, kept_trials
from rocktune.study.measuring.loop import Loop, StopRequested
from rocktune.study.measuring.observer import Observer
from rocktune.study.measuring.score import equal_score
from rocktune.study.openings import searched_workload
from rocktune.study.proving.ranking import FOREMOST, ROUNDS, Ranking, regret
from rocktune.study.proving.verification import Stage
from rocktune.study.sampling import sampled
from rocktune.study.specs.problem import experiment_of, space_of
from rocktune.study.specs.spec import MIN_CHECKED, ScaleCheckSpec
from rocktune.trial import Batch, Experiment, Result, Trial
from rocktune.units import format_scale

RANK, CHOOSE = "rank", "choose"
"""Phases: each configuration once at both models, then the foremost ones again."""
_OPENING_S = 0.5


def run_scale_check(
    spec: ScaleCheckSpec, engine: Engine | Executor, ledger: Ledger, observer: Observer | None = None
) -> ScaleCheck:
    """Measures the runs of a scale check that are not recorded yet, and returns its result from all runs.

    Ctrl-C ends it after the trials that are being measured; a second Ctrl-C ends it at once. All recorded
    trials stay.

    Args:
        spec: the check.
        engine: an engine, which measures one run at a time, or an executor. It stays open.
        ledger: records all trials.
        observer: is informed of progress; nobody by default.

    Raises:
        StudyInterrupted: the user pressed Ctrl-C.
        UserError: the name is taken in the ledger, another process runs the check, or the space has too few
            configurations.
    """
    configurations = configurations_of(spec, space_of(spec))
    study = ledger.create_study(spec.name, spec.model_dump(mode="json"), engine.version)
    with ledger.lock(study):
        if study.state != "finished":
            _measure(spec, configurations, executor_of(engine), ledger, study, observer or Observer())
            ledger.set_state(study, "finished")
        return scale_check_of(spec, ledger, ledger.study(spec.name))


def scale_check_of(spec: ScaleCheckSpec, ledger: Ledger, study: StudyRecord) -> ScaleCheck:
    """Returns the result from the recorded runs of a scale check.

    Raises:
        UserError: the check is not finished.
    """
    if study.state != "finished":
        raise UserError(f"study '{study.name}' is not finished; 'rocktune resume {study.name}' continues it")
    records = kept_trials(ledger, study)
    ranked, chosen = (_results_of(records, phase) for phase in (RANK, CHOOSE))
    ranking = Ranking.of(spec.objective, ranked)
    return ScaleCheck(
        workload=spec.workload.name,
        device=spec.device.name,
        space=space_of(spec).name,
        engine=study.engine_version,
        protocol=spec.protocol,
        figure=spec.objective,
        scale=format_scale(spec.scale),
        larger_scale=format_scale(spec.larger_scale),
        configurations=len(ranking.compared),
        failed=spec.configurations - len(ranking.compared),
        disturbed=sum(record.disturbed for record in records),
        correlation=ranking.correlation,
        regret=regret(spec.objective, chosen),
        foremost=ranking.described(chosen),
    )


def configurations_of(spec: ScaleCheckSpec, space: Space) -> list[Configuration]:
    """Returns the configurations of a check in random order: the space's default, and others drawn at random.

    Raises:
        UserError: the space has fewer than the check's number.
    """
    rng = np.random.default_rng(seeds.seed_of(spec.seed, "scale check"))
    mend = f"check a space with more; {MIN_CHECKED} are needed"
    drawn = sampled(space, spec.configurations, rng, "configurations", mend)
    default = space.default()
    others = [each for each in drawn if each != default][: spec.configurations - 1]
    return [[default, *others][index] for index in rng.permutation(spec.configurations)]


def scale_check_s(spec: ScaleCheckSpec) -> float:
    """Returns the maximum wall seconds of a check's runs without repeats, and without loading data."""
    # The foremost configurations of the larger model may all be others than those of the checked one.
    small, larger = spec.configurations + ROUNDS * FOREMOST, spec.configurations + 2 * ROUNDS * FOREMOST
    return small * _run_s(spec, False) + larger * _run_s(spec, True)


def runs_at_most(spec: ScaleCheckSpec) -> int:
    """Returns the maximum number of a check's runs without repeats."""
    return 2 * spec.configurations + 3 * ROUNDS * FOREMOST


def _run_s(spec: ScaleCheckSpec, larger: bool) -> float:
    """Returns the estimated wall seconds of a run."""
    return _age_s(spec, larger) + _OPENING_S


def _age_s(spec: ScaleCheckSpec, larger: bool) -> float:
    """Returns the age in seconds at which runs end at the checked or the larger model."""
    return spec.age_s(spec.run_s, spec.larger_scale if larger else spec.scale)


def _results_of(records: Sequence[KeptTrial], phase: str) -> list[Result]:
    """Returns the results of a phase."""
    return [record.result for record in records if record.phase == phase]


def _measure(
    spec: ScaleCheckSpec,
    configurations: Sequence[Configuration],
    executor: Executor,
    ledger: Ledger,
    study: StudyRecord,
    observer: Observer,
) -> None:
    """Measures the runs of a check; raises StudyInterrupted at Ctrl-C."""
    interrupt = Interrupt(observer)
    loop = Loop(executor, _Openings(spec).engine_inputs, equal_score, ledger, study, observer, interrupt)
    recorded = kept_trials(ledger, study)
    spent_s = sum(_run_s(spec, seeds.is_larger(record.trial.replicate)) for record in recorded)
    observer.estimated(max(0.0, scale_check_s(spec) - spent_s))
    try:
        with interrupt:
            _enter(RANK, ledger, study, observer)
            ranking = loop.run(RANK, _ranked(spec, configurations), continues_runs=False)
            _enter(CHOOSE, ledger, study, observer)
            loop.run(CHOOSE, _chosen(spec, ranking), continues_runs=False, paired=True)
    except StopRequested:
        ledger.set_state(study, "interrupted")
        resume = f"rocktune resume {spec.name}{continuing_arguments(ledger, executor)}"
        so_far = f"{len(kept_trials(ledger, study))} of at most {runs_at_most(spec)} runs are measured."
        raise StudyInterrupted(spec.name, None, None, resume, so_far) from None


def _enter(phase: str, ledger: Ledger, study: StudyRecord, observer: Observer) -> None:
    """Begins a phase: sets the check's state and informs the observer."""
    ledger.set_state(study, phase)
    observer.phase_started(phase, None)


class _Openings:
    """Says how each run of a check is opened; see `EngineInputs`."""

    def __init__(self, spec: ScaleCheckSpec) -> None:
        self._seed = spec.seed
        space = space_of(spec)
        small, larger = (experiment_of(spec, space, scale) for scale in (spec.scale, spec.larger_scale))
        workload = searched_workload(spec.workload, spec.protocol, spec.objective)
        self._small, self._larger = replace(small, workload=workload), replace(larger, workload=workload)

    def engine_inputs(
        self, configuration: Configuration, replicate: int
    ) -> tuple[Experiment, Configuration, int]:
        """Returns the experiment, configuration and seed to open a run with."""
        experiment = self._larger if seeds.is_larger(replicate) else self._small
        # Both models get equal random numbers: seed_of does not tell them apart.
        return experiment.loaded_by(configuration), configuration, seeds.seed_of(self._seed, replicate)


def _ranked(spec: ScaleCheckSpec, configurations: Sequence[Configuration]) -> Stage[Ranking]:
    """Runs each configuration once at both models, one model after the other, and ranks them."""
    trials = []
    for number, configuration in enumerate(configurations):
        # Each pair begins with the other model, so that drift of the machine favours none.
        for larger in (number % 2 == 1, number % 2 == 0):
            replicate = seeds.SEARCH + (seeds.LARGER if larger else 0)
            trials.append(Trial(configuration, _age_s(spec, larger), replicate))
    return Ranking.of(spec.objective, (yield Batch(tuple(trials))))


def _chosen(spec: ScaleCheckSpec, ranking: Ranking) -> Stage[None]:
    """Runs the foremost configurations of the checked model again at both, and those of the larger there.

    The order rotates from round to round, so that drift favours none.
    """
    small = ranking.foremost()
    both = list(dict.fromkeys((*small, *ranking.foremost(larger=True))))
    trials: list[Trial] = []
    for number in range(ROUNDS):
        for larger, configurations in ((False, small), (True, both)):
            replicate = seeds.PICK + number + (seeds.LARGER if larger else 0)
            turned = (*configurations[number:], *configurations[:number])
            trials += (Trial(each, _age_s(spec, larger), replicate) for each in turned)
    if trials:
        yield Batch(tuple(trials))
