"""The lane of a Ray actor."""

from contextlib import suppress
from typing import Any

from rocktune.engine.base import Progress, RunFailed
from rocktune.errors import UserError
from rocktune.study.executors.base import Lane, LaneLost
from rocktune.study.executors.machine import Reply
from rocktune.study.executors.runs import Job, Window
from rocktune.trial import RunKey


class RayLane(Lane):
    """A lane whose engine is in a Ray actor; see `Lane`.

    Attributes:
        node: Ray's ID of the actor's node.
        lost: True if the actor is gone.
        opening_s: `Engine.opening_s` at the last reply, wall seconds.
        loading_s: `Engine.loading_s` at the last reply, wall seconds.
    """

    def __init__(self, actor: Any, node: str, machine: str) -> None:
        """Creates a lane.

        Args:
            actor: Ray's handle of an actor of class `Machine` with an open engine.
            node: Ray's ID of its node.
            machine: see `Lane`.
        """
        self.machine = machine
        self.node = node
        self.lost = False
        self.opening_s = 0.0
        self.loading_s = 0.0
        self._actor = actor

    def measure(self, job: Job, progress: Progress) -> Window:  # noqa: ARG002 - an actor returns only the result
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
        """See `Lane.release`. Does not wait: an actor runs its calls in order, before the next `measure`."""
        self._actor.release.remote(key)

    def release_all(self) -> None:
        """See `Lane.release_all`. Does not wait; see `release`."""
        self._actor.release_all.remote()

    def abandon(self) -> None:
        """See `Lane.abandon`. Ends the actor's process, and with it the processes that it started."""
        self.lost = True
        kill(self._actor)

    def closing(self) -> Any:
        """Closes the engine; returns a Ray reference that is ready when it is closed."""
        return self._actor.close.remote()


def kill(actor: Any) -> None:
    """Ends an actor's process. Never raises."""
    import ray

    with suppress(Exception):
        # After this process has left the cluster, any call to Ray would make it join one again.
        if ray.is_initialized():
            ray.kill(actor)


def one_line(failure: BaseException) -> str:
    """Returns the last line of an exception's text, which holds the message if Ray includes a traceback."""
    lines = [line.strip() for line in str(failure).splitlines() if line.strip()]
    return lines[-1] if lines else type(failure).__name__
