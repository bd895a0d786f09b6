"""The comparison of tuners on models of tables: what counts, what continues, and what is left out."""

import importlib.util
import math
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from benchmarks.alabed.held_out import TUNERS, _contrasts, _paper, _searched, _shares, held_out
from benchmarks.alabed.made_up import made_up_runs
from benchmarks.alabed.modelled import THROUGHPUT, Modelled, Searched, Searches, search
from benchmarks.alabed.positive_icm import PositiveMultiTask
from benchmarks.alabed.promising import promised_most
from benchmarks.alabed.setups import SETUPS, Sampled, drawn_runs, near_runs
from benchmarks.alabed.space import knobs_for_most
from benchmarks.alabed.winners import claims_on_the_store, measured_winners
from benchmarks.common.claims import Settings
from benchmarks.common.tables import write_csv

from rocktune.device import load_device
from rocktune.errors import UserError
from rocktune.space import Configuration, load_space
from rocktune.table import Conditions, Table, write_table
from rocktune.testing.synthetic import synthetic_window
from rocktune.testing.tuners import synthetic_problem
from rocktune.trial import Result, Status, Trial
from rocktune.tuners import Problem, tuner_named
from rocktune.tuners.bayesian.variants import MultiTask
from rocktune.workload import load_workload

SPACE = load_space("alabed", None, 1e7)
SETTINGS = Settings(
    quick=False,
    as_json=False,
    out=None,
    scale=256,
    seed=3,
    command="",
    extra={"tuners": "random,single", "seeds": 2, "steps": 5, "samples": 5, "near": 3},
)


def empty() -> Sampled:
    conditions = Conditions(
        knobs={knob.name: "int" for knob in SPACE.knobs},
        workload=load_workload(SETUPS["ycsb-updates"].workload),
        device=load_device(SETUPS["ycsb-updates"].device),
        space={"name": "alabed"},
        memory_bytes=SPACE.memory_bytes,
        scale=256,
        seed=1,
        measured_s=7.0,
        engine="formulas, RocksDB 0.0",
    )
    return Sampled(Table(conditions, ()), Table(conditions, ()))


class Exact(Modelled):
    """A store whose throughput is its trigger; the measured one is without noise, or lies for one seed."""

    def __init__(self) -> None:
        self.table, self.space, self.digest = empty().drawn, SPACE, "digest"

    def problem(self, steps: int) -> Problem:
        return replace(synthetic_problem(scale=1, budget_s=120 * steps), space=SPACE, runs_continue=False)

    def truth(self, configuration: Configuration) -> float:
        return float(configuration["level0_file_num_compaction_trigger"])

    def measured(self, trial: Trial, seed: int) -> Result:
        true = self.truth(trial.configuration)
        measured = 1000 - true if seed == LYING else true
        return Result(trial, Status.OK, synthetic_window(0.0, trial.until_s, measured, 1.0))


LYING = 99


@pytest.mark.parametrize(
    ("shares", "knobs"),
    [([0.9, 0.1], 1), ([0.5, 0.3, 0.2], 2), ([0.4, 0.39, 0.21], 3), ([0.25] * 4, 4)],
)
def test_knobs_are_counted_until_they_explain_most(shares: list[float], knobs: int) -> None:
    assert knobs_for_most({str(place): share for place, share in enumerate(shares)}) == knobs


def test_a_search_is_judged_without_noise() -> None:
    honest = search(Exact(), "random", {}, 20, 1)
    true = list(honest.after.values())
    assert list(honest.after) == list(range(1, 21))
    assert true == sorted(true)
    assert Exact().truth(honest.winner) == true[-1]
    # What looks best is the worst, and only its truth counts.
    lied_to = list(search(Exact(), "random", {}, 20, LYING).after.values())
    assert lied_to == sorted(lied_to, reverse=True)


