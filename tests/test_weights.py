import math

import pytest

from rocktune.errors import UserError
from rocktune.objective import objective_named
from rocktune.testing.synthetic import synthetic_window
from rocktune.trial import Configuration, Result, Status, Trial
from rocktune.weights import parse_weighted

BOTH = "0.7*throughput_ops_s + 0.3*read_latency_us_p99"


def result(throughput: float, latency_us: float) -> Result:
    return Result(
        Trial(Configuration({}), 2.0), Status.OK, synthetic_window(0.0, 2.0, throughput, latency_us)
    )


def test_a_sum_by_hand() -> None:
    weighted = parse_weighted("3*throughput_ops_s + 1*read_latency_us_p99")
    directions = {"throughput_ops_s": 1, "read_latency_us_p99": -1}
    # Weights are divided by their sum: 3/4 and 1/4.
    score = weighted.score({"throughput_ops_s": 16.0, "read_latency_us_p99": 81.0}, directions)
    assert score == pytest.approx(8.0 / 3.0)
    assert math.isnan(weighted.score({"throughput_ops_s": 0.0, "read_latency_us_p99": 1.0}, directions))
    assert math.isnan(weighted.score({"throughput_ops_s": math.nan, "read_latency_us_p99": 1.0}, directions))


def test_it_is_read_as_written() -> None:
    name = objective_named(" .7 * throughput_ops_s+0.30*read_latency_us_p99").name
    assert name == BOTH
    assert objective_named(name).fields == (BOTH,)
    assert not objective_named(name).seeks_front


@pytest.mark.parametrize(
    ("given", "written"),
    [
        ("1000000", "1000000"),
        ("123456789.5", "123456789.5"),
        ("0.0000001", "0.0000001"),
        ("0.333333333", "0.333333333"),
        ("9" * 30, "1" + "0" * 30),
    ],
)
def test_every_weight_is_read_as_written(given: str, written: str) -> None:
    name = objective_named(f"{given}*throughput_ops_s + 1*read_latency_us_p99").name
    assert name == f"{written}*throughput_ops_s + 1*read_latency_us_p99"
    assert objective_named(name).fields == (name,)


def test_the_ratio_is_the_weighted_geometric_mean_of_the_ratios() -> None:
    objective = objective_named(BOTH)
    better, than = result(2000.0, 80.0), result(1000.0, 100.0)
    values = [objective.figure(each, objective.primary) for each in (better, than)]
    assert objective.improvement(*values) == pytest.approx(2.0**0.7 * 1.25**0.3, rel=1e-3)


def test_weights_decide_between_two_that_are_each_better_in_one() -> None:
    fast, prompt = result(1300.0, 120.0), result(1000.0, 100.0)
    assert objective_named(BOTH).ranks([fast, prompt]) == [0, 1]
    reverse = "0.3*throughput_ops_s + 0.7*read_latency_us_p99"
    assert objective_named(reverse).ranks([fast, prompt]) == [1, 0]


def test_its_terms_are_measured_and_shown() -> None:
    objective = objective_named(f"{BOTH} + 0.5*cost", ["scan_latency_us_p99<=9"])
    terms = ("throughput_ops_s", "read_latency_us_p99")
    assert objective.measured_fields == (*terms, "scan_latency_us_p99")
    assert objective.shown_fields == (objective.primary, "scan_latency_us_p99", *terms, "cost")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("throughput_ops_s*0.7 + read_latency_us_p99*0.3", "is not of the form WEIGHT"),
        ("0.7*throughput_ops_s + ", "is not of the form WEIGHT"),
        ("-1*throughput_ops_s + 1*cost", "is not of the form WEIGHT"),
        ("0*throughput_ops_s + 1*cost", "throughput_ops_s has the weight 0"),
        ("0.5*throughput_ops_s + 0.5*throughput_ops_s", "has two weights"),
        ("1*throughput_ops_s", "weighs one figure alone"),
        ("0.5*throughput_ops + 0.5*cost", "did you mean 'throughput_ops_s'"),
        ("0.5*throughput_ops_s + 0.5*max_write_stop_s", "may be 0 and has no ratio"),
        ("0.5*throughput_ops_s + 0.5*balance", "unknown objective 'balance': use one of"),
    ],
)
def test_a_bad_sum_is_one_line(text: str, message: str) -> None:
    with pytest.raises(UserError, match=message) as error:
        objective_named(text)
    assert "\n" not in str(error.value)
