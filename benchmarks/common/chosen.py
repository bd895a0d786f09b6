"""Measures chosen configurations, each run once in its batch, into a ledger."""

from collections.abc import Iterable, Sequence

from rocktune.engine import Engine
from rocktune.ledger import Ledger, StudyRecord
from rocktune.study import Observer, SweepSpec, space_of
from rocktune.study.executors import executor_of
from rocktune.study.measuring.interrupt import Interrupt
from rocktune.study.measuring.loop import Loop
from rocktune.study.measuring.score import equal_score
from rocktune.study.proving.verification import Stage
from rocktune.study.seeds import seed_of
from rocktune.study.specs.problem import experiment_of
from rocktune.trial import Batch, RunKey, Trial


def measure_chosen(
    engine: Engine, ledger: Ledger, spec: SweepSpec, batches: Iterable[Sequence[RunKey]], phase: str
) -> StudyRecord:
    """Measures the runs that the ledger does not hold under the sweep's name, and returns its record.

    Args:
        engine: measures them, one at a time.
        ledger: records them.
        spec: workload, device, scale and times. Its sample is ignored.
        batches: configurations with their replicates. A batch is repeated as one if a run was disturbed.
        phase: name of the phase in the ledger; tables of a sweep have those of "sweep".
    """
    experiment = experiment_of(spec, space_of(spec), spec.scale)
    study = ledger.create_study(spec.name, spec.model_dump(mode="json"), engine.version)
    last_s = spec.warm_up_s + spec.measured_s
    ages_s = [spec.warm_up_s, last_s] if spec.warm_up_s else [last_s]

    def runs() -> Stage[None]:
        for batch in batches:
            yield Batch(tuple(Trial(each, age_s, number) for each, number in batch for age_s in ages_s))

    loop = Loop(
        executor_of(engine),
        lambda each, replicate: (experiment.loaded_by(each), each, seed_of(spec.seed, replicate)),
        equal_score,
        ledger,
        study,
        Observer(),
        Interrupt(Observer()),
    )
    with ledger.lock(study):
        loop.run(phase, runs(), continues_runs=False)
    return study
