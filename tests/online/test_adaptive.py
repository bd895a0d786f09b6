"""Tests for the store that tunes itself."""

import threading
from collections.abc import Callable
from pathlib import Path

import pytest

import rocktune
from rocktune.errors import UserError
from rocktune.online import AdaptiveStore
from rocktune.online.control import Curve, Decision, Mission
from rocktune.online.control.checkpoint import keep, restore
from rocktune.online.control.levelwise import Learned

SMALL = {"cf": {"write_buffer_size": "65536", "target_file_size_base": "65536"}}


class Waiting:
    """Decides by a function, and lets tests wait for missions."""

    def __init__(self, decide: Callable[[Mission], Decision]) -> None:
        self._decide = decide
        self._told = threading.Condition()
        self.missions: list[Mission] = []

    def decide(self, mission: Mission) -> Decision:
        with self._told:
            self.missions.append(mission)
            self._told.notify_all()
        return self._decide(mission)

    def wait_for(self, missions: int) -> None:
        with self._told:
            self._told.wait_for(lambda: len(self.missions) >= missions)


def serve(store: AdaptiveStore, operations: int) -> None:
    for number in range(operations):
        store.put(b"%d" % number, b"value")


def test_policies_follow_the_controller_and_the_log_says_why(tmp_path: Path) -> None:
    waiting = Waiting(lambda mission: Decision({1: 5, 2: 4}, "it was time", "deciding"))
    with AdaptiveStore(tmp_path / "db", controller=waiting, mission_operations=100, options=SMALL) as store:
        serve(store, 100)
        waiting.wait_for(1)
        serve(store, 100)
        waiting.wait_for(2)
        assert [level.policy for level in store.shape().levels[:3]] == [5, 4, 1]
        first = store.decisions[0]
        assert (first.mission, first.policies, first.why) == (1, {1: 5, 2: 4}, "it was time")
        assert store.missions >= 2
        assert store.problem == ""
    assert waiting.missions[0].writes == 100
    with rocktune.FlsmStore(tmp_path / "db", options=SMALL) as store:
        assert [level.policy for level in store.shape().levels[:3]] == [5, 4, 1]


def test_a_controller_that_fails_is_not_asked_again_and_the_store_serves_on(tmp_path: Path) -> None:
    def fail(mission: Mission) -> Decision:
        raise ZeroDivisionError("no")

    waiting = Waiting(fail)
    with AdaptiveStore(tmp_path / "db", controller=waiting, mission_operations=10, options=SMALL) as store:
        serve(store, 10)
        waiting.wait_for(1)
        serve(store, 1000)
        assert store.get(b"999") == b"value"
        store.close()
        assert "ZeroDivisionError" in store.problem
    assert len(waiting.missions) == 1


def test_a_policy_that_there_is_not_changes_nothing(tmp_path: Path) -> None:
    waiting = Waiting(lambda mission: Decision({1: 99}, "", ""))
    with AdaptiveStore(tmp_path / "db", controller=waiting, mission_operations=10, options=SMALL) as store:
        serve(store, 10)
        waiting.wait_for(1)
        serve(store, 10)
        waiting.wait_for(2)
        assert store.shape().levels[0].policy == 1


def test_a_policy_takes_effect_while_nothing_is_written(tmp_path: Path) -> None:
    """Reads alone make missions, and runs are joined in the background, within the default budget."""
    waiting = Waiting(lambda mission: Decision(dict.fromkeys((1, 2), 10 if mission.writes else 1)))
    with AdaptiveStore(tmp_path / "db", controller=waiting, mission_operations=100, options=SMALL) as store:
        number = 0
        while store.shape().runs_of(2) < 2:
            store.put(b"%d" % number, bytes(100))
            number += 1
        while (shape := store.shape()).levels[1].policy > 1 or shape.runs_of(2) > 1:
            store.get(b"17")
        assert store.get(b"17") == bytes(100)


def test_without_samples_there_is_nothing_to_learn_from(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="sample_every must be at least 1"):
        AdaptiveStore(tmp_path / "db", controller=Waiting(lambda mission: Decision()), sample_every=0)
    assert not (tmp_path / "db").exists()


def test_closing_may_be_repeated_and_a_store_may_be_lost(tmp_path: Path) -> None:
    waiting = Waiting(lambda mission: Decision())
    store = AdaptiveStore(tmp_path / "db", controller=waiting, options=SMALL)
    store.put(b"key", b"value")
    store.close()
    store.close()
    store = AdaptiveStore(tmp_path / "db", controller=waiting, options=SMALL)
    assert store.get(b"key") == b"value"
    del store
    with AdaptiveStore(tmp_path / "db", controller=waiting, options=SMALL) as store:
        assert store.get(b"key") == b"value"


def test_what_was_learned_survives(tmp_path: Path) -> None:
    with AdaptiveStore(tmp_path / "db", mission_operations=50, options=SMALL) as store:
        serve(store, 2000)
    curve = Curve("uniform")
    restore(curve, tmp_path / "db" / "curve.npz")
    curve.known = [Learned(0.0, 0.0, (7,))]
    keep(curve, tmp_path / "db" / "curve.npz")
    with AdaptiveStore(tmp_path / "db", mission_operations=50, options=SMALL) as store:
        assert store.problem == ""
        assert store.get(b"1999") == b"value"
        while not store.decisions:
            serve(store, 50)
        assert store.decisions[0].why.startswith("known workload: K = 7")


@pytest.mark.parametrize("content", [b"", b"nonsense", b"PK\x03\x04 torn"])
def test_a_damaged_model_is_left_aside(tmp_path: Path, content: bytes) -> None:
    with AdaptiveStore(tmp_path / "db", options=SMALL) as store:
        store.put(b"key", b"value")
    (tmp_path / "db" / "curve.npz").write_bytes(content)
    with AdaptiveStore(tmp_path / "db", options=SMALL) as store:
        assert "not usable, learning starts from the beginning" in store.problem
        assert store.get(b"key") == b"value"


def test_reading_a_model_runs_no_code(tmp_path: Path) -> None:
    import numpy as np

    class Evil:
        def __reduce__(self) -> tuple[object, tuple[str]]:
            return (Path.touch, (str(tmp_path / "evil"),))

    with AdaptiveStore(tmp_path / "db", options=SMALL) as store:
        store.put(b"key", b"value")
    with (tmp_path / "db" / "curve.npz").open("wb") as file:
        np.savez(file, about=np.array([Evil()], dtype=object))
    with AdaptiveStore(tmp_path / "db", options=SMALL) as store:
        assert "not usable" in store.problem
    assert not (tmp_path / "evil").exists()
