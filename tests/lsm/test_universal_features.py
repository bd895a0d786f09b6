import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rocktune.lsm import FEATURE_NAMES, fused_features, index_bytes
from rocktune.lsm.universal_features import (
    first_merge_bytes,
    last_run_ratio,
    max_sorted_runs,
    merge_steps,
    run_growth,
    universal_compaction_frequency,
    universal_read_sstable_cost,
)

MIB = 1 << 20

# Numbers chosen so that every feature can be worked by hand.
BY_HAND: dict[str, Any] = {
    "level0_file_num_compaction_trigger": 4,
    "max_background_compactions": 3,
    "max_background_flushes": 2,
    "max_write_buffer_number": 6,
    "min_write_buffer_number_to_merge": 2,
    "write_buffer_size": 64 * MIB,
    "block_size": 4096,
    "universal_size_ratio": 0,
    "universal_min_merge_width": 2,
    "universal_max_merge_width": 4,
    "universal_max_size_amplification_percent": 100,
    "universal_max_read_amp": -1,
    # Of leveled compaction, as in every store.
    "target_file_size_base": 64 * MIB,
    "target_file_size_multiplier": 2,
    "max_bytes_for_level_multiplier": 2,
    "num_levels": 10,
}
MEASURE: dict[str, Any] = {"expected_entries": 16 * MIB, "entry_bytes": 1024, "memory_bytes": 1000 * MIB}
DATA_BYTES = 2.0**34


def test_fused_features_of_universal_compaction_by_hand() -> None:
    features = fused_features(BY_HAND, **MEASURE, universal=True)
    assert tuple(features) == FEATURE_NAMES
    # G = 2, Z = 1, b = 4 * 2 * 2^26 = 2^29. #Step = 1 + log_2(2^34 / (2^29 * 2)) = 5.
    # Four steps write 1 + 1/2 + 1/4 + 1/8 = 1.875, the last one 2 / 2^4 = 0.125, together 2: 3/5 * 2 / 2^29.
    assert features["compaction_frequency"] == pytest.approx(1.2 / 2**29)
    # As for leveled compaction: (1/8 + 1/12) / 2^26.
    assert features["write_buffer_full_frequency"] == pytest.approx(5 / 24 / 2**26)
    # Four runs in blocks of 4,096 bytes.
    assert features["read_sstable_cost"] == pytest.approx(4 / 4096)
    assert features["block_cache_hit_rate"] == pytest.approx(616 * MIB)


def test_the_printed_form_divides_by_num_levels() -> None:
    printed = fused_features(BY_HAND, **MEASURE, universal=True, printed=True)
    assert printed["compaction_frequency"] == pytest.approx(0.6 / 2**29)


def test_styles_may_be_mixed() -> None:
    two = {name: np.array([value, value]) for name, value in BY_HAND.items()}
    mixed = fused_features(two, **MEASURE, universal=np.array([False, True]))
    for name in FEATURE_NAMES:
        alone = [float(fused_features(BY_HAND, **MEASURE, universal=style)[name]) for style in (False, True)]
        assert mixed[name].tolist() == pytest.approx(alone)
    # 3/5 * 3 / 2^26 * 1.9375 (tests/lsm/test_features.py): files are smaller than runs.
    assert mixed["compaction_frequency"][0] / mixed["compaction_frequency"][1] == pytest.approx(23.25)


def test_metadata_takes_room_from_the_cache() -> None:
    features = fused_features(BY_HAND, **MEASURE, metadata_bytes=16 * MIB)
    assert features["block_cache_hit_rate"] == pytest.approx(600 * MIB)
    # 2^34 / 2^12 blocks of 24 bytes.
    assert float(index_bytes(16 * MIB, 1024, 4096)) == 24 * 2**22


@pytest.mark.parametrize(
    ("ratio", "width", "growth"), [(0, 2, 2.0), (50, 2, 2.5), (1, 4, 4.0), (100, 3, 3.0)]
)
def test_growth_by_hand(ratio: int, width: int, growth: float) -> None:
    assert float(run_growth(ratio, width)) == pytest.approx(growth)


@pytest.mark.parametrize(
    # At 25% of the last run, it is 4 times as large; at 200% it is of a similar size before.
    ("ratio", "percent", "last"),
    [(1, 25, 4.0), (20, 200, 1.2), (0, 100, 1.0), (1, 0, 100.0)],
)
def test_last_run_by_hand(ratio: int, percent: int, last: float) -> None:
    assert float(last_run_ratio(ratio, percent)) == pytest.approx(last)


def test_first_merge_by_hand() -> None:
    # At most 8 of 12 runs of 3 buffers of 10 bytes; all of 6.
    assert float(first_merge_bytes(12, 8, 3, 10)) == 240
    assert float(first_merge_bytes(6, 8, 3, 10)) == 180


def test_steps_by_hand() -> None:
    # 1 + log_3(2700 / (20 * (1 + 4))) = 1 + log_3 27
    assert float(merge_steps(data_bytes=2700, first_bytes=20, growth=3, last_ratio=4)) == pytest.approx(4)
    # The first merge takes in the last run if the data are little.
    assert float(merge_steps(data_bytes=30, first_bytes=20, growth=3, last_ratio=4)) == 1


@settings(max_examples=60)
@given(growth=st.floats(2, 4), last=st.floats(1, 4), steps=st.integers(1, 12))
def test_compaction_frequency_is_the_sum_it_stands_for(growth: float, last: float, steps: int) -> None:
    result = universal_compaction_frequency(
        max_background_compactions=1, first_bytes=10, growth=growth, last_ratio=last, steps=steps
    )
    written = [1.0] * (steps - 1) + [last + 1]
    expected = sum(each / (10 * growth**step) for step, each in enumerate(written)) / steps
    assert float(result) == pytest.approx(expected)


def runs(**changes: Any) -> float:
    given: dict[str, Any] = {
        "data_bytes": DATA_BYTES,
        "level0_file_num_compaction_trigger": 4,
        "min_write_buffer_number_to_merge": 2,
        "write_buffer_size": 64 * MIB,
        "universal_size_ratio": 0,
        "universal_max_read_amp": -1,
    }
    return float(max_sorted_runs(**given | changes))


def test_sorted_runs_by_hand() -> None:
    assert runs() == 4
    assert runs(universal_max_read_amp=16) == 16
    # No more than 2^34 / 2^27 flushes make; never fewer than one.
    assert runs(level0_file_num_compaction_trigger=200) == 128
    assert runs(data_bytes=10) == 1
    assert float(universal_read_sstable_cost(runs=7, block_size=14)) == 0.5


@pytest.mark.parametrize("ratio", [0, 1, 50])
def test_sorted_runs_as_rocksdb_counts_them(ratio: int) -> None:
    # The loop of RocksDB's universal picker, with the whole data as its largest run.
    count, next_bytes, total_bytes = 1, 64.0 * MIB, 0.0
    while next_bytes < DATA_BYTES:
        total_bytes += next_bytes
        next_bytes = (100 + ratio) / 100 * total_bytes
        count += 1
    found = runs(universal_max_read_amp=0, universal_size_ratio=ratio)
    assert math.ceil(found - 1e-9) == count
