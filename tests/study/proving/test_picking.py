"""The phase that picks the winner among the finalists."""

import math
from collections.abc import Sequence

import pytest
from tests.study.proving.stages import Answer, ok, run_stage

from rocktune.objective import Objective, objective_named
from rocktune.study.proving.picking import Picked, pick
from rocktune.study.proving.verification import Stage
from rocktune.trial import Configuration, Result, Status, Trial

THROUGHPUT = objective_named("throughput_ops_s")
LATENCY = objective_named("read_latency_us_p99")
BALANCE = objective_named("balance")
BOUNDED = objective_named("throughput_ops_s", ["read_latency_us_p99<=100"])


NAMED = [Configuration({"x": x}) for x in range(6)]


def _once(found: Sequence[Configuration], objective: Objective) -> Stage[Picked]:
    """One round of the configurations that a search found, the best first."""
    results = [ok(Trial(each, 2.0), 1000 - place) for place, each in enumerate(found)]
    return pick(results, objective, len(found) or 1, 1, [10, 11], 2.0)


def test_the_winner_has_the_largest_geometric_mean() -> None:
    steady, wild = Configuration({"x": 1}), Configuration({"x": 2})
    # Arithmetic means 1000 and 1050, geometric ones 1000 and sqrt(400 * 1700) = 825.
    speeds = {(steady, 10): 1000, (steady, 11): 1000, (wild, 10): 400, (wild, 11): 1700}
    picked, batches = run_stage(
        _once([wild, steady], THROUGHPUT),
        lambda trial: ok(trial, speeds[trial.configuration, trial.replicate]),
    )
    assert picked.winner == steady
    assert picked.rows[wild]["throughput_ops_s"] == pytest.approx(math.sqrt(400 * 1700), rel=0.01)
    assert len(batches) == 1


def test_smaller_latency_wins_and_balance_takes_the_worse_rank() -> None:
    fast, quick, good = (Configuration({"x": x}) for x in range(3))
    figures = {fast: (3000, 300), quick: (1000, 100), good: (2000, 200)}

    def answer(trial: Trial) -> Result:
        return ok(trial, *figures[trial.configuration])

    for objective, expected in ((THROUGHPUT, fast), (LATENCY, quick), (BALANCE, good)):
        assert run_stage(_once([fast, quick, good], objective), answer)[0].winner == expected


def test_a_finalist_that_fails_is_out() -> None:
    a, b = (Configuration({"x": x}) for x in range(2))

    def answer(trial: Trial) -> Result:
        failing = trial.configuration == a and trial.replicate == 11
        return (
            Result(trial, Status.CRASHED) if failing else ok(trial, 100 if trial.configuration == b else 900)
        )

    assert run_stage(_once([a, b], THROUGHPUT), answer)[0].winner == b
    assert run_stage(_once([a], THROUGHPUT), answer)[0] == Picked(None, {}, {})
    assert run_stage(_once([], THROUGHPUT), answer)[1] == []


def test_what_breaks_a_constraint_wins_only_where_all_do() -> None:
    fast, slow = (Configuration({"x": x}) for x in range(2))
    figures = {fast: (3000, 300), slow: (1000, 100)}

    def picked(bound: int) -> tuple[Configuration | None, bool]:
        objective = objective_named("throughput_ops_s", [f"read_latency_us_p99<={bound}"])
        found, _ = run_stage(
            _once([fast, slow], objective),
            lambda trial: ok(trial, *figures[trial.configuration]),
        )
        return found.winner, found.keeps_constraints(objective)

    assert picked(1000) == (fast, True)
    assert picked(200) == (slow, True)
    assert picked(50) == (slow, False)


def test_a_figure_of_0_keeps_a_bound() -> None:
    objective = objective_named("throughput_ops_s", ["compaction_debt_bytes<=1"])
    only = Configuration({"x": 1})
    found, _ = run_stage(_once([only], objective), lambda trial: ok(trial, 1000))
    assert found.rows[only]["compaction_debt_bytes"] == 0
    assert found.keeps_constraints(objective)


def _searched(latencies_us: list[float]) -> list[Result]:
    """Results of a search: the first configuration is the fastest."""
    return [
        ok(Trial(each, 2.0), 1000 - place, latency_us)
        for place, (each, latency_us) in enumerate(zip(NAMED, latencies_us, strict=False))
    ]


