"""Tests for the ablation of Lerp's agent."""

from pathlib import Path

import pytest
from benchmarks.common.claims import Settings
from benchmarks.ruskey.ablation import COSTS, DATA, QUICK, IdleAgent, TrueCosts, ablation

from rocktune.errors import UserError
from rocktune.online.control import LevelMission, Mission, Served
from rocktune.online.modelled import StoreCosts

NOTHING = Served(0, 0.0, 0, 0.0, 0)


def settings(out: Path | None, repeats: int = 1, quick: bool = True) -> Settings:
    flags = {"missions": "4", "repeats": repeats, "costs": COSTS, "granularity": "files"}
    return Settings(quick, False, out, 1, 1, "", flags)


def test_true_costs_weigh_runs_against_writings() -> None:
    # Half lookups: a run costs 0.5 * (2 + 0.5 * 4) = 2, a writing 0.5 * 2 * 1024 / 512 = 2. Runs and writings
    # together are 6.4, 4.3, 3.9, 4.0 for K = 1, 2, 3, 4.
    controller = TrueCosts(StoreCosts(0, 2.0, 4.0, 0, 1 / 512, 0), 0.5)
    levels = tuple(LevelMission(1, 1, 1.0, *[0.0] * 7) for _ in range(2))
    decision = controller.decide(Mission(50, 0, 50, 1.0, NOTHING, NOTHING, 10, levels))
    assert decision.policies == {1: 3, 2: 3}
    assert decision.converged


def test_an_idle_agent_asks_for_no_step() -> None:
    assert float(IdleAgent().act(None)[0]) == 0.0


def test_drives_are_not_made_again(tmp_path: Path) -> None:
    first = ablation(settings(tmp_path))
    data = (tmp_path / DATA).read_text()
    # Five sessions of each controller, and the header.
    assert len(data.splitlines()) == 5 * len(QUICK) + 1
    assert ablation(settings(tmp_path)) == first
    assert (tmp_path / DATA).read_text() == data


def test_controllers_are_compared_by_the_seeds_of_both(tmp_path: Path) -> None:
    header = "seed,missions,controller,session,seconds,settled_after,policy,learner_ms"
    drives = [(1, "curve", 101), (2, "curve", 1000), (1, "true-costs", 100), (3, "lerp", 90)]
    rows = [f"{seed},4,{name},0,{seconds},0,1,0" for seed, name, seconds in drives]
    (tmp_path / DATA).write_text("\n".join([header, *rows, ""]))
    claims = {claim.name: claim for claim in ablation(settings(tmp_path, repeats=0, quick=False))}
    assert claims["curve_over_true-costs_of_4"].measured.value == pytest.approx(1.01)
    assert claims["curve_over_true-costs_of_4"].measured.repeats == 1
    assert claims["curve_seconds_of_4"].measured.value == pytest.approx(550.5)
    assert claims["lerp_missions_to_settle_of_4"].measured.value == 0
    assert "curve_over_lerp_of_4" not in claims


def test_ranks_are_among_the_papers_four_with_ties(tmp_path: Path) -> None:
    header = "seed,missions,controller,session,seconds,settled_after,policy,learner_ms"
    # Lerp and K = 5 tie in the first session; in the second Lerp is third.
    seconds = {"lerp": (100, 130), "static:5": (100.1, 110), "static:1": (120, 120), "static:10": (140, 140)}
    rows = [f"1,4,{name},{at},{took},0,1,0" for name, both in seconds.items() for at, took in enumerate(both)]
    (tmp_path / DATA).write_text("\n".join([header, *rows, ""]))
    claims = {claim.name: claim for claim in ablation(settings(tmp_path, repeats=0, quick=False))}
    ranks = {name: claims[f"{name}_average_rank_of_4"].measured.value for name in seconds}
    assert ranks == {"lerp": 2.0, "static:5": 1.0, "static:1": 2.5, "static:10": 4.0}
    assert claims["lerp_average_rank_of_4"].paper == 1.2


def test_nothing_to_judge_is_refused(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="--repeats 0: no drive of 4 missions"):
        ablation(settings(tmp_path, repeats=0, quick=False))
