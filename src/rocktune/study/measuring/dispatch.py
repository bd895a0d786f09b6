"""Hands the trials of a batch to the lanes of an executor, and takes in what they measure."""

import threading
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from queue import Empty, SimpleQueue
from typing import Protocol

from rocktune.engine.base import Progress, RunFailed
from rocktune.study.executors.base import Executor, Lane, LaneLost
from rocktune.study.executors.runs import Job, Window
from rocktune.study.measuring.observer import Observer
from rocktune.trial import RunKey, Status

MAX_LOSSES = 3
"""How many lanes a trial may take with it before it counts as one that crashed."""

_ABANDONED_WAIT_S = 5.0

Taken = Window | RunFailed
"""What came of a job."""


class Work(Protocol):
    """What is to be done about the trials of a batch; all calls come from the thread that dispatches."""

    @property
    def stopping(self) -> bool:
        """Whether nothing new is to be begun."""
        ...

    def job(self, index: int) -> Job | None:
        """Returns what to measure for a trial; None where that is known without, and has been recorded."""
        ...

    def started(self, index: int) -> None:
        """A trial is about to be measured."""
        ...

    def finished(self, index: int, job: Job, machine: str, taken: Taken) -> None:
        """A trial has been measured, as its job said."""
        ...


@dataclass(eq=False)
class _Group:
    """Trials, by index, that one lane measures one after the other.

    Attributes:
        indexes: those left.
        lane: which; None for any.
        losses: how many lanes its first trial has taken with it.
    """

    indexes: list[int]
    lane: Lane | None = None
    losses: int = 0


class Dispatcher:
    """Places trials on lanes. Where there is one lane, it is this thread that measures."""

    def __init__(self, executor: Executor, observer: Observer) -> None:
        """Creates a dispatcher without anything under way."""
        self._executor = executor
        self._observer = observer
        self._homes: dict[RunKey, Lane] = {}
        self._busy: dict[Lane, _Group] = {}
        self._done: SimpleQueue[tuple[Lane, Job, Taken | BaseException]] = SimpleQueue()
        self._several = False

    def measure(self, groups: Iterable[Sequence[int]], runs: Sequence[RunKey], work: Work) -> None:
        """Measures groups of trials, or ends early when `work` is stopping.

        A group is measured in its order and on one lane: on that where its first run is parked, if any.
        Groups are begun in their order, as lanes fall free.

        Args:
            groups: indexes of trials; none is empty.
            runs: of each index its run.
            work: says what there is to do, and is told what came of it.

        Raises:
            UserError: a lane's, or there are no lanes left.
        """
        waiting = [_Group(list(indexes), self._homes.get(runs[indexes[0]])) for indexes in groups]
        try:
            while True:
                if waiting and not work.stopping:
                    self._hand_out(waiting, work)
                if not self._busy:
                    break
                self._take_in(waiting, work)
        except BaseException:
            self._abandon()
            raise

    def release(self, key: RunKey) -> None:
        """Ends a parked run, wherever it is."""
        lane = self._homes.pop(key, None)
        if lane is not None:
            lane.release(key)

    def release_all(self) -> None:
        """Ends all parked runs."""
        for lane in dict.fromkeys(self._homes.values()):
            lane.release_all()
        self._homes.clear()

    def _hand_out(self, waiting: list[_Group], work: Work) -> None:
        """Gives every lane that is free something to do, while there is something."""
        lanes = self._executor.lanes()
        for lane in {*self._homes.values()} - {*lanes} - {*self._busy}:
            self._forget(lane, waiting, "its machine is gone")
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
                del group.indexes[0]
                if not group.indexes:
                    waiting.remove(group)

    def _begin(self, lane: Lane, group: _Group, job: Job, work: Work) -> None:
        work.started(group.indexes[0])
        group.lane = lane
        self._busy[lane] = group
        if not self._several:
            self._run(lane, job, self._observer.progress)
            return
        # Not one of a pool's, for which the interpreter would wait when it ends.
        threading.Thread(target=self._run, args=(lane, job, _silent), daemon=True).start()
        self._tell_who_works()

    def _run(self, lane: Lane, job: Job, progress: Progress) -> None:
        taken: Taken | BaseException
        try:
            taken = lane.measure(job, progress)
        except BaseException as raised:
            taken = raised
        self._done.put((lane, job, taken))

    def _take_in(self, waiting: list[_Group], work: Work) -> None:
        """Waits for one lane to be done."""
        lane, job, taken = self._done.get()
        group = self._busy.pop(lane)
        if self._several:
            self._tell_who_works()
        self._homes.pop(job.key, None)
        if isinstance(taken, LaneLost):
            group.losses += 1
            self._forget(lane, [*waiting, group], str(taken))
            if group.losses < MAX_LOSSES:
                waiting.insert(0, group)
                return
            message = f"{MAX_LOSSES} workers were lost that measured it, the last one {lane.machine}"
            taken = RunFailed(Status.CRASHED, message)
        elif not isinstance(taken, Window | RunFailed):
            raise taken
        elif job.keep and isinstance(taken, Window):
            self._homes[job.key] = lane
        index = group.indexes.pop(0)
        group.losses = 0
        if group.indexes:
            waiting.insert(0, group)
        work.finished(index, job, lane.machine, taken)

    def _forget(self, lane: Lane, groups: Iterable[_Group], why: str) -> None:
        """A lane is lost, and what was parked there."""
        parked = [key for key, home in self._homes.items() if home is lane]
        for key in parked:
            del self._homes[key]
        for group in groups:
            if group.lane is lane:
                group.lane = None
        runs = f" Runs that waited there begin again from age 0: {len(parked)}." if parked else ""
        self._observer.note(f"{lane.machine} is lost ({why}). What it measured is measured again.{runs}")

    def _tell_who_works(self) -> None:
        self._observer.at_work([lane.machine for lane in self._busy])

    def _abandon(self) -> None:
        """Makes what is under way end, and waits a little for it."""
        for lane in self._busy:
            lane.abandon()
        while self._busy:
            try:
                lane, _, _ = self._done.get(timeout=_ABANDONED_WAIT_S)
            except Empty:  # it is stuck, and dies with this process
                return
            self._busy.pop(lane, None)


def _next_for(lane: Lane, waiting: Sequence[_Group]) -> _Group | None:
    """Returns what only this lane can do, else what any lane can; None where there is nothing."""
    own = (group for group in waiting if group.lane is lane)
    free = (group for group in waiting if group.lane is None)
    return next(own, None) or next(free, None)


def _silent(_phase: str, _done: float, _total: float) -> None:
    """Lanes that measure at once have no one age to show."""
