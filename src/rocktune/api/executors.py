"""Opens what a study is measured on: one engine, several on this machine, or a Ray cluster."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, ExitStack, contextmanager
from functools import partial

from rocktune.api.engines import make_engine
from rocktune.engine import Engine, EngineSpec
from rocktune.errors import UserError
from rocktune.study import Executor, LocalExecutor, Observer, StudySpec, SweepSpec, crowding
from rocktune.study.executors.on_ray import opened_cluster

_LOCAL, _RAY = "local", "ray"
_MAX_LANES = 1000

OpenEngine = Callable[[EngineSpec, Sequence[str]], AbstractContextManager[Engine]]


@contextmanager
def opened_executor(
    spec: StudySpec | SweepSpec,
    figures: Sequence[str],
    executor: str | None,
    address: str | None,
    open_engine: OpenEngine,
    observer: Observer,
) -> Iterator[Executor]:
    """Opens an executor, and closes it.

    Args:
        spec: of what is to be measured.
        figures: what every measurement must have, if the user's own program is what measures.
        executor: "local:N" or "ray"; None for "local:1".
        address: of the Ray cluster, None for the one of this machine.
        open_engine: opens an engine on this machine.
        observer: is told where workers will be in each other's way.

    Raises:
        UserError: there is no such executor, Ray is not installed or its cluster not there, or a machine
            lacks what the engine takes.
    """
    lanes = _local_lanes(executor or f"{_LOCAL}:1")
    if lanes is None:
        with opened_cluster(partial(make_engine, spec.engine, tuple(figures)), address) as cluster:
            yield cluster
        return
    if address is not None:
        raise UserError(f"address: is a Ray cluster's, and goes with '--executor {_RAY}'")
    warning = crowding(lanes, spec.workload.threads)
    if warning is not None:
        observer.note(warning)
    with ExitStack() as stack:
        engines = [stack.enter_context(open_engine(spec.engine, figures)) for _ in range(lanes)]
        yield LocalExecutor(engines)


def _local_lanes(executor: str) -> int | None:
    """Returns how many workers there shall be on this machine; None for Ray.

    Raises:
        UserError: it is neither.
    """
    if executor == _RAY:
        return None
    kind, _, count = executor.partition(":")
    if kind == _LOCAL and count.isascii() and count.isdigit() and 0 < int(count) <= _MAX_LANES:
        return int(count)
    raise UserError(
        f"executor: '{executor}' is none; write local:N (N from 1, workers on this machine) or {_RAY}"
    )
