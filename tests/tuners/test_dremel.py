import math
from collections import deque
from dataclasses import replace

import numpy as np
import pytest

from rocktune.errors import UserError
from rocktune.lsm import FEATURE_NAMES
from rocktune.testing.synthetic import synthetic_window
from rocktune.testing.tuners import drive, synthetic_problem
from rocktune.trial import Configuration, Measurement, Result, Status, Trial
from rocktune.tuners import Problem, tuner_named, tuner_names
from rocktune.tuners.dremel import Dremel, DremelSettings, pooled_configurations
from rocktune.tuners.dremel.arms import Arm, bucket_numbers, make_arms, quantile_edges, reward_arms
from rocktune.tuners.dremel.confidence import promising_arms, standard_deviation, upper_confidence_bound
from rocktune.tuners.dremel.time_points import steady_from_s, time_points_from_s

SMALL = DremelSettings(pool=2000)


def rng() -> np.random.Generator:
    return np.random.default_rng(3)


def arm(*rewards: float, failures: int = 0, untried: int = 1) -> Arm:
    return Arm((1,), deque([Configuration({})] * untried), rewards=list(rewards), failures=failures)


def wbf(problem: Problem, configuration: Configuration) -> float:
    """Equation 7 by hand: 1 / (C M W) + 1 / (Q W U)."""
    value = {name: float(configuration[name]) for name in configuration}
    buffer = value["write_buffer_size"]
    level0 = value["level0_file_num_compaction_trigger"] * value["min_write_buffer_number_to_merge"] * buffer
    return 1 / level0 + 1 / (value["max_write_buffer_number"] * buffer * value["max_background_flushes"])


def equations(problem: Problem, configuration: Configuration) -> tuple[float, float, float, float]:
    """Equations 5, 7, 8 and 9 of the paper for 10 million entries of 1,040 bytes."""
    value = {name: float(configuration[name]) for name in configuration}
    trigger, ratio = value["level0_file_num_compaction_trigger"], value["max_bytes_for_level_multiplier"]
    file_bytes, file_ratio = value["target_file_size_base"], value["target_file_size_multiplier"]
    levels = math.log(1.04e10 / (trigger * file_bytes) * (ratio - 1) / ratio) / math.log(ratio)
    levels = min(max(levels, 1.0), value["num_levels"])
    files = (file_ratio - file_ratio ** (1 - levels)) / (file_ratio - 1) if file_ratio > 1 else levels
    return (
        value["max_background_compactions"] / levels * (ratio + 1) / file_bytes * files,
        wbf(problem, configuration),
        (trigger + levels) / value["block_size"],
        1000 * 2**20 - value["max_write_buffer_number"] * value["write_buffer_size"],
    )


class TestBuckets:
    def test_hold_equally_many(self) -> None:
        values = np.array([8.0, 1.0, 7.0, 2.0, 6.0, 3.0, 5.0, 4.0])
        # The median of 1 to 8 is 4.5; the quartiles by linear interpolation are 2.75, 4.5, 6.25.
        assert quantile_edges(values, 2).tolist() == [4.5]
        assert quantile_edges(values, 4).tolist() == [2.75, 4.5, 6.25]
        assert bucket_numbers(values, quantile_edges(values, 2)).tolist() == [2, 1, 2, 1, 2, 1, 2, 1]
        assert bucket_numbers(values, quantile_edges(values, 4)).tolist() == [4, 1, 4, 1, 3, 2, 3, 2]

    def test_equal_values_share_one(self) -> None:
        values = np.array([1.0, 1.0, 1.0, 2.0])
        # The median is 1, and a value on an edge lies in the bucket below it.
        assert bucket_numbers(values, quantile_edges(values, 2)).tolist() == [1, 1, 1, 2]

    def test_a_constant_feature_has_one(self) -> None:
        values = np.full(5, 3.0)
        assert set(bucket_numbers(values, quantile_edges(values, 4)).tolist()) == {1}


