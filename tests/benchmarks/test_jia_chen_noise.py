"""The model of a table's noise and the emulation of searches, on tables whose truth is known."""

import math
from dataclasses import replace

import numpy as np
import pytest
from benchmarks.jia_chen.emulation import algorithm, emulate, share_interval, share_within
from benchmarks.jia_chen.noise import NoiseModel
from benchmarks.jia_chen.shared import LATENCY, THROUGHPUT, Recorded, made_up

NOISE = {THROUGHPUT: 0.04, LATENCY: 0.05}


@pytest.fixture(scope="module")
def truth() -> Recorded:
    """Products of effects of one and two knobs, which the model can represent, without noise."""
    rows = {}
    for each in made_up().rows:
        threads, buffers = float(each["threads"]), float(each["max_write_buffer_number"])
        throughput = 3000 * threads**0.8 * (1 + 0.08 * (threads == 8 and buffers > 4))
        rows[each] = {THROUGHPUT: throughput, LATENCY: 1000 * threads**0.9 * buffers**0.01}
    return replace(made_up(), rows=rows)


@pytest.fixture(scope="module")
def measured(truth: Recorded) -> Recorded:
    rng = np.random.default_rng(1)
    rows = {
        each: {field: row[field] * math.exp(rng.normal(0, NOISE[field])) for field in row}
        for each, row in truth.rows.items()
    }
    return replace(truth, rows=rows)


def test_noise_and_truth_are_told_apart(truth: Recorded, measured: Recorded) -> None:
    model = NoiseModel(measured)
    for field, deviation in NOISE.items():
        assert model.noise[field] == pytest.approx(deviation, rel=0.1)
        # The prediction of a left-out run errs by its noise and by that of about 1.06 times as many effects.
        assert deviation < model.left_out_error[field] < 1.15 * deviation
        errors = [math.log(row[field] / truth.rows[each][field]) for each, row in model.truth().rows.items()]
        assert np.std(errors) < 0.4 * deviation
    # The luckiest of 2,160 runs exceeds the best by three deviations; the prediction does not.
    assert measured.max_throughput > 1.05 * truth.max_throughput
    assert model.truth().max_throughput < 1.05 * truth.max_throughput


def test_draws_of_the_truth_differ_by_its_error_and_runs_by_the_noise(measured: Recorded) -> None:
    model = NoiseModel(measured)
    known = model.truth()
    drawn = model.truth(np.random.default_rng(2))
    again = model.run_of_each(known, np.random.default_rng(3))

    def deviation(other: Recorded) -> float:
        return float(
            np.std([math.log(other.rows[each][LATENCY] / row[LATENCY]) for each, row in known.rows.items()])
        )

    assert deviation(drawn) == pytest.approx(NOISE[LATENCY] * math.sqrt(122 / 2160), rel=0.35)
    assert deviation(again) == pytest.approx(NOISE[LATENCY], rel=0.1)


def test_success_within_a_runs_noise(truth: Recorded) -> None:
    exact, noisy = algorithm(truth, "ga"), algorithm(truth, "ga", noise={THROUGHPUT: 0.04})
    # With 8 threads everything is within 5% of the best or 1.08 times below it.
    assert {each["threads"] for each in noisy.succeeds} == {8}
    assert len(exact.succeeds) < len(noisy.succeeds) == 540
    # The bound is one configuration's own latency, so that exactly few keep it near the best.
    assert len(algorithm(truth, "nsga2").succeeds) < len(algorithm(truth, "nsga2", noise=NOISE).succeeds)


def test_repeated_individuals_are_counted(truth: Recorded) -> None:
    found = emulate(truth, algorithm(truth, "ga"), 100, 1, until_success=False)
    assert len(found.order) == len(found.individuals) == 100
    assert found.individuals[:10] == tuple(range(1, 11))
    assert all(a < b for a, b in zip(found.individuals, found.individuals[1:], strict=False))
    assert found.individuals[-1] > 120
    assert found.charged_to_success == found.individuals[int(found.steps_to_success) - 1]
    drawn = emulate(truth, algorithm(truth, "random"), 20, 1, until_success=False)
    assert drawn.individuals == tuple(range(1, 1 + len(drawn.order)))


def test_shares_by_hand() -> None:
    assert share_within([1, 2, 3, 4, 5, 6, 7, 8, 9, math.inf], 0.9, 90) == 0.1
    assert share_within([math.inf], 0.9, 90) == 10
    low, high = share_interval([[10.0] * 50, [20.0] * 50], 0.9, 100, 1)
    # Groups are drawn whole: by 1 in 4 both are the first.
    assert (low, high) == (0.1, 0.2)
