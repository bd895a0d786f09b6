from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rocktune.lsm import (
    FEATURE_NAMES,
    compaction_frequency,
    fused_features,
    level0_size_bytes,
    read_sstable_cost,
    write_buffer_full_frequency,
)

MIB = 1 << 20

# Numbers chosen so that every feature can be worked by hand.
BY_HAND: dict[str, Any] = {
    "level0_file_num_compaction_trigger": 4,
    "target_file_size_base": 64 * MIB,
    "target_file_size_multiplier": 2,
    "max_bytes_for_level_multiplier": 2,
    "num_levels": 10,
    "max_background_compactions": 3,
    "max_background_flushes": 2,
    "max_write_buffer_number": 6,
    "min_write_buffer_number_to_merge": 2,
    "write_buffer_size": 64 * MIB,
    "block_size": 4096,
}
MEASURE: dict[str, Any] = {"expected_entries": 16 * MIB, "entry_bytes": 1024, "memory_bytes": 1000 * MIB}


def test_fused_features_by_hand() -> None:
    features = fused_features(BY_HAND, **MEASURE)
    assert tuple(features) == FEATURE_NAMES
    # #Level = log_2 (2^34 / (4 * 2^26) / 2) = log_2 2^5 = 5.
    # Sum of 2^-(i-1) for i = 1..5: 1 + 1/2 + 1/4 + 1/8 + 1/16 = 1.9375.
    # 3/5 * (2+1) / 2^26 * 1.9375 = 3.4875 / 67108864
    assert features["compaction_frequency"] == pytest.approx(3.4875 / 67108864)
    # C M W = 4 * 2 * 2^26 = 2^29; Q W U = 6 * 2^26 * 2 = 12 * 2^26.
    # 1/2^29 + 1/(12 * 2^26) = (1/8 + 1/12) / 2^26 = (5/24) / 2^26
    assert features["write_buffer_full_frequency"] == pytest.approx(5 / 24 / 67108864)
    # (4 + 5) / 4096
    assert features["read_sstable_cost"] == pytest.approx(9 / 4096)
    # 1000 - 6 * 64 = 616 MiB: table 1's default cache size.
    assert features["block_cache_hit_rate"] == pytest.approx(616 * MIB)


def test_printed_form_divides_by_num_levels() -> None:
    # 3/10 in place of 3/5.
    printed = fused_features(BY_HAND, **MEASURE, printed=True)
    assert printed["compaction_frequency"] == pytest.approx(3.4875 / 2 / 67108864)


def test_sum_is_the_number_of_levels_when_files_do_not_grow() -> None:
    # R = 1: 2/4 * (9+1)/100 * 4 = 0.2
    result = compaction_frequency(
        max_background_compactions=2,
        max_bytes_for_level_multiplier=9,
        target_file_size_base=100,
        target_file_size_multiplier=1,
        levels=4,
    )
    assert float(result) == pytest.approx(0.2)


@settings(max_examples=60)
@given(ratio=st.integers(1, 8), depth=st.integers(1, 10))
def test_compaction_frequency_is_the_sum_it_stands_for(ratio: int, depth: int) -> None:
    result = compaction_frequency(
        max_background_compactions=1,
        max_bytes_for_level_multiplier=9,
        target_file_size_base=10,
        target_file_size_multiplier=ratio,
        levels=depth,
    )
    assert float(result) == pytest.approx(sum(ratio ** -(level - 1) for level in range(1, depth + 1)) / depth)


def test_single_formulas_by_hand() -> None:
    # 2 * 3 * 10 = 60
    assert float(level0_size_bytes(2, 3, 10)) == 60
    # 1/60 + 1/(4 * 10 * 1) = 0.016667 + 0.025
    full = write_buffer_full_frequency(
        level0_file_num_compaction_trigger=2,
        min_write_buffer_number_to_merge=3,
        write_buffer_size=10,
        max_write_buffer_number=4,
        max_background_flushes=1,
    )
    assert float(full) == pytest.approx(1 / 60 + 1 / 40)
    # (2 + 1.5) / 7
    assert float(read_sstable_cost(level0_file_num_compaction_trigger=2, levels=1.5, block_size=7)) == 0.5


def test_features_are_vectorised() -> None:
    two = {name: np.array([value, value]) for name, value in BY_HAND.items()}
    two["target_file_size_multiplier"] = np.array([1, 2])
    vectorised = fused_features(two, **MEASURE)
    for position, ratio in enumerate((1, 2)):
        single = fused_features(BY_HAND | {"target_file_size_multiplier": ratio}, **MEASURE)
        for name in FEATURE_NAMES:
            assert vectorised[name].shape == (2,)
            assert vectorised[name][position] == pytest.approx(float(single[name]))