class TestArms:
    def test_two_buckets_of_four_features_make_sixteen(self) -> None:
        arms = make_arms(synthetic_problem(), SMALL, rng())
        assert [each.buckets for each in arms] == [
            (a, b, c, d) for a in (1, 2) for b in (1, 2) for c in (1, 2) for d in (1, 2)
        ]
        configurations = [configuration for each in arms for configuration in each.untried]
        assert len(configurations) == len(set(configurations)) > 1900

    def test_the_baseline_is_in_none(self) -> None:
        problem = synthetic_problem()
        drawn = problem.space.sample(1, rng())[0]
        arms = make_arms(replace(problem, baseline=drawn), SMALL, rng())
        assert not any(drawn in each.untried for each in arms)
        assert any(drawn in each.untried for each in make_arms(problem, SMALL, rng()))

    @pytest.mark.parametrize("seed", [3, 4, 5])
    def test_the_paper_s_space_has_the_arms_of_its_equations(self, seed: int) -> None:
        problem = synthetic_problem()
        arms = make_arms(problem, SMALL, np.random.default_rng(seed))
        pool = problem.space.sample(2000, np.random.default_rng(seed))
        numbers = [
            bucket_numbers(values, quantile_edges(values, 2))
            for values in np.array([equations(problem, configuration) for configuration in pool]).T
        ]
        expected: dict[tuple[int, ...], list[Configuration]] = {}
        for configuration, buckets in sorted(
            zip(pool, zip(*numbers, strict=True), strict=True), key=lambda each: wbf(problem, each[0])
        ):
            expected.setdefault(buckets, []).append(configuration)
        assert {each.buckets: list(each.untried) for each in arms} == expected

    def test_five_buckets_as_in_figure_6(self) -> None:
        values = np.arange(1.0, 11.0)
        # Quintiles of 1 to 10: 2.8, 4.6, 6.4 and 8.2. Figure 6's example lies in the fourth bucket.
        assert quantile_edges(values, 5).tolist() == pytest.approx([2.8, 4.6, 6.4, 8.2])
        assert bucket_numbers(np.array([7.0]), quantile_edges(values, 5)).tolist() == [4]
        arms = make_arms(synthetic_problem(), DremelSettings(pool=2000, buckets=5), rng())
        assert 256 < len(arms) <= 5**4
        assert {number for each in arms for number in each.buckets} == {1, 2, 3, 4, 5}

    def test_empty_arms_are_not_there(self) -> None:
        arms = make_arms(synthetic_problem(), DremelSettings(pool=2000, buckets=4), rng())
        assert 150 < len(arms) < 256
        assert all(each.untried for each in arms)

    def test_heuristic_sampling_takes_the_smallest_first(self) -> None:
        problem = synthetic_problem()
        for each in make_arms(problem, SMALL, rng()):
            frequencies = [wbf(problem, configuration) for configuration in each.untried]
            assert frequencies == sorted(frequencies)

    def test_the_largest_cache_comes_first(self) -> None:
        settings = DremelSettings(pool=2000, heuristic_feature="block_cache_hit_rate")
        for each in make_arms(synthetic_problem(), settings, rng()):
            memtables = [
                int(configuration["max_write_buffer_number"]) * int(configuration["write_buffer_size"])
                for configuration in each.untried
            ]
            assert memtables == sorted(memtables)

    def test_random_sampling_has_another_order_of_the_same(self) -> None:
        problem = synthetic_problem()
        ordered = make_arms(problem, SMALL, rng())
        shuffled = make_arms(problem, DremelSettings(pool=2000, sampling="random"), rng())
        for one, other in zip(ordered, shuffled, strict=True):
            assert set(one.untried) == set(other.untried)
        assert any(one.untried != other.untried for one, other in zip(ordered, shuffled, strict=True))

    def test_a_subset_of_features_makes_fewer_arms(self) -> None:
        features = tuple(name for name in FEATURE_NAMES if name != "compaction_frequency")
        arms = make_arms(synthetic_problem(), DremelSettings(pool=2000, features=features), rng())
        assert len(arms) == 8

    def test_places_are_those_of_the_search(self) -> None:
        problem = synthetic_problem()
        arms = make_arms(problem, SMALL, rng())
        first = [each.untried[0] for each in arms]
        found = pooled_configurations(problem, SMALL, rng(), first)
        assert [place.buckets for place in found] == [each.buckets for each in arms]
        for place, configuration in zip(found, first, strict=True):
            expected = wbf(problem, configuration)
            assert place.features["write_buffer_full_frequency"] == pytest.approx(expected, rel=1e-12)
        assert pooled_configurations(problem, SMALL, rng(), []) == []

    def test_are_rewarded_by_what_is_known_of_all(self) -> None:
        arms = [arm(), arm(), arm()]
        objective = synthetic_problem(objective="balance").objective
        for each, pair in zip(arms, [(300.0, 900.0), (200.0, 500.0), (100.0, 100.0)], strict=True):
            trial = Trial(each.untried[0], 60.0)
            each.results.append(Result(trial, Status.OK, synthetic_window(0.0, 60.0, *pair)))
        reward_arms(arms, objective)
        # The first and the last are beaten by both others in one field, the second by one of two.
        assert [each.rewards for each in arms] == [[0.0], [0.5], [0.0]]
        trial = Trial(arms[1].untried[0], 60.0)
        arms[1].results.append(Result(trial, Status.CRASHED, None, "signal 6"))
        arms[0].results.append(Result(trial, Status.OK, synthetic_window(0.0, 60.0, 250.0, 400.0)))
        reward_arms(arms, objective)
        # Of three others, now two are faster than the second and two sooner; one each beats the new result.
        assert arms[0].rewards == pytest.approx([0.0, 2 / 3])
        assert arms[1].rewards == pytest.approx([1 / 3])
        assert arms[2].rewards == [0.0]
        assert [each.failures for each in arms] == [0, 1, 0]


