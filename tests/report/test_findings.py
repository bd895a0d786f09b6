import math
from typing import Any, get_args

import pytest
from tests.report import sample

from rocktune.outcome import Interval, StopReason
from rocktune.report import findings
from rocktune.report.advice import advice


@pytest.mark.parametrize(
    ("value", "written"),
    [
        (75_912.4, "75,900"),
        (4.1987, "4.20"),
        (0.0123456, "0.0123"),
        (0, "0"),
        (-12.34, "−12.3"),
        (math.nan, "–"),
        (None, "–"),
    ],
)
def test_numbers_have_three_significant_digits(value: float | None, written: str) -> None:
    assert findings.format_number(value) == written


@pytest.mark.parametrize(
    ("value", "written"), [(1.571, "1.57×"), (1.004, "1.004×"), (0.997, "0.997×"), (1.006, "1.01×")]
)
def test_ratio_never_rounds_onto_one(value: float, written: str) -> None:
    assert findings.format_ratio(Interval(value=value, low=None, high=None, repeats=1)) == written


def test_figures_in_bytes_have_intervals_in_bytes() -> None:
    interval = Interval(value=900 * 2**20, low=840 * 2**20, high=895.5 * 2**20, repeats=4)
    assert findings.format_field("full_size_memory_bytes", interval.value) == "900MiB"
    assert findings.format_field_interval("full_size_memory_bytes", interval) == "840MiB to 895.5MiB"
    speeds = Interval(value=2.0, low=1.9, high=2.12, repeats=4)
    assert findings.format_field_interval("throughput_ops_s", speeds) == "1.90 to 2.12"
    unknown = Interval(value=1.0, low=None, high=None, repeats=1)
    assert findings.format_field_interval("throughput_ops_s", unknown) == "–"


def test_sizes_get_a_unit_and_counts_do_not() -> None:
    assert findings.format_option("write_buffer_size", 64 << 20) == "64MiB"
    assert findings.format_option("max_bytes_for_level_base", "1073741824") == "1GiB"
    assert findings.format_option("level0_file_num_compaction_trigger", 4096) == "4096"
    assert findings.format_option("pin_l0", True) == "true"


def test_headline_of_a_gain_names_amount_baseline_and_scale() -> None:
    assert findings.headline(sample.outcome()) == (
        "57% more throughput than the tuning guide's configuration in short runs, on a 1/64 model"
    )


@pytest.mark.parametrize(
    ("changes", "sentence"),
    [
        ({"proof_pairs": 8}, "The proof ended after 8 pairs of runs: their number was given."),
        (
            {"proof_pairs": 4, "stopped": "better"},
            "The proof ended after 4 pairs of runs: the interval lies above 1.",
        ),
        (
            {"proof_pairs": 1, "stopped": "failed"},
            "The proof ended after 1 pair of runs: a run of the tuned configuration failed.",
        ),
        (
            {"proof_pairs": 12, "stopped": "maximum"},
            "The proof ended after 12 pairs of runs: that is the maximum.",
        ),
        ({"best": None, "proof_pairs": 0}, ""),
        ({"proof_pairs": 0}, ""),
    ],
)
def test_how_a_proof_ended_is_one_sentence(changes: dict[str, Any], sentence: str) -> None:
    assert findings.proof_sentence(sample.outcome(**changes)) == sentence


@pytest.mark.parametrize("reason", get_args(StopReason))
def test_every_reason_to_stop_has_words(reason: str) -> None:
    assert findings.proof_sentence(sample.outcome(proof_pairs=6, stopped=reason)).endswith(".")


def test_headline_of_a_latency_gain_says_less() -> None:
    outcome = sample.outcome(
        objective="read_latency_us_p99", ratio_to_baseline=sample.interval(2.0, 1.8, 2.2)
    )
    # Twice as good is half the latency: 1 - 1 / 2 = 50% less.
    assert findings.headline(outcome).startswith("50% less read latency p99 than")


@pytest.mark.parametrize(
    ("objective", "start"),
    [
        ("throughput_ops_s", "More throughput than"),
        ("read_latency_us_p99", "Less read latency p99 than"),
        ("cost", "Less cost than"),
        ("0.5*throughput_ops_s + 0.5*read_latency_us_p99", "Better weighted figures than"),
    ],
)
def test_headline_of_a_gain_without_its_tail_has_the_figures_direction(objective: str, start: str) -> None:
    unknown = {"value": None, "low": None, "high": None, "repeats": 0}
    latencies = ("latency_us_p50", "latency_us_p99", "latency_us_p999", "longest_wait_us")
    side = dict.fromkeys((*latencies, "share_below_rate"), unknown)
    ratios = {"p99_ratio": unknown, "longest_wait_ratio": unknown}
    limits = {"max_p99_ratio": 1.25, "max_longest_wait_ratio": 1.5, "verdict": "worse"}
    tail = {"offered_ops_s": 9.0, "offered_share": 0.8, "best": side, "baseline": side} | ratios | limits
    outcome = sample.outcome(objective=objective, recommended="baseline", tail=tail)
    assert findings.headline(outcome).startswith(start)


def test_gain_whose_interval_contains_one_is_not_proven() -> None:
    outcome = sample.undecided_outcome()
    assert not findings.is_proven(outcome)
    assert findings.headline(outcome).startswith("No proven gain")


def test_gain_is_not_proven_against_the_recommendation() -> None:
    assert not findings.is_proven(sample.outcome(recommended="baseline"))


def test_advice_names_scale_debug_build_and_failures_only_where_they_apply() -> None:
    lines = advice(sample.outcome())
    assert len(lines) == 3
    assert "verify orders-write-heavy --scale 1" in lines[0]
    assert "debug build" in lines[1]
    assert "1 crashed" in lines[2]
    assert len(advice(sample.undecided_outcome())) == 1


def test_without_a_winner_there_is_nothing_to_prove_again() -> None:
    assert not any("rocktune verify" in line for line in advice(sample.unproven_outcome()))


def test_an_idle_device_asks_for_a_larger_model() -> None:
    def told(share: float | None, scale: str) -> bool:
        outcome = sample.outcome(device_busy_share=share, verified_at_scale=scale)
        return any("The device was busy for 31% of the time" in line for line in advice(outcome))

    assert told(0.31, "1/64")
    assert not told(0.31, "1/4")
    assert not told(0.31, "1")
    assert not told(0.95, "1/64")
    assert not told(None, "1/64")


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"matters": True, "verdict": "helps", "kept": True}, "helps"),
        ({"matters": False, "verdict": "undecided", "kept": False}, "no measurable effect; left out"),
        ({"matters": False, "verdict": "harms", "kept": True}, "harms"),
        ({"matters": True, "verdict": "helps", "together_with": ["a", "b"]}, "helps, together with a, b"),
        (
            {"matters": True, "verdict": "helps", "together_with": list("abc")},
            "helps, together with 3 others",
        ),
    ],
)
def test_option_verdict(change: dict[str, object], said: str) -> None:
    effect = sample.outcome().options_that_matter[0]
    assert findings.option_verdict(effect.model_copy(update=change)) == said


def test_the_baseline_is_called_what_it_is() -> None:
    names = {
        source: findings.baseline_name(
            sample.outcome(baseline=sample.document()["baseline"] | {"source": source})
        )
        for source in ("options_file", "tuning_guide", "space_default")
    }
    assert names == {
        "options_file": "your own configuration",
        "tuning_guide": "the tuning guide's configuration",
        "space_default": "the space's default configuration",
    }
