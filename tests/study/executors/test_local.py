"""Executors of this machine, and one that loses lanes."""

from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager

import pytest

from rocktune.engine.base import Progress
from rocktune.study.executors import EngineLane, Executor, LaneLost, LocalExecutor, crowding
from rocktune.study.executors.runs import Job, Window
from rocktune.testing.executors import Executing, ExecutorConformance, MakeEngine, plain_engine


def local(lanes: int) -> Executing:
    @contextmanager
    def executing(make_engine: MakeEngine) -> Iterator[Executor]:
        engines = [make_engine() for _ in range(lanes)]
        yield LocalExecutor(engines)
        for engine in engines:
            assert not engine.open_runs  # type: ignore[attr-defined]

    return executing


class TestOneLane(ExecutorConformance):
    @pytest.fixture
    def executing(self) -> Executing:
        return local(1)


class TestThreeLanes(ExecutorConformance):
    @pytest.fixture
    def executing(self) -> Executing:
        return local(3)


class FragileLane(EngineLane):
    """Can be made to be lost the next time that it measures."""

    doomed = lost = False

    def measure(self, job: Job, progress: Progress) -> Window:
        if self.doomed:
            self.lost = True
            self.release_all()
            raise LaneLost("made to be")
        return super().measure(job, progress)


class FragileExecutor(LocalExecutor):
    """Loses lanes for good."""

    def __init__(self, make_engine: MakeEngine, lanes: int) -> None:
        super().__init__([make_engine() for _ in range(lanes)])
        self.arguments = f"--executor fragile:{lanes}"
        self.fragile = [
            FragileLane(engine, f"fragile-{number}", 1 << 40) for number, engine in enumerate(self._engines)
        ]

    def lanes(self) -> list[FragileLane]:
        return [lane for lane in self.fragile if not lane.lost]


class TestLanesThatAreLost(ExecutorConformance):
    @pytest.fixture
    def executing(self) -> Executing:
        def executing(make_engine: MakeEngine) -> AbstractContextManager[Executor]:
            @contextmanager
            def opened() -> Iterator[Executor]:
                yield FragileExecutor(make_engine, 3)

            return opened()

        return executing

    def lose_a_lane(self, executor: Executor) -> None:
        assert isinstance(executor, FragileExecutor)
        executor.fragile[1].doomed = True


@pytest.mark.parametrize(
    ("lanes", "threads", "cores", "crowded"),
    [(1, 16, 2, False), (2, 1, 6, False), (2, 2, 7, True), (4, 16, 72, False)],
)
def test_lanes_are_crowded_when_their_threads_outnumber_the_cores(
    lanes: int, threads: int, cores: int, crowded: bool
) -> None:
    warning = crowding(lanes, threads, cores)
    assert (warning is not None) == crowded
    assert warning is None or f"there are {cores}" in warning


@pytest.mark.parametrize(("lanes", "is_parallel"), [(1, False), (2, True)])
def test_one_lane_is_the_default_and_several_are_parallel(lanes: int, is_parallel: bool) -> None:
    executor = LocalExecutor([plain_engine() for _ in range(lanes)])
    assert (executor.is_parallel, bool(executor.arguments)) == (is_parallel, is_parallel)