class TestConfidence:
    def test_standard_deviation_by_hand(self) -> None:
        # Mean 5, squared distances 9 + 1 + 1 + 9 = 20, over n - 1 = 3.
        assert standard_deviation([2.0, 4.0, 6.0, 8.0]) == pytest.approx(math.sqrt(20 / 3), rel=1e-12)
        assert standard_deviation([2.0]) == standard_deviation([]) == 0.0

    def test_the_global_deviation_stands_in_for_one_reward_alone(self) -> None:
        assert upper_confidence_bound([10.0], 3.0) == 13.0
        # Mean 11, deviation sqrt(((10 - 11)^2 + (12 - 11)^2) / 1) = sqrt(2).
        assert upper_confidence_bound([10.0, 12.0], 3.0) == pytest.approx(11 + math.sqrt(2), rel=1e-12)
        assert upper_confidence_bound([], 3.0) == -math.inf

    def test_the_highest_bounds_are_picked(self) -> None:
        # Bounds with a global deviation of 3: 13, 6 + 4 * sqrt(2) = 11.66, 12 + 0 = 12, 8.
        arms = [arm(10.0), arm(2.0, 10.0), arm(12.0, 12.0), arm(5.0)]
        assert promising_arms(arms, 3, 3.0) == [arms[0], arms[2], arms[1]]

    def test_negative_rewards_are_latencies(self) -> None:
        # -100 + 20 = -80 and -300 + 20 = -280: the lower latency promises more.
        arms = [arm(-300.0), arm(-100.0)]
        assert promising_arms(arms, 1, 20.0) == [arms[1]]

    def test_two_failures_end_an_arm_and_one_puts_it_last(self) -> None:
        arms = [arm(failures=1), arm(99.0, failures=2), arm(1.0), arm(5.0, failures=1), arm(50.0, untried=0)]
        assert promising_arms(arms, 5, 1.0) == [arms[3], arms[2], arms[0]]


