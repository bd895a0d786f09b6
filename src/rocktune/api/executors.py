"""Opens executors: one or several engines on this machine, or a Ray cluster."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, ExitStack, contextmanager
from functools import partial

from rocktune.api.engines import make_engine
from rocktune.engine import Engine, EngineSpec
from rocktune.errors import UserError
from rocktune.study import (
    Executor,
    LocalExecutor,
    Observer,
    ScaleCheckSpec,
    StudySpec,
    SweepSpec,
    UpgradeSpec,
    crowding,
)
from rocktune.study.executors.on_ray import opened_cluster

_LOCAL, _RAY = "local", "ray"
# Far above any machine's cores; it only catches slips such as local:10000.
_MAX_LANES = 1000

OpenEngine = Callable[[EngineSpec, Sequence[str]], AbstractContextManager[Engine]]


@contextmanager
def opened_executor(
    spec: StudySpec | SweepSpec | ScaleCheckSpec | UpgradeSpec,
    figures: Sequence[str],
    executor: str | None,
    address: str | None,
    open_engine: OpenEngine,
    observer: Observer,
) -> Iterator[Executor]:
    """Opens an executor and closes it at the end of the `with` statement.

    Args:
        spec: study, sweep, scale check or upgrade to measure.
        figures: figures that a user's own program must report in each measurement.
        executor: "local:N" or "ray"; None for "local:1".
        address: address of the Ray cluster; None for the one on this machine.
        open_engine: function that opens an engine on this machine.
        observer: gets a note if the workers will disturb each other.

    Raises:
        UserError: the executor is unknown, Ray is not installed, the cluster is unreachable, or a machine
            lacks something that the engine needs.
    """
    lanes = _local_lanes(executor or f"{_LOCAL}:1")
    # Each Ray actor makes its own engine, because an engine cannot leave its machine.
    if lanes is None:
        with opened_cluster(partial(make_engine, spec.engine, tuple(figures)), address) as cluster:
            yield cluster
        return
    if address is not None:
        raise UserError(f"address: only a Ray cluster has one; add '--executor {_RAY}' or leave it out")
    warning = crowding(lanes, spec.workload.threads)
    if warning is not None:
        observer.note(warning)
    with ExitStack() as stack:
        # One engine per lane; the stack closes those already open if a later one fails.
        engines = [stack.enter_context(open_engine(spec.engine, figures)) for _ in range(lanes)]
        yield LocalExecutor(engines)


def _local_lanes(executor: str) -> int | None:
    """Returns the number of workers on this machine; None for Ray.

    Raises:
        UserError: the text is neither.
    """
    if executor == _RAY:
        return None
    kind, _, count = executor.partition(":")
    # isdigit alone accepts digits of other scripts.
    if kind == _LOCAL and count.isascii() and count.isdigit() and 0 < int(count) <= _MAX_LANES:
        return int(count)
    raise UserError(
        f"executor: unknown executor '{executor}'; use local:N (N workers on this machine, N >= 1) or {_RAY}"
    )
