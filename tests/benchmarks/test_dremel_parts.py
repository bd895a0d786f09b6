import numpy as np
import pytest
from benchmarks.common.claims import Measured
from benchmarks.dremel.buckets import budget_s
from benchmarks.dremel.fusion import explained_by_arms, leading_knob, within_over_across
from benchmarks.dremel.halving import sampled_well
from benchmarks.dremel.latency import worse_improvement
from benchmarks.dremel.motivation import KNOBS_OF_FEATURE, four_configurations, rate_while, variations
from benchmarks.dremel.shared import READ_LATENCY, THROUGHPUT, leaders, mean_figure, paired
from benchmarks.dremel.tuning_time import reached_s
from tests.benchmarks.made_up import record

from rocktune.errors import UserError
from rocktune.lsm import FEATURE_NAMES
from rocktune.objective import objective_named
from rocktune.study import make_request, resolve
from rocktune.study.specs.problem import problem_of
from rocktune.testing.synthetic import synthetic_window
from rocktune.trial import Configuration

OBJECTIVE = objective_named(THROUGHPUT)


def configuration(name: int) -> Configuration:
    return Configuration({"x": name})


def test_leaders_change_at_the_ends_of_batches_and_older_runs_come_first() -> None:
    trials = [
        record(0, 0, 1.0, 1.0, 100),
        record(0, 1, 1.0, 1.0, 300),
        record(0, 2, 1.0, 1.0, 200),
        # Two go on; the one that was second turns out better, after 3 + 1 s.
        record(1, 1, 1.5, 0.5, 150),
        record(1, 2, 1.5, 0.5, 190),
    ]
    assert leaders(trials, OBJECTIVE) == [(3.0, configuration(1)), (4.0, configuration(2))]


def test_leaders_of_nothing_but_failures_is_an_error() -> None:
    with pytest.raises(UserError, match="it crashed"):
        leaders([record(0, 0, 1.0, 1.0, 0)], OBJECTIVE)


def test_paired_leaves_out_pairs_with_a_failure() -> None:
    runs = {
        configuration(0): [record(0, 0, 1.0, 1.0, value).result for value in (200, 0, 800)],
        configuration(1): [record(0, 1, 1.0, 1.0, value).result for value in (100, 100, 200)],
    }
    # Ratios 2 and 4, geometric mean 2.83.
    ratio = paired(runs, THROUGHPUT, configuration(0), configuration(1))
    assert ratio.value == pytest.approx(8**0.5)
    assert ratio.repeats == 2
    assert mean_figure(runs[configuration(0)], THROUGHPUT) == pytest.approx(500)


def test_paired_without_any_pair_says_why() -> None:
    runs = {configuration(name): [record(0, name, 1.0, 1.0, 0).result] for name in (0, 1)}
    with pytest.raises(UserError, match="it crashed"):
        paired(runs, THROUGHPUT, configuration(0), configuration(1))
    assert np.isnan(mean_figure(runs[configuration(0)], THROUGHPUT))


def test_reached_for_good() -> None:
    steps = [(10.0, 1.0), (20.0, 1.6), (30.0, 1.4), (40.0, 1.5), (50.0, 1.7)]
    assert reached_s(steps, 1.5) == 40.0
    assert reached_s(steps, 0.9) == 10.0
    assert reached_s(steps, 2.0) is None


def test_worse_improvement_is_the_smaller_one() -> None:
    ratios = {THROUGHPUT: Measured(1.5, 1.4, 1.6, 6), READ_LATENCY: Measured(0.8, 0.5, 1.25, 6)}
    assert worse_improvement(ratios) == Measured(1.25, 0.8, 2.0, 6)
    assert worse_improvement(ratios | {THROUGHPUT: Measured(1.1, 1.0, 1.2, 6)}).value == 1.1


