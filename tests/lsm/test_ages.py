"""Bytes that compactions by age move, against values worked by hand."""

import math

import pytest

from rocktune.lsm import periodic_bytes_per_s, ttl_bytes_per_s

GIB = 1 << 30


@pytest.mark.parametrize("style", ["leveled", "universal"])
def test_data_that_nothing_else_rewrites_are_read_and_written_once_an_age(style: str) -> None:
    # 10 GiB in 14,400 s: 745,654 bytes read and as many written each second.
    found = periodic_bytes_per_s(style, 10 * GIB, 14_400, 0.0)  # type: ignore[arg-type]
    assert found == pytest.approx(1_491_308, abs=1)
    nearly_idle = periodic_bytes_per_s(style, 10 * GIB, 14_400, 1e-12)  # type: ignore[arg-type]
    assert nearly_idle == pytest.approx(found, rel=1e-6)


def test_leveled_files_that_are_rewritten_at_random_rarely_reach_the_age() -> None:
    # Once an hour on average: a file reaches four hours with probability exp(-4), so that 1,000 bytes are
    # rewritten 1 / 3,600 / (e^4 - 1) = 5.183e-6 times a second.
    assert periodic_bytes_per_s("leveled", 1000, 14_400, 1 / 3600) == pytest.approx(0.010365, rel=1e-4)
    assert periodic_bytes_per_s("leveled", 1000, 14_400, 100.0) == 0


def test_universal_merges_of_all_runs_take_the_place_of_others() -> None:
    # All runs each 3,600 s instead of each 14,400 s: three of four merges are more than without the age.
    assert periodic_bytes_per_s("universal", 1000, 3600, 1 / 14_400) == pytest.approx(2000 * 0.75 / 3600)
    assert periodic_bytes_per_s("universal", 1000, 14_400, 1 / 3600) == 0


def test_a_ttl_moves_levels_that_take_longer_to_fill() -> None:
    # At 1 B/s, level 1 of 100 bytes is replaced in 100 s, level 2 of 1,000 bytes in 1,000 s. A ttl of 500 s
    # moves level 2 down twice as often: 10,000 bytes of level 3 are rewritten each 500 s, not each 1,000 s.
    assert ttl_bytes_per_s([0, 100, 1000, 0, 10_000], 500, 1.0) == pytest.approx(
        20_000 * (1 / 500 - 1 / 1000)
    )
    assert ttl_bytes_per_s([0, 100, 1000, 0, 10_000], 1001, 1.0) == 0
    assert ttl_bytes_per_s([0, 0, 1000], 500, 0.0) == 0
    assert math.isclose(ttl_bytes_per_s([5, 1000], 500, 0.0), 4.0)
