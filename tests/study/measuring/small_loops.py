"""Loops over a synthetic engine, and batches for them, which the tests of loops share."""

from collections.abc import Callable, Sequence

from rocktune.ledger import Ledger, StudyRecord
from rocktune.study.executors import Executor, executor_of
from rocktune.study.measuring.interrupt import Interrupt
from rocktune.study.measuring.loop import Loop
from rocktune.study.measuring.observer import Observer
from rocktune.study.measuring.repeats import Phase
from rocktune.testing.synthetic import synthetic_experiment
from rocktune.testing.synthetic_engine import Fault, SyntheticEngine, no_fault
from rocktune.trial import Batch, Configuration, Experiment, Measurement, Result, Trial

A, B, C = (Configuration({"speed": speed}) for speed in (1, 2, 3))
SPEC = {"workload": {"name": "w"}, "device": {"name": "d"}, "scale": 64}


class Recorder(Observer):
    def __init__(self) -> None:
        self.notes: list[str] = []
        self.finished: list[Trial] = []

    def trial_finished(self, result: Result) -> None:
        self.finished.append(result.trial)

    def note(self, text: str) -> None:
        self.notes.append(text)


def engine_of(fault: Fault = no_fault, **settings: object) -> SyntheticEngine:
    return SyntheticEngine(
        lambda configuration: 1000.0 * float(configuration["speed"]), fault, **settings  # type: ignore[arg-type]
    )  # fmt: skip


def loop_of(
    ledger: Ledger,
    engine: SyntheticEngine | Executor,
    observer: Observer | None = None,
    limit_bytes: int = 1 << 40,
) -> tuple[Loop, StudyRecord]:
    study = ledger.create_study("study", SPEC)

    experiment = synthetic_experiment()

    def opening(configuration: Configuration, replicate: int) -> tuple[Experiment, Configuration, int]:
        return experiment, configuration, replicate

    def score(window: Measurement) -> float:
        return window.figures["throughput_ops_s"]

    interrupt = Interrupt(Observer())
    executor = executor_of(engine, limit_bytes)
    loop = Loop(executor, opening, score, ledger, study, observer or Recorder(), interrupt)
    return loop, study


def phase_of(*batches: Batch | Callable[[], Batch]) -> Phase[list[Sequence[Result]]]:
    results: list[Sequence[Result]] = []
    for batch in batches:
        answer = yield batch
        results.append(answer)
    return results


def throughputs(results: Sequence[Sequence[Result]]) -> list[list[float]]:
    return [[result.figure("throughput_ops_s") for result in batch] for batch in results]


HALVING = (
    Batch((Trial(A, 2.0), Trial(B, 2.0), Trial(C, 2.0))),
    Batch((Trial(B, 3.0), Trial(C, 3.0)), ((A, 0),)),
)