def test_configurations_of_equal_arms_differ_less_within_than_across() -> None:
    arms = [np.array([1.0, 1.0]), np.array([3.0, 3.0]), np.array([np.nan, 5.0])]
    ratio, within, across = within_over_across(arms, np.random.default_rng(1))
    assert (ratio.value, ratio.repeats, within) == (0.0, 2, 0.0)
    # Two of {1, 1, 3, 3} differ with probability 2/3, and then deviate by sqrt(2).
    assert across == pytest.approx(2 / 3 * 2**0.5, rel=0.1)


def test_arms_without_meaning_differ_as_much_within_as_across() -> None:
    arms = list(np.random.default_rng(2).normal(100, 10, (40, 5)))
    ratio, _, _ = within_over_across(arms, np.random.default_rng(3))
    assert ratio.value == pytest.approx(1, abs=0.1)


def test_sampling_is_compared_with_the_arms_first_configurations() -> None:
    rows = [{"round": 0.0, "throughput_ops_s": value} for value in (10, 20, 30)]
    rows += [{"round": 1.0, "throughput_ops_s": value} for value in (15, 25, 30, 40)]
    # Three of four are above 20; the median of the four is 27.5.
    assert sampled_well(rows) == pytest.approx((0.75, 1.375))


def test_budget_has_room_for_every_arm_and_round() -> None:
    # 16 arms and 3 rounds of 5: 31 to 60 s, 15 to 80 s, 7 to 100 s.
    assert budget_s(2, 4, 3) == 31 * 60 + 15 * 20 + 7 * 20
    assert budget_s(3, 4, 0) == 81 * 60 + 40 * 20 + 20 * 20


def test_rates_are_of_time_spent_on_the_kind() -> None:
    # Reads take 100 us each: one thread does 10,000 a second of them, 16 threads 160,000.
    window = synthetic_window(0.0, 1.0, 1000.0, 100.0)
    assert rate_while(window, ("get",), 1) == pytest.approx(10_000)
    assert rate_while(window, ("get",), 16) == pytest.approx(160_000)
    assert np.isnan(rate_while(window, ("scan",), 1))


def test_variations_keep_the_rules_and_all_other_knobs() -> None:
    request = make_request({"workload": "dremel-write-heavy", "device": "ssd-100mb", "protocol": "short"})
    problem = problem_of(resolve(request, "study"))
    assert tuple(KNOBS_OF_FEATURE) == FEATURE_NAMES
    for names in KNOBS_OF_FEATURE.values():
        varied = variations(problem, names, 5, np.random.default_rng(4))
        assert len({problem.baseline, *varied}) == 6
        for each in varied:
            problem.space.validate(each)
            assert {name for name in each if each[name] != problem.baseline[name]} <= set(names)


def test_four_different_configurations_with_the_tuning_guides_first() -> None:
    rows = [
        {"reads_s": reads, "writes_s": writes, THROUGHPUT: both}
        for reads, writes, both in ((1, 1, 1), (9, 2, 5), (2, 9, 5), (3, 3, 6), (9, 9, 0))
    ]
    configurations = [configuration(name) for name in range(5)]
    assert four_configurations(rows, configurations) == [configuration(name) for name in (0, 1, 2, 3)]


def test_arms_explain_the_variance_between_their_means() -> None:
    # Within 2 * (1 + 1) = 4, in all 4 * 5 ** 2 + 4.
    arms = [np.array([0.0, 2.0]), np.array([10.0, 12.0])]
    assert explained_by_arms(arms) == pytest.approx(1 - 4 / 104)


def test_the_leading_knob_is_the_one_that_throughput_follows_within_arms() -> None:
    def of(x: int, y: int) -> Configuration:
        return Configuration({"x": x, "y": y, "fixed": 1})

    # Over all configurations throughput follows y, within each arm it falls with x.
    chosen = [[of(1, 1), of(2, 1), of(3, 1)], [of(1, 9), of(2, 9), of(3, 9)]]
    arms = [np.array([3.0, 2.0, 1.0]), np.array([103.0, 102.0, 101.0])]
    knob, followed = leading_knob(chosen, arms)
    assert knob == "x"
    assert followed == pytest.approx(-1)
