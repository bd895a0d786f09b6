"""Ages a store: runs the workload on it until it is in steady state (docs/design/steady-state.md)."""

import json
from collections.abc import Callable
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Self

from rocktune.engine.steadiness import LIMIT_FULL_SIZE_S, STEP_FULL_SIZE_S, TOLERANCE, Steadiness, Step
from rocktune.engine.worker import WorkerProcess
from rocktune.measurement import Measurement

_STEPS_NAME = "rocktune-ageing-steps.jsonl"
_RECORD_NAME = "rocktune-ageing.json"
_CLOSE_STORE_TIMEOUT_S = 600.0

OnStep = Callable[[float, float, float], None]
"""Is called after each step of ageing with the seconds of load so far, their maximum, and the processors that
the worker kept busy during the step. Seconds are at the scale of the model."""


@dataclass(frozen=True)
class Ageing:
    """How a store was aged.

    Attributes:
        load_s: seconds of load on the store, at the scale of the model.
        is_steady: whether the store is in steady state.
        changes: the figures that still changed at the end, in words; "" if none.
        throughput_ops_s: operations per second in steady state, else in the later half of the ageing.
        amplification: bytes that flushes and compactions moved in that time for each byte written; 0 if
            nothing was written.
    """

    load_s: float
    is_steady: bool
    changes: str
    throughput_ops_s: float
    amplification: float

    @classmethod
    def taken_from(cls, directory: Path) -> Self:
        """Returns the record in a store's directory, and removes it with all else that ageing left there."""
        found = cls(**json.loads((directory / _RECORD_NAME).read_text()))
        for name in (_RECORD_NAME, _STEPS_NAME):
            (directory / name).unlink(missing_ok=True)
        return found

    def to_json(self) -> dict[str, Any]:
        """Returns the attributes."""
        return asdict(self)


def ageing_rule(scale: int) -> tuple[float, ...]:
    """Returns the numbers that decide when a store of a 1/S model is aged: step, limit, tolerance."""
    return STEP_FULL_SIZE_S / scale, LIMIT_FULL_SIZE_S / scale, TOLERANCE


def age_store(
    directory: Path, scale: int, open_store: Callable[[int], WorkerProcess], on_step: OnStep
) -> None:
    """Ages the store in a directory, and leaves a record of it there.

    A kill loses nothing but the present step: called again, it goes on from the recorded steps.

    Args:
        directory: directory of the store.
        scale: S of the model.
        open_store: opens the store. Its argument is the number of steps so far, from which it makes the seed.
        on_step: see `OnStep`; if it raises, the step is recorded, and the exception is passed on.

    Raises:
        RunFailed: the store failed.
    """
    path = directory / _STEPS_NAME
    steadiness, steps = Steadiness(), _recorded(path)
    is_steady = False
    for step in steps:
        is_steady = steadiness.add(step)
    begun_s = age_s = steps[-1].until_s if steps else 0.0
    limit_s, step_s = LIMIT_FULL_SIZE_S / scale, STEP_FULL_SIZE_S / scale
    if not is_steady and age_s < limit_s:
        worker = open_store(len(steps))
        try:
            with path.open("a") as file:
                while not is_steady and age_s < limit_s:
                    until_s = age_s + step_s
                    raw = worker.request("advance", 3 * step_s + 60, {"until_s": until_s - begun_s})
                    step = Step.of(Measurement(raw), begun_s)
                    file.write(json.dumps(asdict(step)) + "\n")
                    file.flush()
                    is_steady = steadiness.add(step)
                    age_s = until_s
                    on_step(age_s, limit_s, raw["cpu_s"] / step_s)
            worker.close_store(_CLOSE_STORE_TIMEOUT_S)
        finally:
            worker.close()
    record = _record(steadiness, age_s)
    (directory / _RECORD_NAME).write_text(json.dumps(record.to_json()))


def _recorded(path: Path) -> list[Step]:
    """Returns the steps in a file; none if it is missing. A last line that a kill cut off does not count."""
    if not path.exists():
        return []
    text = path.read_text()
    whole = text[: text.rfind("\n") + 1]
    if whole != text:
        path.write_text(whole)
    documents = map(json.loads, whole.splitlines())
    return [Step(**document | {"level_bytes": tuple(document["level_bytes"])}) for document in documents]


def _record(steadiness: Steadiness, age_s: float) -> Ageing:
    """Returns the record of a store that was followed to its end."""
    window = steadiness.steady or steadiness.latest
    assert window is not None, "a store ages at least one step"
    written_bytes = window.user_bytes_written
    return Ageing(
        load_s=age_s,
        is_steady=steadiness.steady is not None,
        changes="" if steadiness.steady is not None else steadiness.describe(),
        throughput_ops_s=window.throughput_ops_s,
        amplification=window.moved_bytes / written_bytes if written_bytes else 0.0,
    )
