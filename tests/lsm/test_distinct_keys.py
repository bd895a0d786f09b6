import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rocktune.lsm import DistinctKeys


def test_uniform_keys_by_hand() -> None:
    # 1,000 keys, 1,000 writes: 1,000 * (1 - e^-1) = 632.12.
    distinct = DistinctKeys(np.array([1000.0]), np.array([0.001]))
    assert float(distinct(1000)) == pytest.approx(632.12, rel=1e-3)


def test_two_groups_by_hand() -> None:
    # One key gets half of the writes, 999 share the rest. Two writes: 1 - e^-1 of the hot key, and
    # 999 * (1 - e^(-2 * 0.5 / 999)) = 0.9995 of the others.
    distinct = DistinctKeys(np.array([1.0, 999.0]), np.array([0.5, 0.5 / 999]))
    assert float(distinct(2)) == pytest.approx(1 - math.exp(-1) + 0.9995, rel=1e-3)


def test_infinitely_many_writes_give_all_keys() -> None:
    distinct = DistinctKeys(np.array([7.0, 3.0]), np.array([0.1, 0.1]))
    assert list(distinct(np.array([0.0, math.inf]))) == [0.0, 10.0]


def test_inserts_are_always_distinct() -> None:
    old = DistinctKeys(np.array([1000.0]), np.array([0.001]))
    new = DistinctKeys(np.array([1000.0]), np.array([0.001]), new_share=1.0)
    assert float(new(500)) == pytest.approx(500, rel=1e-3)
    assert float(old(500)) < 400


@given(st.integers(1, 10**8), st.floats(0, 1e9, allow_nan=False), st.floats(0, 1e9, allow_nan=False))
def test_more_writes_never_give_fewer_keys(keys: int, first: float, more: float) -> None:
    distinct = DistinctKeys(np.array([float(keys)]), np.array([1 / keys]))
    before, after = distinct(np.array([first, first + more]))
    assert 0 <= before <= after <= keys
    assert before <= first * (1 + 1e-9)
