"""Drives the stages of a proof without engine and ledger."""

from collections.abc import Callable
from typing import TypeVar

from rocktune.study.proving.verification import Stage
from rocktune.testing.synthetic import synthetic_window
from rocktune.trial import Batch, Result, Status, Trial

Found = TypeVar("Found")
Answer = Callable[[Trial], Result]


def ok(trial: Trial, throughput: float, latency_us: float = 100.0) -> Result:
    """Returns a sound result of a trial."""
    return Result(trial, Status.OK, synthetic_window(0, trial.until_s, throughput, latency_us))


def run_stage(stage: Stage[Found], answer: Answer) -> tuple[Found, list[Batch]]:
    """Returns what a stage finds and the batches that it asks for."""
    batches = []
    try:
        batch = next(stage)
        while True:
            batches.append(batch)
            batch = stage.send([answer(trial) for trial in batch.trials])
    except StopIteration as end:
        return end.value, batches
