"""Stores that age at the same time: as many as the processors carry, and all end when asked to."""

import os
import threading
import time
from collections.abc import Callable

import pytest

from rocktune.engine.base import RunFailed
from rocktune.engine.embedded.ageing import OnStep
from rocktune.engine.embedded.together import AgeOne, age_together
from rocktune.trial import Status

PAUSE_S = 0.02


@pytest.fixture(autouse=True)
def four_processors(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "sched_getaffinity", lambda _: set(range(4)))


class Stores:
    """Stores that take some steps, and the maximum number that aged at the same time."""

    def __init__(self) -> None:
        self.max_running = self.ended = 0
        self._running = 0
        self._lock = threading.Lock()

    def task(self, processors: float, steps: float = 8) -> AgeOne:
        def age(on_step: OnStep) -> float:
            with self._lock:
                self._running += 1
                self.max_running = max(self.max_running, self._running)
            done = 0
            try:
                while done < steps:
                    time.sleep(PAUSE_S)
                    done += 1
                    on_step(done, 8, processors)
            finally:
                with self._lock:
                    self._running -= 1
                    self.ended += 1
            return 0.0

        return age


def no_progress(_phase: str, _done: float, _total: float) -> None:
    """Ignores progress."""


@pytest.mark.parametrize(
    ("processors", "running"),
    # At most a tenth more than four processors, and at most one store for each.
    [(0.1, 4), (1.0, 4), (1.2, 3), (1.6, 2), (2.3, 1), (5.0, 1)],
)
def test_as_many_age_as_the_processors_carry(processors: float, running: int) -> None:
    stores = Stores()
    age_together([stores.task(processors, steps=20) for _ in range(6)], no_progress)
    assert stores.max_running <= running
    assert stores.ended == 6


def test_stores_do_age_at_the_same_time() -> None:
    """A store that waits for another one to begin ends only if both run."""
    other_began = threading.Event()

    def first(on_step: OnStep) -> float:
        on_step(1, 2, 0.1)
        assert other_began.wait(60)
        return 0.0

    def second(_on_step: OnStep) -> float:
        other_began.set()
        return 0.0

    assert age_together([first, second], no_progress) >= 0


def test_progress_is_the_sum() -> None:
    seen: list[tuple[str, float, float]] = []
    stores = Stores()
    age_together([stores.task(0.1) for _ in range(3)], lambda *each: seen.append(each))
    assert seen[-1] == ("age", 24, 24)
    assert all(total == 24 for _, _, total in seen)


def test_a_store_that_fails_is_left_to_its_run() -> None:
    def fail(_on_step: OnStep) -> float:
        raise RunFailed(Status.CRASHED, "gone")

    stores = Stores()
    age_together([fail, stores.task(0.1), fail], no_progress)
    assert stores.ended == 1


@pytest.mark.parametrize("raised", [KeyboardInterrupt, ValueError])
def test_all_stores_end_when_progress_raises(raised: type[BaseException]) -> None:
    def progress(_phase: str, _done: float, _total: float) -> None:
        raise raised

    stores = Stores()
    with pytest.raises(raised):
        age_together([stores.task(0.1, steps=float("inf")) for _ in range(3)], progress)
    # Those that had not begun never do.
    assert 1 <= stores.ended <= 3


def test_other_errors_are_passed_on() -> None:
    def broken(_on_step: OnStep) -> float:
        raise OSError("disk full")

    stores = Stores()
    endless: Callable[[OnStep], float] = stores.task(0.1, steps=float("inf"))
    with pytest.raises(OSError, match="disk full"):
        age_together([endless, broken], no_progress)
    assert stores.ended == 1