def _fresh(latencies_us: dict[int, tuple[float, float]]) -> Answer:
    """Two fresh runs of each configuration, with these latencies."""

    def answer(trial: Trial) -> Result:
        x = int(trial.configuration["x"])
        return ok(trial, 1000 - x, latencies_us[x][trial.replicate - 10])

    return answer


def _rounds(results: list[Result], answer: Answer, rounds: int = 3) -> tuple[Picked, list[list[int]]]:
    found, batches = run_stage(pick(results, BOUNDED, 2, rounds, [10, 11], 2.0), answer)
    chosen = [
        list(dict.fromkeys(int(trial.configuration["x"]) for trial in batch.trials)) for batch in batches
    ]
    return found, chosen


def test_one_that_keeps_the_bound_beyond_noise_comes_before_one_that_barely_does() -> None:
    # The standard error of a mean is 0.05 for both: 98 us are within it, 90 us are not.
    answer = _fresh({0: (98 * 1.051, 98 / 1.051), 1: (90 * 1.051, 90 / 1.051)})
    found, _ = _rounds(_searched([90, 80]), answer)
    assert found.margins["read_latency_us_p99"] == pytest.approx(1.051, rel=0.01)
    assert found.candidates(BOUNDED) == [NAMED[1], NAMED[0]]
    assert found.winner == NAMED[1]


def test_the_next_best_follow_where_no_finalist_keeps_the_bound() -> None:
    # The finalists were lucky by a tenth. After that correction 2 and 4 break the bound, 3 and 5 keep it.
    answer = _fresh({0: (105, 105), 1: (110, 110), 3: (80, 80), 5: (70, 70)})
    found, chosen = _rounds(_searched([95.5, 100, 98, 85, 99, 80]), answer)
    assert chosen == [[0, 1], [3, 5]]
    assert found.winner == NAMED[3]
    assert set(found.rows) == {NAMED[each] for each in (0, 1, 3, 5)}


def test_rounds_end_where_the_search_knows_no_other_that_kept_the_bound() -> None:
    every = dict.fromkeys(range(6), (110.0, 110.0))
    found, chosen = _rounds(_searched([95, 95, 95, 120, 120, 120]), _fresh(every))
    assert chosen == [[0, 1], [2]]
    assert not found.keeps_constraints(BOUNDED)
    assert _rounds(_searched([95] * 6), _fresh(every), 2)[1] == [[0, 1], [2, 3]]
    assert _rounds([], _fresh(every)) == (Picked(None, {}, {}), [])


def test_those_that_promised_more_than_the_winner_gave_follow() -> None:
    """Fresh runs of the finalists give 800: 2 and 3 promised more, 5 is within the error of that mean."""
    promised = {0: 1000.0, 1: 990.0, 2: 980.0, 3: 970.0, 4: 700.0, 5: 805.0}
    results = [ok(Trial(NAMED[x], 2.0), figure) for x, figure in promised.items()]
    gives = {0: 800.0, 1: 700.0, 2: 760.0, 3: 960.0}
    found, batches = run_stage(
        pick(results, THROUGHPUT, 2, 3, [10, 11], 2.0),
        lambda trial: ok(trial, gives[int(trial.configuration["x"])]),
    )
    assert [{int(trial.configuration["x"]) for trial in batch.trials} for batch in batches] == [
        {0, 1},
        {2, 3},
    ]
    assert found.winner == NAMED[3]


def test_noise_of_the_finalists_ends_the_rounds() -> None:
    # The mean is 900 with an error of 15%: 990 is no more than that.
    results = [ok(Trial(NAMED[x], 2.0), figure) for x, figure in ((0, 1000.0), (1, 990.0))]
    _, batches = run_stage(
        pick(results, THROUGHPUT, 1, 3, [10, 11], 2.0),
        lambda trial: ok(trial, 900 * (1.15 if trial.replicate == 10 else 1 / 1.15)),
    )
    assert len(batches) == 1


def test_without_a_winner_or_with_several_goals_there_is_one_round() -> None:
    results = _searched([95] * 6)
    stage = pick(results, THROUGHPUT, 2, 3, [10, 11], 2.0)
    found, batches = run_stage(stage, lambda trial: Result(trial, Status.CRASHED))
    assert (found.winner, len(batches)) == (None, 1)
    stage = pick(results, BALANCE, 2, 3, [10, 11], 2.0)
    assert len(run_stage(stage, lambda trial: ok(trial, 1.0))[1]) == 1
