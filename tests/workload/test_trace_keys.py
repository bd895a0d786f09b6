"""The number of keys and the skew of a trace."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rocktune.workload import TraceFamily
from rocktune.workload.trace_keys import KeyUse, _modelled, fitted_keys, key_use, skew_among


def drawn(keys: int, operations: int, skew: float, seed: int = 7) -> KeyUse:
    """Draws keys by Zipf's law."""
    popularity = np.arange(1, keys + 1.0) ** -skew
    draws = np.random.default_rng(seed).choice(keys, size=operations, p=popularity / popularity.sum())
    counts = np.sort(np.bincount(draws))[::-1]
    used = int(np.count_nonzero(counts))
    return KeyUse(operations, used, float(counts[: -(-used // 100)].sum()) / operations)


@pytest.mark.parametrize("skew", [0.0, 0.4, 0.7, 0.99])
def test_keys_that_no_operation_names_are_found_with_the_skew(skew: float) -> None:
    use = drawn(20_000, 30_000, skew)
    assert use.used_keys < 16_000
    found = fitted_keys(use)
    assert found.keys == pytest.approx(20_000, rel=0.1)
    assert found.skew.skew == pytest.approx(skew, abs=0.02)
    assert found.skew.min_skew <= found.skew.skew <= found.skew.max_skew
    assert not found.is_bound


@pytest.mark.parametrize("skew", [0.0, 0.6, 0.9])
def test_with_known_keys_the_distinct_ones_check_the_skew(skew: float) -> None:
    found = skew_among(50_000, drawn(50_000, 40_000, skew))
    assert found.skew == pytest.approx(skew, abs=0.02)
    assert [name for name, _, _ in found.figures] == [
        "hottest hundredth of the keys",
        "distinct keys over operations",
    ]
    assert found.error < 0.01


def test_a_short_trace_of_uniform_keys_has_no_skew() -> None:
    # 40 keys are the hottest hundredth: the share of their 240 operations varies by 3%.
    uses = [drawn(5_000, 8_000, 0.0, seed) for seed in range(30)]
    assert [skew_among(5_000, use).skew for use in uses] == [0] * len(uses)
    assert fitted_keys(uses[0]).skew.max_skew < 0.25


@pytest.mark.parametrize(("keys", "operations", "skew"), [(5_000, 8_000, 0.0), (2_000, 40_000, 0.6)])
def test_the_share_of_the_hottest_keys_varies_as_in_draws(keys: int, operations: int, skew: float) -> None:
    uses = [drawn(keys, operations, skew, seed) for seed in range(300)]
    modelled = _modelled(keys, skew, uses[0])
    shares = [use.hot_share for use in uses]
    assert modelled.fit.figures[0][1] == pytest.approx(np.mean(shares), rel=0.02)
    assert modelled.hot_share_deviation == pytest.approx(np.std(shares), rel=0.15)


def test_wrong_numbers_of_keys_show_as_an_error() -> None:
    assert skew_among(500_000, drawn(5_000, 40_000, 0.0)).error > 0.5


def test_operations_that_all_have_keys_of_their_own_bound_the_number() -> None:
    found = fitted_keys(KeyUse(1000, 990, 10 / 1000))
    assert (found.keys, found.is_bound) == (990, True)


@given(st.integers(1, 10**9), st.floats(0.0, 1.0), st.floats(0.0, 1.0))
def test_any_use_has_keys_and_a_skew(operations: int, used: float, hot: float) -> None:
    used_keys = max(1, round(operations * used))
    # The hottest hundredth of the keys has at least its share of the operations, and one each at least.
    hottest = -(-used_keys // 100)
    low = hottest / used_keys
    found = fitted_keys(KeyUse(operations, used_keys, low + (1 - low) * hot))
    assert found.keys >= used_keys
    assert 0 <= found.skew.min_skew <= found.skew.skew <= found.skew.max_skew < 1


def test_ends_of_deleted_ranges_are_no_keys() -> None:
    family = TraceFamily(id=0, keys=9, used_keys=4, present_keys=4, mean_key_bytes=16, mean_value_bytes=0,
                         max_value_bytes=0, operations={"get": 6, "delete_range": 5})  # fmt: skip
    assert key_use([family, family], 0.5) == KeyUse(12, 8, 0.5)
    ranges = family.model_copy(update={"operations": {"delete_range": 5}})
    assert key_use([ranges], 0.5) is None
