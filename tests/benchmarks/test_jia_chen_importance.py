from dataclasses import replace

import pytest
from benchmarks.jia_chen.importance import _around, _drawn, _r2
from benchmarks.jia_chen.shared import THROUGHPUT, as_table, made_up


def test_smaller_samples_say_less() -> None:
    table = as_table(made_up())
    small = replace(table, rows=table.rows[::20])
    widths = []
    for each in (table, small):
        drawn = _drawn(each, THROUGHPUT, 20, seed=3)
        around = _around(0.5, [_r2(found, "threads", 0) for found in drawn], len(each.rows))
        assert around.low < 0.5 < around.high
        widths.append(around.high - around.low)
    assert widths[0] < widths[1]


def test_intervals_stay_shares() -> None:
    around = _around(0.9, [0.5, 1.0], 10)
    assert around.low == pytest.approx(0.9 - 1.96 * 0.25)
    assert around.high == 1