def test_searches_that_are_done_are_read_back(tmp_path: Path) -> None:
    key = {"setup": "s", "tuner": "t", "seed": 1, "steps": 12, "table": "d"}
    searches = Searches(tmp_path / "searches.csv")
    assert searches.known(key) is None
    winner = SPACE.default()
    added = searches.add(key, Searched({step: float(step) for step in range(1, 13)}, winner))
    assert added == Searched({1: 1, 2: 2, 5: 5, 10: 10}, winner)
    searches.add(key | {"seed": 2}, Searched(dict.fromkeys(range(1, 13), math.pi), winner))
    again = Searches(tmp_path / "searches.csv")
    assert again.known(key) == added
    other = again.known(key | {"seed": 2})
    assert other is not None
    assert other.after == pytest.approx(dict.fromkeys(added.after, math.pi), rel=1e-5)
    for change in ({"seed": 3}, {"table": "e"}, {"steps": 20}, {"setup": "r"}, {"tuner": "u"}):
        assert again.known(key | change) is None


def test_a_search_is_not_repeated_and_a_tuner_that_cannot_run_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(importlib.util, "find_spec", lambda _: None)
    path = tmp_path / "searches.csv"
    found, left_out = _searched("s", empty(), Exact(), Searches(path), SETTINGS)
    assert {*found} == {"random"}
    assert {*found["random"]} == {3, 4}
    assert len(left_out) == 1
    assert left_out[0].startswith("single: tuner 'bo': needs BoTorch, which is not installed")

    def refuse(*_: Any) -> list[float]:
        raise AssertionError("searched again")

    monkeypatch.setattr("benchmarks.alabed.held_out.search", refuse)
    only = replace(SETTINGS, extra=SETTINGS.extra | {"tuners": "random"})
    assert _searched("s", empty(), Exact(), Searches(path), only) == (found, [])


def test_unknown_tuners_and_set_ups_are_refused(tmp_path: Path) -> None:
    wrong = replace(SETTINGS, extra=SETTINGS.extra | {"tuners": "randon"})
    with pytest.raises(UserError, match="tuners: unknown tuner 'randon'; use multitask, "):
        _searched("s", empty(), Exact(), Searches(tmp_path / "searches.csv"), wrong)
    with pytest.raises(UserError, match="setups: unknown set-up 'ycsb'; use ycsb-updates, "):
        drawn_runs("ycsb", tmp_path, "", SETTINGS)


def test_tables_that_are_there_are_not_measured_again(tmp_path: Path) -> None:
    runs = made_up_runs(empty(), drawn=5, near=3)
    write_table(tmp_path / "ycsb-a.csv", runs.drawn)
    write_table(tmp_path / "ycsb-a-near.csv", runs.near)
    assert len(drawn_runs("ycsb-a", tmp_path, "", SETTINGS).rows) == 5
    assert len(near_runs("ycsb-a", tmp_path, "", SETTINGS).rows) == 3


