"""Which lane measures what, and what happens when one is lost."""

import threading
from collections.abc import Callable, Sequence

import pytest

from rocktune.engine.base import Progress, RunFailed
from rocktune.errors import UserError
from rocktune.study.executors import Executor, Lane, LaneLost
from rocktune.study.executors.runs import Job, Window
from rocktune.study.measuring.dispatch import MAX_LOSSES, Dispatcher, JobOutcome
from rocktune.study.measuring.observer import Observer
from rocktune.testing.synthetic import synthetic_window
from rocktune.trial import Configuration, RunKey, Status

Behaviour = Callable[["MadeUpLane", Job], None]


class MadeUpLane(Lane):
    def __init__(self, name: str, behaviour: Behaviour) -> None:
        self.machine = name
        self.measured: list[RunKey] = []
        self.released: list[RunKey] = []
        self.lost = False
        self.abandoned = threading.Event()
        self._behaviour = behaviour

    def measure(self, job: Job, progress: Progress) -> Window:
        self._behaviour(self, job)
        self.measured.append(job.key)
        return Window(synthetic_window(job.from_s, job.until_s), {}, 0.0)

    def release(self, key: RunKey) -> None:
        self.released.append(key)

    def release_all(self) -> None: ...

    def abandon(self) -> None:
        self.abandoned.set()


class MadeUpExecutor(Executor):
    is_parallel = True
    can_park, version, file_system, opening_s, loading_s = True, "made up", "", 0.0, 0.0

    def __init__(self, lanes: int, behaviour: Behaviour = lambda *_: None) -> None:
        self.every = [MadeUpLane(f"lane-{number}", behaviour) for number in range(lanes)]

    def lanes(self) -> Sequence[Lane]:
        left = [lane for lane in self.every if not lane.lost]
        if not left:
            raise UserError("no lane is left")
        return left


class MadeUpWork:
    def __init__(self, runs: list[RunKey], keep: bool = False) -> None:
        self.runs = runs
        self.taken: dict[int, tuple[str, JobOutcome]] = {}
        self.stopping = False
        self._keep = keep

    def job(self, index: int) -> Job | None:
        key = self.runs[index]
        return Job(key, None, key[0], 0, 0.0, 1.0, self._keep, lambda _: 0.0)  # type: ignore[arg-type]

    def started(self, index: int) -> None: ...

    def finished(self, index: int, job: Job, machine: str, taken: JobOutcome) -> None:
        self.taken[index] = machine, taken


class Notes(Observer):
    def __init__(self) -> None:
        self.notes: list[str] = []

    def note(self, text: str) -> None:
        self.notes.append(text)


def _runs(count: int) -> list[RunKey]:
    return [(Configuration({"x": x}), 0) for x in range(count)]


def _each_alone(runs: list[RunKey]) -> list[list[int]]:
    return [[index] for index in range(len(runs))]


def test_a_parked_run_is_gone_on_with_where_it_is() -> None:
    executor = MadeUpExecutor(3)
    dispatcher = Dispatcher(executor, Observer())
    runs = _runs(9)
    first = MadeUpWork(runs, keep=True)
    dispatcher.measure(_each_alone(runs), runs, first)
    again = MadeUpWork(runs[::-1])
    dispatcher.measure(_each_alone(runs[::-1]), runs[::-1], again)
    homes = {runs[index]: machine for index, (machine, _) in first.taken.items()}
    assert {runs[::-1][index]: machine for index, (machine, _) in again.taken.items()} == homes
    # They were not kept the second time, so nobody has them any more.
    dispatcher.release(runs[0])
    assert [lane.released for lane in executor.every] == [[], [], []]


def test_a_group_is_measured_in_its_order_by_one_lane() -> None:
    executor = MadeUpExecutor(2)
    runs = _runs(12)
    work = MadeUpWork(runs)
    groups = [[turn, turn + 4, turn + 8] for turn in range(4)]
    Dispatcher(executor, Observer()).measure(groups, runs, work)
    for indexes in groups:
        assert len({work.taken[index][0] for index in indexes}) == 1
    for lane in executor.every:
        order = [runs.index(key) for key in lane.measured]
        for indexes in groups:
            assert [index for index in order if index in indexes] in ([], indexes)


def test_what_a_lost_lane_measured_is_measured_elsewhere_and_what_waited_there_is_forgotten() -> None:
    def behaviour(lane: MadeUpLane, job: Job) -> None:
        if lane.machine == "lane-0" and len(lane.measured) == 2:
            lane.lost = True
            raise LaneLost("unplugged")

    executor, notes = MadeUpExecutor(1, behaviour), Notes()
    dispatcher = Dispatcher(executor, notes)
    runs = _runs(3)
    dispatcher.measure(_each_alone(runs[:2]), runs[:2], MadeUpWork(runs[:2], keep=True))
    executor.every.append(MadeUpLane("lane-1", behaviour))
    work = MadeUpWork(runs)
    dispatcher.measure(_each_alone(runs), runs, work)
    assert {machine for machine, _ in work.taken.values()} == {"lane-1"}
    assert notes.notes == [
        "lane-0 is lost (unplugged). The trial that it measured is measured again. "
        "1 runs that were parked there begin again from age 0."
    ]


def test_a_lane_that_is_gone_while_nothing_is_measured_there_is_noticed() -> None:
    executor, notes = MadeUpExecutor(2), Notes()
    dispatcher = Dispatcher(executor, notes)
    runs = _runs(2)
    work = MadeUpWork(runs, keep=True)
    dispatcher.measure(_each_alone(runs), runs, work)
    executor.every[0].lost = True
    dispatcher.measure(_each_alone(runs), runs, work)
    assert {machine for machine, _ in work.taken.values()} == {"lane-1"}
    assert [note for note in notes.notes if note.startswith("lane-0 is lost (its machine is gone)")]


def test_a_trial_that_takes_its_lanes_with_it_has_crashed() -> None:
    runs = _runs(4)

    def behaviour(lane: MadeUpLane, job: Job) -> None:
        if job.key == runs[1]:
            lane.lost = True
            raise LaneLost("out of memory")

    work = MadeUpWork(runs)
    Dispatcher(MadeUpExecutor(MAX_LOSSES + 1, behaviour), Observer()).measure(_each_alone(runs), runs, work)
    failed = {index: taken for index, (_, taken) in work.taken.items() if isinstance(taken, RunFailed)}
    assert set(work.taken) == {0, 1, 2, 3}
    assert set(failed) == {1}
    assert failed[1].status is Status.CRASHED
    assert "3 workers were lost while they measured it" in failed[1].message


def test_without_lanes_it_ends() -> None:
    def behaviour(lane: MadeUpLane, job: Job) -> None:
        lane.lost = True
        raise LaneLost("unplugged")

    runs = _runs(1)
    with pytest.raises(UserError, match="no lane is left"):
        Dispatcher(MadeUpExecutor(2, behaviour), Observer()).measure(
            _each_alone(runs), runs, MadeUpWork(runs)
        )


def test_what_breaks_one_lane_ends_what_the_others_do() -> None:
    runs = _runs(3)

    def behaviour(lane: MadeUpLane, job: Job) -> None:
        if job.key == runs[2]:
            raise UserError("the disk is full")
        lane.abandoned.wait()

    executor = MadeUpExecutor(3, behaviour)
    with pytest.raises(UserError, match="the disk is full"):
        Dispatcher(executor, Observer()).measure(_each_alone(runs), runs, MadeUpWork(runs))
    assert [lane.abandoned.is_set() for lane in executor.every] == [True, True, False]