class TestTimePoints:
    def test_steady_is_where_the_deviation_falls_below_a_tenth_of_the_mean(self) -> None:
        # Windows of three: (0, 50, 100) and (50, 100, 100) vary by 82% and 28%; (100, 100, 103) by 1.4%.
        operations = [0, 50, 100, 100, 103]
        assert steady_from_s(operations, 2.0, 6.0, 0.1) == 10.0
        assert steady_from_s(operations[:4], 2.0, 6.0, 0.1) is None
        assert steady_from_s([5], 2.0, 6.0, 0.1) is None

    def test_points_keep_the_paper_s_proportions(self) -> None:
        assert time_points_from_s(60.0, 120.0) == pytest.approx((60.0, 80.0, 100.0))
        # Never steady, or too late: the last point is the longest age, 120 = 72 * 5/3.
        assert time_points_from_s(None, 120.0) == pytest.approx((72.0, 96.0, 120.0))
        assert time_points_from_s(90.0, 120.0) == pytest.approx((72.0, 96.0, 120.0))

    def test_auto_probes_the_baseline_and_halves_where_it_is_steady(self) -> None:
        problem = synthetic_problem(scale=1, budget_s=5000.0)

        def respond(trial: Trial) -> Result:
            raw = dict(synthetic_window(0.0, trial.until_s).raw)
            # Nothing for 20 s and then a steady rate; the window of 10 s is full of it at 30 s.
            steps = [0] * 20 + [100] * (round(trial.until_s) - 20)
            raw["series"] = {"interval_s": 1.0, "operations": steps}
            return Result(trial, Status.OK, Measurement(raw))

        transcript = drive(
            Dremel(DremelSettings(pool=500, time_points_s="auto")).search(problem, rng()), respond
        )
        assert transcript.batches[0].trials == (Trial(problem.baseline, 120.0),)
        assert transcript.batches[1].release == ((problem.baseline, 0),)
        ages = {round(trial.until_s, 6) for batch in transcript.batches[1:] for trial in batch.trials}
        assert ages == {30.0, 40.0, 50.0}


class TestSearch:
    def test_the_paper_s_budget_gives_its_31_configurations(self) -> None:
        problem = synthetic_problem(scale=64)
        transcript = drive(Dremel(SMALL).search(problem, rng()))
        # 16 arms, three rounds of five at 60 s; 15 to 80 s, 7 to 100 s, each a batch.
        assert [len(batch.trials) for batch in transcript.batches] == [16, 5, 5, 5, 15, 7]
        ages = [60.0] * 4 + [80.0, 100.0]
        for batch, age_s in zip(transcript.batches, ages, strict=True):
            assert {trial.until_s for trial in batch.trials} == {age_s / 64}
        assert len(transcript.configurations) == 31
        assert transcript.spent_s == pytest.approx(2300 / 64, rel=1e-12)

    def test_the_best_at_the_first_point_reach_the_last(self) -> None:
        problem = synthetic_problem()
        transcript = drive(Dremel(SMALL).search(problem, rng()))
        first = [result for results in transcript.results[:4] for result in results]
        first.sort(key=lambda result: -result.figure("throughput_ops_s"))
        finalists = {trial.configuration for trial in transcript.batches[-1].trials}
        # The made-up throughput does not change with age, so the order at 60 s is the final one.
        assert finalists == {result.trial.configuration for result in first[:7]}

    def test_rounds_go_to_the_arms_that_gave_most(self) -> None:
        problem = synthetic_problem()

        def respond(trial: Trial) -> Result:
            # What the paper's feature says: the smaller the frequency, the better, by far.
            throughput_ops_s = 1e-3 / wbf(problem, trial.configuration)
            return Result(trial, Status.OK, synthetic_window(0.0, trial.until_s, throughput_ops_s))

        transcript = drive(Dremel(SMALL).search(problem, rng()), respond)
        pulled = [
            place.buckets[1]
            for batch in transcript.batches[1:4]
            for place in pooled_configurations(
                problem, SMALL, rng(), [trial.configuration for trial in batch.trials]
            )
        ]
        # Eight of the 16 arms lie in the lower bucket of write_buffer_full_frequency, the second feature.
        assert pulled == [1] * 15

    @pytest.mark.parametrize(
        ("objective", "best"),
        [("throughput_ops_s", (1, 2)), ("read_latency_us_p99", (2, 1)), ("balance", (1, 1))],
    )
    def test_rounds_of_a_balance_go_to_the_arm_that_is_good_in_both(
        self, objective: str, best: tuple[int, int]
    ) -> None:
        problem = synthetic_problem(objective=objective)
        settings = DremelSettings(
            pool=2000, features=("write_buffer_full_frequency", "read_sstable_cost"), top_arms=1, rounds=15
        )
        place = {
            configuration: each.buckets
            for each in make_arms(problem, settings, rng())
            for configuration in each.untried
        }
        # By arm: one is second in both figures, one best in throughput only, one in latency only, one last.
        figures: dict[tuple[int, ...], tuple[float, float]] = {
            (1, 1): (900.0, 200.0),
            (1, 2): (1000.0, 900.0),
            (2, 1): (100.0, 100.0),
            (2, 2): (90.0, 999.0),
        }

        def respond(trial: Trial) -> Result:
            window = synthetic_window(0.0, trial.until_s, *figures[place[trial.configuration]])
            return Result(trial, Status.OK, window)

        transcript = drive(Dremel(settings).search(replace(problem, budget_s=1e4), rng()), respond)
        pulled = [place[batch.trials[0].configuration] for batch in transcript.batches[1:16]]
        # An arm with one reward has the global deviation, so others may be tried once more, too.
        assert pulled.count(best) >= 12

    def test_losers_are_released_before_the_next_round(self) -> None:
        transcript = drive(Dremel(SMALL).search(synthetic_problem(), rng()))
        releases = [len(batch.release) for batch in transcript.batches]
        # 15 of the planned 31 go on, so of 16 runs 1 is lost, of 21 six, of 26 eleven, of 31 sixteen; then 8.
        assert releases == [0, 1, 5, 5, 5, 8]

    def test_fewer_rounds_where_the_budget_is_small(self) -> None:
        problem = synthetic_problem(scale=1, budget_s=1200.0)
        transcript = drive(Dremel(SMALL).search(problem, rng()))
        assert [len(batch.trials) for batch in transcript.batches] == [16, 8, 4]
        assert transcript.spent_s == 1200.0
        assert Dremel().min_budget_s(problem) == 1200.0

    def test_a_number_of_rounds_that_was_set_is_kept(self) -> None:
        problem = synthetic_problem(scale=1, budget_s=10_000.0)
        settings = DremelSettings(pool=500, rounds=1, top_arms=3)
        transcript = drive(Dremel(settings).search(problem, rng()))
        assert [len(batch.trials) for batch in transcript.batches] == [16, 3, 9, 4]

    def test_a_budget_below_one_halving_is_refused(self) -> None:
        with pytest.raises(UserError, match=r"one halving of 16 arms takes 20 min 0 s"):
            drive(Dremel(SMALL).search(synthetic_problem(scale=1, budget_s=1199.0), rng()))


