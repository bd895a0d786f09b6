"""Tests for experiments with controllers that go on where they were cut off."""

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from benchmarks.common.claims import Settings
from benchmarks.ruskey.shared import Served, driven_turns

from rocktune.errors import UserError
from rocktune.online import DrivenMission
from rocktune.online.control import Decision


def settings_of(out: Path | None, seed: int = 1, device: str = "none") -> Settings:
    extra = {"device": device, "repeats": seed}
    return Settings(quick=False, as_json=False, out=out, scale=128, seed=seed, command="", extra=extra)


def mission(seconds: float) -> DrivenMission:
    decision = Decision({}, phase="level 1", converged=False)
    return DrivenMission(1, seconds, 12.5, 0.5, (3, 1), decision, 0.25)


def driver(asked: list[tuple[str, int]]) -> Callable[[str, int], list[DrivenMission]]:
    def drive(name: str, seed: int) -> list[DrivenMission]:
        asked.append((name, seed))
        return [mission(seed)] * 2

    return drive


def test_missions_are_read_as_they_were_written(tmp_path: Path) -> None:
    made = driven_turns(settings_of(tmp_path), 1, ["a"], driver([]))
    assert made == [{"a": [Served(1, 1.0, 12.5, (3, 1), "level 1", False, 0.25)] * 2}]
    assert driven_turns(settings_of(tmp_path), 0, ["a"], driver([])) == made


def test_a_run_that_was_cut_off_goes_on(tmp_path: Path) -> None:
    def cut_off(name: str, seed: int) -> list[DrivenMission]:
        if name == "b":
            raise KeyboardInterrupt
        return [mission(seed)] * 2

    with pytest.raises(KeyboardInterrupt):
        driven_turns(settings_of(tmp_path), 1, ["a", "b"], cut_off)
    asked: list[tuple[str, int]] = []
    turns = driven_turns(settings_of(tmp_path), 2, ["a", "b"], driver(asked))
    assert asked == [("b", 1), ("a", 2), ("b", 2)]
    assert [turn["b"][0].seconds for turn in turns] == [1, 2]


def test_whole_turns_of_other_seeds_count(tmp_path: Path) -> None:
    driven_turns(settings_of(tmp_path, seed=7), 1, ["a"], driver([]))
    assert len(driven_turns(settings_of(tmp_path), 1, ["a"], driver([]))) == 2
    assert len(driven_turns(settings_of(tmp_path), 1, ["a", "b"], driver([]))) == 1


def test_runs_with_seeds_of_their_own_share_a_directory(tmp_path: Path) -> None:
    def measure(seed: int) -> None:
        driven_turns(settings_of(tmp_path, seed=seed), 1, ["a", "b"], driver([]))

    driven_turns(settings_of(tmp_path, seed=1), 1, ["a", "b"], driver([]))
    with ThreadPoolExecutor(4) as pool:
        list(pool.map(measure, range(2, 6)))
    turns = driven_turns(settings_of(tmp_path), 0, ["a", "b"], driver([]))
    assert [[turn[name][1].seconds for name in "ab"] for turn in turns] == [
        [seed] * 2 for seed in range(1, 6)
    ]


def test_nothing_to_judge_is_refused(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="no turn in"):
        driven_turns(settings_of(tmp_path), 0, ["a"], driver([]))


def test_drives_made_with_other_flags_are_refused(tmp_path: Path) -> None:
    driven_turns(settings_of(tmp_path), 1, ["a"], driver([]))
    with pytest.raises(UserError, match=r"--device: what is in .* was made with none; give that"):
        driven_turns(settings_of(tmp_path, device="ssd-100mb"), 1, ["a"], driver([]))
