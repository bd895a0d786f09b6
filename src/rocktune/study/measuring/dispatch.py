"""Assigns the trials of a batch to the lanes of an executor, and collects the results."""

import threading
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from queue import Empty, SimpleQueue
from typing import Protocol

from rocktune.engine.base import Conditions, Progress, RunFailed
from rocktune.study.executors.base import Executor, Lane, LaneLost
from rocktune.study.executors.runs import Job, Window
from rocktune.study.measuring.observer import Observer
from rocktune.trial import RunKey, Status

MAX_LOSSES = 3
"""A trial that was being measured on this many lanes when they were lost counts as crashed."""

_ABANDONED_WAIT_S = 5.0

JobOutcome = Window | RunFailed
"""The result of a job: a window, or the failure of the run."""


class Work(Protocol):
    """The trials of a batch, as the dispatcher sees them. All calls come from the dispatching thread."""

    @property
    def stopping(self) -> bool:
        """True if no further trial is to be started."""
        ...

    def job(self, index: int) -> Job | None:
        """Returns the job that measures a trial, or None after recording a trial that needs no measuring.

        Args:
            index: the trial's index in its batch.
        """
        ...

    def started(self, index: int) -> None:
        """Is called when a trial is about to be measured."""
        ...

    def finished(self, index: int, job: Job, machine: str, outcome: JobOutcome) -> None:
        """Is called when the job of a trial has ended.

        Args:
            index: the trial's index in its batch.
            job: the job.
            machine: name of the lane that measured it.
            outcome: its result.
        """
        ...


@dataclass(eq=False)
class _Group:
    """Trials that one lane measures one after the other.

    Attributes:
        indexes: indexes of the trials that are left.
        lane: the lane that has to measure them; None for any lane.
        losses: number of lanes that were lost while they measured the first trial of `indexes`.
    """

    indexes: list[int]
    lane: Lane | None = None
    losses: int = 0


