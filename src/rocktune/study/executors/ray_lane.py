"""One lane of a Ray cluster: an actor."""

from contextlib import suppress
from typing import Any

from rocktune.engine.base import Progress, RunFailed
from rocktune.errors import UserError
from rocktune.study.executors.base import Lane, LaneLost
from rocktune.study.executors.machine import Reply
from rocktune.study.executors.runs import Job, Window
from rocktune.trial import RunKey


class RayLane(Lane):
    """An actor. See `Lane`.

    Attributes:
        node: Ray's ID of the node it is on.
        lost: whether it is gone.
        opening_s: see `rocktune.engine.Engine`, as of its last reply.
        loading_s: likewise.
    """

    def __init__(self, actor: Any, node: str, machine: str) -> None:
        """Takes an actor of the class `Machine` that has its engine."""
        self.machine = machine
        self.node = node
        self.lost = False
        self.opening_s = 0.0
        self.loading_s = 0.0
        self._actor = actor

    def measure(self, job: Job, progress: Progress) -> Window:  # noqa: ARG002 - Ray brings only the end
        """See `Lane.measure`."""
        import ray
        from ray.exceptions import RayError, RayTaskError

        try:
            reply: Reply = ray.get(self._actor.measure.remote(job))
        except RayTaskError as failure:
            raise RuntimeError(f"{self.machine}: {one_line(failure)}") from None
        except RayError as failure:
            self.abandon()
            raise LaneLost(type(failure).__name__) from None
        self.opening_s, self.loading_s = reply.opening_s, reply.loading_s
        if reply.failure is not None:
            raise RunFailed(*reply.failure)
        if reply.window is None:
            raise UserError(f"{self.machine}: {reply.refused}")
        return reply.window

    def release(self, key: RunKey) -> None:
        """See `Lane.release`; what is asked of the lane next waits for it."""
        self._actor.release.remote(key)

    def release_all(self) -> None:
        """See `Lane.release_all`; likewise."""
        self._actor.release_all.remote()

    def abandon(self) -> None:
        """See `Lane.abandon`: its process ends, and what that has started with it."""
        self.lost = True
        kill(self._actor)

    def closing(self) -> Any:
        """Returns a reference that is ready once the engine is closed."""
        return self._actor.close.remote()


def kill(actor: Any) -> None:
    """Ends an actor's process. Never raises."""
    import ray

    with suppress(Exception):
        # Asked for anything after it has left a cluster, Ray would join one again.
        if ray.is_initialized():
            ray.kill(actor)


def one_line(failure: BaseException) -> str:
    """Returns what Ray has to say in one line: the last one, where it shows a traceback."""
    lines = [line.strip() for line in str(failure).splitlines() if line.strip()]
    return lines[-1] if lines else type(failure).__name__
