import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rocktune.lsm import (
    level_count,
    worst_case_read_amplification,
    worst_case_space_amplification,
    worst_case_write_amplification,
)

MIB = 1 << 20


def levels(**changes: float) -> float:
    arguments = {
        "expected_entries": 16 * MIB,
        "entry_bytes": 1024,
        "level0_file_num_compaction_trigger": 4,
        "target_file_size_base": 64 * MIB,
        "max_bytes_for_level_multiplier": 8,
        "num_levels": 7,
    }
    return float(level_count(**(arguments | changes)))


def test_level_count_by_hand() -> None:
    # Data: 2^24 entries * 2^10 B = 2^34 B. Level 0: 4 * 2^26 = 2^28 B. Ratio 2^6 = 64, times 7/8 = 56.
    # log_8 56 = 1 + log_8 7 = 1 + ln 7 / ln 8 = 1 + 1.945910149 / 2.079441542 = 1.935785
    assert levels() == pytest.approx(1.935785, abs=1e-6)


def test_level_count_where_the_logarithm_is_whole() -> None:
    # Data 2^34 B, T = 2: factor (T-1)/T = 1/2. 2^34 / 2^28 / 2 = 2^5, log_2 = 5.
    assert levels(max_bytes_for_level_multiplier=2) == pytest.approx(5)


def test_level_count_is_clamped() -> None:
    # 2^10 entries fill a 256th of level 0: the logarithm is negative.
    assert levels(expected_entries=1024) == 1
    # 2^44 entries: log_8 (2^54 / 2^28 * 7/8) = 8.6, above num_levels.
    assert levels(expected_entries=2**44) == 7


def test_level_count_broadcasts() -> None:
    result = level_count(
        expected_entries=16 * MIB,
        entry_bytes=1024,
        level0_file_num_compaction_trigger=np.array([4, 4]),
        target_file_size_base=np.array([64, 64]) * MIB,
        max_bytes_for_level_multiplier=np.array([8, 2]),
        num_levels=7,
    )
    assert result == pytest.approx([1.935785, 5], abs=1e-6)


def test_worst_case_amplifications_by_hand() -> None:
    # 1/4 + 1/16 + 1/64 = 0.328125
    assert float(worst_case_space_amplification(4, 3)) == pytest.approx(0.328125)
    # 3 levels and 24 files of level 0.
    assert float(worst_case_read_amplification(3, 24)) == 27
    # 16 times in each of 3 levels.
    assert float(worst_case_write_amplification(16, 3)) == 48


@settings(max_examples=60)
@given(ratio=st.integers(2, 32), depth=st.integers(1, 12))
def test_space_amplification_is_the_sum_it_stands_for(ratio: int, depth: int) -> None:
    expected = sum(ratio**-level for level in range(1, depth + 1))
    assert float(worst_case_space_amplification(ratio, depth)) == pytest.approx(expected)