class Dispatcher:
    """Assigns trials to lanes.

    A single lane measures in the calling thread, several in threads of their own.
    """

    def __init__(self, executor: Executor, observer: Observer) -> None:
        """Creates a dispatcher.

        Args:
            executor: provides the lanes.
            observer: is informed of progress and of lost lanes.
        """
        self._executor = executor
        self._observer = observer
        self._parked_on: dict[RunKey, Lane] = {}
        self._busy: dict[Lane, _Group] = {}
        self._done: SimpleQueue[tuple[Lane, Job, JobOutcome | BaseException]] = SimpleQueue()
        self._several = False

    def measure(self, groups: Iterable[Sequence[int]], runs: Sequence[RunKey], work: Work) -> None:
        """Measures groups of trials; returns when all are measured or `work` is stopping.

        A group is measured in order on one lane: the one where the run of its first trial is parked, if any.
        Groups are started in order, as lanes become free.

        Args:
            groups: indexes of trials by group; no group is empty.
            runs: the run of each trial, by index.
            work: makes the jobs and receives their results.

        Raises:
            UserError: a lane raised it, or no lane is left.
        """
        waiting = [_Group(list(indexes), self._parked_on.get(runs[indexes[0]])) for indexes in groups]
        try:
            while True:
                if waiting and not work.stopping:
                    self._start_free_lanes(waiting, work)
                if not self._busy:
                    break
                self._wait_for_outcome(waiting, work)
        except BaseException:
            self._abandon()
            raise

    def prepare(self, conditions: Sequence[Conditions], progress: Progress) -> None:
        """Makes what runs will begin with ahead of them; several lanes make it when they open the runs.

        Args:
            conditions: the runs, in the order in which they will be opened.
            progress: see `PreparingEngine.prepare`.
        """
        lanes = self._executor.lanes()
        if len(lanes) == 1:
            lanes[0].prepare(conditions, progress)

    def release(self, key: RunKey) -> None:
        """Ends a parked run on whichever lane it is; does nothing if it is not parked."""
        lane = self._parked_on.pop(key, None)
        if lane is not None:
            lane.release(key)

    def release_all(self) -> None:
        """Ends all parked runs."""
        for lane in dict.fromkeys(self._parked_on.values()):
            lane.release_all()
        self._parked_on.clear()

    def _start_free_lanes(self, waiting: list[_Group], work: Work) -> None:
        """Starts a waiting trial on each free lane."""
        lanes = self._executor.lanes()
        # Idle lanes that the executor no longer lists. A busy lane reports its loss itself.
        for lane in {*self._parked_on.values()} - {*lanes} - {*self._busy}:
            self._drop_lane(lane, waiting, "its machine is gone")
        # A busy lane can be one that the executor has already dropped from its list.
        self._several = len(lanes) > 1 or bool(self._busy)
        for lane in lanes:
            if lane in self._busy:
                continue
            while (group := _next_for(lane, waiting)) is not None and not work.stopping:
                job = work.job(group.indexes[0])
                if job is not None:
                    waiting.remove(group)
                    self._begin(lane, group, job, work)
                    break
                # The trial needed no measuring; the lane takes the next one.
                del group.indexes[0]
                if not group.indexes:
                    waiting.remove(group)

    def _begin(self, lane: Lane, group: _Group, job: Job, work: Work) -> None:
        """Starts a job on a lane, in this thread if it is the only lane."""
        work.started(group.indexes[0])
        group.lane = lane
        self._busy[lane] = group
        if not self._several:
            self._run(lane, job, self._observer.progress)
            return
        # A daemon thread, not a pool's: the interpreter would wait for the pool's threads at its end.
        threading.Thread(target=self._run, args=(lane, job, _silent), daemon=True).start()
        self._report_busy_lanes()

    def _run(self, lane: Lane, job: Job, progress: Progress) -> None:
        """Measures a job and queues its outcome, which may be any exception."""
        outcome: JobOutcome | BaseException
        try:
            outcome = lane.measure(job, progress)
        except BaseException as raised:
            outcome = raised
        self._done.put((lane, job, outcome))

    def _wait_for_outcome(self, waiting: list[_Group], work: Work) -> None:
        """Waits until a lane has ended its job, and hands the outcome to `work`.

        If the lane is lost, the trial waits again, unless it has lost too many lanes.
        """
        lane, job, outcome = self._done.get()
        group = self._busy.pop(lane)
        if self._several:
            self._report_busy_lanes()
        self._parked_on.pop(job.key, None)
        if isinstance(outcome, LaneLost):
            group.losses += 1
            self._drop_lane(lane, [*waiting, group], str(outcome))
            if group.losses < MAX_LOSSES:
                # To the front, so that a repeated trial does not wait behind later ones.
                waiting.insert(0, group)
                return
            message = f"{MAX_LOSSES} workers were lost while they measured it, the last one {lane.machine}"
            outcome = RunFailed(Status.CRASHED, message)
        elif not isinstance(outcome, Window | RunFailed):
            raise outcome
        elif job.keep and isinstance(outcome, Window):
            self._parked_on[job.key] = lane
        index = group.indexes.pop(0)
        group.losses = 0
        if group.indexes:
            waiting.insert(0, group)
        work.finished(index, job, lane.machine, outcome)

    def _drop_lane(self, lane: Lane, groups: Iterable[_Group], why: str) -> None:
        """Forgets a lost lane with its parked runs, and lets its groups go to any lane."""
        parked = [key for key, other in self._parked_on.items() if other is lane]
        for key in parked:
            del self._parked_on[key]
        for group in groups:
            if group.lane is lane:
                group.lane = None
        runs = f" {len(parked)} runs that were parked there begin again from age 0." if parked else ""
        self._observer.note(
            f"{lane.machine} is lost ({why}). The trial that it measured is measured again.{runs}"
        )

    def _report_busy_lanes(self) -> None:
        """Informs the observer of the lanes that are measuring."""
        self._observer.at_work([lane.machine for lane in self._busy])

    def _abandon(self) -> None:
        """Makes all busy lanes end, and waits a few seconds for them."""
        for lane in self._busy:
            lane.abandon()
        while self._busy:
            try:
                lane, _, _ = self._done.get(timeout=_ABANDONED_WAIT_S)
            except Empty:  # a stuck lane ends with this process
                return
            self._busy.pop(lane, None)


def _next_for(lane: Lane, waiting: Sequence[_Group]) -> _Group | None:
    """Returns the first group that only this lane can measure, else the first for any lane, else None."""
    own = (group for group in waiting if group.lane is lane)
    free = (group for group in waiting if group.lane is None)
    return next(own, None) or next(free, None)


def _silent(_phase: str, _done: float, _total: float) -> None:
    """Ignores progress: with several lanes there is no single age to show."""