def test_a_set_up_with_one_knob_that_matters_is_not_searched(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    drawn = made_up_runs(empty(), drawn=60, near=1).drawn
    by_block = [
        replace(
            row, figures={**row.figures, THROUGHPUT: 1e9 / (1e4 + float(row.configuration["block_size"]))}
        )
        for row in drawn.rows
    ]
    write_table(tmp_path / "ycsb-a.csv", replace(drawn, rows=tuple(by_block)))
    claims = held_out(replace(SETTINGS, out=tmp_path, extra=SETTINGS.extra | {"setups": "ycsb-a"}))
    assert "ycsb-a: too few knobs matter to tell tuners apart; no search" in capsys.readouterr().err
    holds = {claim.name: claim.holds for claim in claims if claim.target}
    assert holds["ycsb-a_knobs_that_matter"] is False
    assert not any("share_after" in claim.name for claim in claims)
    assert not (tmp_path / "ycsb-a-near.csv").exists()


def test_runs_in_which_clusters_are_found_are_not_searched() -> None:
    runs = made_up_runs(empty(), drawn=40, near=10)
    merged = runs.merged(left_out=30).rows
    assert len(merged) == 10 + 2 + 10
    assert not {row.configuration for row in runs.drawn.rows[:30]} & {row.configuration for row in merged}


def test_tuners_are_paired_by_seed() -> None:
    after = {30: 1.0, 60: 1.0, 100: 1.0}
    found = {
        "multitask": {1: {step: 2 * value for step, value in after.items()}, 2: after},
        "multitask-positive": {2: after, 1: {step: 2 * value for step, value in after.items()}, 7: after},
    }
    claims = {claim.name: claim for claim in _contrasts(found)}
    assert [*claims] == [f"multitask_over_multitask-positive_after_{step}" for step in (30, 100)]
    for claim in claims.values():
        assert claim.measured.value == pytest.approx(1)
        assert claim.measured.repeats == 2
    assert [claim.measured.value for claim in _shares(found, 0.5)][:2] == [0.25, 0.75]


def test_the_papers_comparisons_name_the_best_rival() -> None:
    def after(value: float) -> dict[int, dict[int, float]]:
        return {seed: dict.fromkeys((10, 60, 100), value) for seed in (1, 2)}

    found = {"multitask": after(3), "multitask-plain": after(9), "tpe": after(2), "single": after(1)}
    default, best = _paper(found, 2.0)
    assert default.name == "multitask_over_default"
    assert default.measured.value == pytest.approx(1.5)
    assert best.measured.value == pytest.approx(1.5)
    assert best.unit.endswith("the best of the others is tpe")
    assert best.holds is True
    (early, *_) = _paper(found | {"clustered": after(3)}, 2.0)
    assert early.measured.value == pytest.approx(3)
    assert early.holds is True


def test_all_tuners_are_known_with_their_settings() -> None:
    for name, settings in TUNERS.values():
        tuner_named(name, settings)
    assert issubclass(PositiveMultiTask, MultiTask)


def test_a_model_promises_most_where_its_maximum_lies() -> None:
    modelled = Modelled(made_up_runs(empty()).merged(0))
    known = [modelled.truth(row.configuration) for row in modelled.table.rows]
    found = promised_most(modelled, 3, np.random.default_rng(5))
    assert found
    assert len(set(found)) == len(found)
    for each in found:
        SPACE.validate(each)
        assert modelled.truth(each) > max(known)


def test_winners_that_were_measured_are_read_and_compared_by_seed(tmp_path: Path) -> None:
    default = SPACE.default()
    knob = "level0_file_num_compaction_trigger"
    fast, slow = (default.replaced({knob: value}) for value in (7, 8))
    runs = [(default, 0, 100.0), (fast, 0, 100.0), (fast, 1, 400.0), (slow, 0, 125.0), (slow, 1, 125.0)]
    write_csv(
        tmp_path / "ycsb-a-winners.csv",
        [{"winner": each.key, "run": run, THROUGHPUT: throughput} for each, run, throughput in runs],
    )
    winners = {"single": {1: fast, 2: slow}, "random": {1: slow, 2: slow}}
    settings = replace(SETTINGS, extra=SETTINGS.extra | {"fresh": 2})
    gave = measured_winners("ycsb-a", winners, tmp_path, "", settings)
    assert gave == pytest.approx({default: 100, fast: 200, slow: 125})
    claims = claims_on_the_store(winners, gave, default, [("single", "random", "s"), ("single", "tpe", "s")])
    assert {claim.name: claim.measured.value for claim in claims} == pytest.approx(
        {
            "single_over_default_on_the_store": math.sqrt(2 * 1.25),
            "random_over_default_on_the_store": 1.25,
            "single_over_random_on_the_store": math.sqrt(200 / 125),
        }
    )
    assert measured_winners("ycsb-a", winners, tmp_path, "", replace(settings, quick=True)) == {}
