"""Runs a stage of a study's verification without a ledger."""

from collections.abc import Callable, Sequence
from typing import TypeVar

from rocktune.study.proving.verification import Stage
from rocktune.trial import Batch, Result

Found = TypeVar("Found")


def driven(stage: Stage[Found], measure: Callable[[Batch], Sequence[Result]]) -> Found:
    """Runs a stage and returns what it finds.

    Args:
        stage: the stage, not begun.
        measure: returns the results of a batch, in its order.
    """
    try:
        batch = next(stage)
        while True:
            batch = stage.send(measure(batch))
    except StopIteration as end:
        return end.value  # type: ignore[no-any-return]