class TestRegistry:
    def test_names(self) -> None:
        assert {"dremel", "random", "tuning-guide", "nsga2", "smpso"} <= set(tuner_names())
        assert all(tuner_named(name).summary == summary for name, summary in tuner_names().items())

    def test_settings_are_passed_on(self) -> None:
        tuner = tuner_named("dremel", {"buckets": 3, "time_points_s": [30, 40]})
        assert isinstance(tuner, Dremel)
        assert (tuner.settings.buckets, tuner.settings.time_points_s) == (3, (30.0, 40.0))

    @pytest.mark.parametrize(
        ("name", "settings", "message"),
        [
            ("dremmel", {}, "unknown tuner 'dremmel': did you mean 'dremel'"),
            ("dremel", {"bucket": 3}, "tuner dremel: unknown field 'bucket': did you mean 'buckets'"),
            ("dremel", {"buckets": 6}, "tuner dremel: buckets: .*less than or equal to 5"),
            ("dremel", {"time_points_s": [80, 60]}, "tuner dremel: time_points_s: must ascend"),
            ("dremel", {"features": []}, "tuner dremel: features: name one to four"),
            ("dremel", {"sampling": "best"}, "tuner dremel: sampling: "),
            ("random", {"buckets": 2}, "tuner random: unknown field 'buckets'"),
        ],
    )
    def test_mistakes_are_one_line(self, name: str, settings: dict[str, object], message: str) -> None:
        with pytest.raises(UserError, match=message) as error:
            tuner_named(name, settings)
        assert "\n" not in str(error.value)
