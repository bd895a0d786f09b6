from collections.abc import Sequence

import pytest

from rocktune.objective import objective_named
from rocktune.testing.synthetic import synthetic_window
from rocktune.trial import Batch, Configuration, Result, Status, Trial
from rocktune.tuners.halving import halving_cost_s, successive_halving, sure_losers, survivors

THROUGHPUT = objective_named("throughput_ops_s")


def run(number: int) -> Configuration:
    return Configuration({"run": number})


def answer(number: int, throughput_ops_s: float, until_s: float = 60.0, latency_us: float = 100.0) -> Result:
    window = synthetic_window(0.0, until_s, throughput_ops_s, latency_us)
    return Result(Trial(run(number), until_s), Status.OK, window)


def failed(number: int, until_s: float = 60.0) -> Result:
    return Result(Trial(run(number), until_s), Status.CRASHED, None, "signal 11")


def numbers(configurations: Sequence[Configuration]) -> list[int]:
    return [int(configuration["run"]) for configuration in configurations]


def test_the_paper_s_costs() -> None:
    # 31 runs: all to 60 s; 15 go on to 80 s; 7 of them to 100 s.
    # 16 * 60 + 8 * 80 + 7 * 100 = 960 + 640 + 700 = 2300, of 2,325 s in section 5.2.1.
    assert halving_cost_s(31, (60.0, 80.0, 100.0)) == 2300.0
    # 16 arms alone: 8 * 60 + 4 * 80 + 4 * 100 = 1200 (section 5.2.2).
    assert halving_cost_s(16, (60.0, 80.0, 100.0)) == 1200.0
    # A single run is kept to the end.
    assert halving_cost_s(1, (60.0, 80.0, 100.0)) == 100.0
    # Where every age begins at 0: 31 * 60 + 15 * 80 + 7 * 100.
    assert halving_cost_s(31, (60.0, 80.0, 100.0), runs_continue=False) == 3760.0


@pytest.mark.parametrize(("runs", "expected"), [(0, 0), (1, 1), (2, 1), (3, 1), (5, 2), (31, 15)])
def test_half_is_rounded_down_but_one_is_kept(runs: int, expected: int) -> None:
    assert survivors(runs) == expected


def test_the_better_half_goes_on_and_the_rest_is_released() -> None:
    throughputs = [50.0, 20.0, 40.0, 10.0, 30.0]
    search = successive_halving(
        [answer(number, value) for number, value in enumerate(throughputs)], (80.0, 100.0), THROUGHPUT
    )
    # Of five, floor(5/2) = 2 go on: runs 0 and 2.
    batch = next(search)
    assert batch == Batch((Trial(run(0), 80.0), Trial(run(2), 80.0)), ((run(1), 0), (run(3), 0), (run(4), 0)))
    # At 80 s run 2 has overtaken run 0, and is the one that goes on to 100 s.
    batch = search.send([answer(0, 41.0, 80.0), answer(2, 43.0, 80.0)])
    assert batch == Batch((Trial(run(2), 100.0),), ((run(0), 0),))
    with pytest.raises(StopIteration) as end:
        search.send([answer(2, 44.0, 100.0)])
    assert numbers([result.trial.configuration for result in end.value.value]) == [2]


def test_failed_runs_never_go_on() -> None:
    search = successive_halving(
        [failed(0), answer(1, 1.0), answer(2, 2.0), failed(3)], (80.0, 100.0), THROUGHPUT
    )
    # Two are left, of which one goes on.
    assert next(search) == Batch((Trial(run(2), 80.0),), ((run(0), 0), (run(1), 0), (run(3), 0)))
    with pytest.raises(StopIteration) as end:
        search.send([failed(2, 80.0)])
    assert end.value.value == []


def test_nothing_is_released_twice() -> None:
    results = [answer(number, float(10 - number)) for number in range(4)]
    search = successive_halving(results, (80.0,), THROUGHPUT, released=[(run(3), 0)])
    assert next(search).release == ((run(2), 0),)


def test_balance_takes_the_worse_of_two_ranks() -> None:
    # Ranks in throughput 0, 1, 2, 3; in latency 3, 0, 1, 2; the worse one 3, 1, 2, 3: runs 1 and 2 go on.
    results = [answer(0, 40.0, 60.0, 400.0), answer(1, 30.0, 60.0, 100.0)]
    results += [answer(2, 20.0, 60.0, 200.0), answer(3, 10.0, 60.0, 300.0)]
    batch = next(successive_halving(results, (80.0,), objective_named("balance")))
    assert numbers([trial.configuration for trial in batch.trials]) == [1, 2]


def test_a_run_that_enough_others_beat_is_a_sure_loser() -> None:
    results = [answer(0, 30.0), failed(1), answer(2, 10.0), answer(3, 20.0), answer(4, 10.0)]
    # Two places: run 2 and run 4 are beaten by 0 and 3; a tie beats nobody.
    assert numbers([each for each, _ in sure_losers(results, 2, THROUGHPUT)]) == [1, 2, 4]
    assert numbers([each for each, _ in sure_losers(results, 3, THROUGHPUT)]) == [1]


def test_with_two_fields_only_who_is_beaten_in_both_is_lost() -> None:
    # Run 1 has the worst throughput, but its latency beats run 0's; run 2 is beaten by run 0 in both.
    results = [answer(0, 40.0, 60.0, 200.0), answer(1, 10.0, 60.0, 100.0), answer(2, 20.0, 60.0, 300.0)]
    assert numbers([each for each, _ in sure_losers(results, 1, objective_named("balance"))]) == [2]
