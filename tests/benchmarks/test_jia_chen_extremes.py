"""Extremes of spaces from noisy tables, against spaces whose extremes are known."""

import math
from dataclasses import replace

import numpy as np
import pytest
from benchmarks.jia_chen.extremes import max_throughput, min_latency, seed_errors, spaces
from benchmarks.jia_chen.noise import NoiseModel
from benchmarks.jia_chen.shared import LATENCY, THROUGHPUT, Recorded, as_table, made_up

from rocktune.table import Table


def _known() -> Recorded:
    """Returns a space without noise, in which all knobs but one matter a little."""
    rows = {}
    for each in made_up().rows:
        threads, buffers = float(each["threads"]), float(each["max_write_buffer_number"])
        compactions = float(each["max_background_compactions"])
        throughput = 3000 * threads**0.8 * buffers**0.02 * compactions**0.03
        rows[each] = {THROUGHPUT: throughput, LATENCY: 1000 * threads**0.9 * buffers**0.01}
    return replace(made_up(), rows=rows)


def _measured(known: Recorded, runs: int, seed: int) -> Recorded:
    rng = np.random.default_rng(seed)
    chosen = rng.choice(len(known.rows), runs, replace=False)
    configurations = list(known.rows)
    rows = {
        configurations[place]: {
            field: value * math.exp(rng.normal(0, 0.04))
            for field, value in known.rows[configurations[place]].items()
        }
        for place in chosen
    }
    return replace(known, rows=rows)


def test_extremes_without_the_luck_of_runs() -> None:
    known = _known()
    measured = _measured(known, 2160, seed=1)
    drawn = spaces(NoiseModel(measured), 60, seed=2)
    found = drawn.interval(max_throughput)
    assert found.low < known.max_throughput < found.high < 1.03 * found.low
    assert found.high < 0.95 * measured.max_throughput
    lowest = drawn.interval(min_latency)
    assert lowest.low < 1000 < lowest.high
    assert found.repeats == 2160


def test_intervals_of_samples_contain_the_maximum() -> None:
    known, contained = _known(), 0
    for seed in range(1, 9):
        measured = _measured(known, 540, seed)
        found = spaces(NoiseModel(measured), 40, seed).interval(max_throughput)
        contained += found.low < known.max_throughput < found.high
        assert found.value / known.max_throughput < (measured.max_throughput / known.max_throughput) ** 0.6
    assert contained >= 6


def test_further_errors_widen_an_interval_and_leave_the_value() -> None:
    drawn = spaces(NoiseModel(_measured(_known(), 540, seed=3)), 60, seed=4)
    plain = drawn.interval(max_throughput)
    wide = drawn.interval(max_throughput, 0.1 * np.random.default_rng(5).normal(size=60))
    assert wide.value == plain.value
    assert wide.high - wide.low > 2 * (plain.high - plain.low)
    assert drawn.interval(max_throughput, max_value=1.0).high == 1.0


def _controls(between: float, within: float) -> Table:
    """Returns a table with three controls of each of 200 seeds."""
    rng = np.random.default_rng(6)
    table = as_table(made_up())
    rows = []
    for replicate in range(1, 201):
        seed = rng.normal(0, between)
        for _ in range(3):
            figures = {field: math.exp(seed + rng.normal(0, within)) for field in (THROUGHPUT, LATENCY)}
            rows.append(replace(table.rows[0], replicate=replicate, figures=figures))
    return replace(table, rows=tuple(rows))


def test_seeds_are_told_from_runs() -> None:
    errors = seed_errors(_controls(between=0.05, within=0.02), 4000, 1)
    assert errors.std(axis=0) == pytest.approx([0.05, 0.05], rel=0.15)
    assert seed_errors(_controls(between=0.0, within=0.02), 4000, 1).std() < 0.005
    assert not seed_errors(as_table(made_up()), 10, 1).any()
