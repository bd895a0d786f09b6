"""The comparison of actions at equal memory."""

import numpy as np
import pytest
from benchmarks.ruskey.equal_memory import (
    CANDIDATES,
    K_ALONE,
    LEVELS,
    Candidate,
    Stores,
    best_policies,
    fitted_rates,
    mean_bits,
)

from rocktune.online.modelled import StoreCosts
from rocktune.units import MIB

SESSIONS = [(0.5, 8), (0.1, 8)]
STORES = Stores(StoreCosts(noise=0), entries=20_000_000, sessions=SESSIONS)
"""The same tree as at full size, less a level."""


@pytest.mark.parametrize("name", ["k", "buffer_4", "flush_4", "level1_80", "ratio_6", "cache_8"])
def test_entries_have_the_bits_that_buffers_and_cache_leave(name: str) -> None:
    (candidate,) = (each for each in CANDIDATES if each.name == name)
    # 2 x 2 MiB and 8 MiB are 1.68 and 3.36 bits of 20 million entries.
    left = {"buffer_4": 8 - 1.678, "flush_4": 8 - 1.678, "cache_8": 8 - 3.355}.get(name, 8.0)
    store = STORES.store(candidate, STORES.bits_of(candidate))
    assert mean_bits(store, SESSIONS) == pytest.approx(left, abs=0.001)


def test_rates_are_in_proportion_to_bytes_over_runs() -> None:
    # Four times the runs ask for a quarter of the rate: 2.885 bits more. The mean of both is 8.
    rates = fitted_rates(np.array([4.0, 1.0, 0.0]), np.array([10.0, 10.0, 0.0]), 8.0)
    bits = -np.log(np.maximum(rates, 1e-12)) / np.log(2) ** 2
    assert bits[:2] == pytest.approx([9.443, 6.557], abs=0.001)


def test_a_rate_is_at_most_1() -> None:
    # 99% of the data would get less than no bits, so all bits go to the rest.
    rates = fitted_rates(np.array([1.0, 1.0]), np.array([1.0, 99.0]), 0.05)
    assert rates[1] == pytest.approx(1.0)
    assert -np.log(rates[0]) / np.log(2) ** 2 == pytest.approx(5.0, abs=0.001)


def test_hindsight_gives_reads_few_runs_and_writes_many() -> None:
    store = STORES.store(Candidate("k"), 8.0)
    deep = store.shape().levels_in_use - 1
    assert best_policies(store, (1.0, 8), [1, 3, 10])[deep] == 1
    assert best_policies(store, (0.0, 80), [1, 3, 10])[1] == 10


def test_hindsight_leaves_the_store_alone() -> None:
    store = STORES.store(K_ALONE, 8.0)
    before = store.shape()
    assert len(best_policies(store, (0.5, 8), [1, 10])) == LEVELS
    assert store.shape() == before


def test_a_candidate_has_a_row_for_each_session() -> None:
    rows = STORES.hindsight(Candidate("buffer", buffer_bytes=4 * MIB), seed=3)
    assert [(row.session, row.read_share, row.missions) for row in rows] == [(0, 0.5, 8), (1, 0.1, 8)]
    assert all(row.seconds > 0 and row.candidate == "buffer_4" for row in rows)
