from typing import Any

import numpy as np
import pytest

from rocktune.errors import UserError
from rocktune.space.memory import MemoryBudget
from rocktune.space.rules import Rule, dremel_rules

MIB = 1 << 20
BUDGET = MemoryBudget(1000 * MIB, 8e6)
DEFAULT: dict[str, Any] = {
    "level0_file_num_compaction_trigger": 4,
    "level0_slowdown_writes_trigger": 8,
    "level0_stop_writes_trigger": 16,
    "max_bytes_for_level_multiplier": 10,
    "max_bytes_for_level_base": 256 * MIB,
    "target_file_size_multiplier": 1,
    "num_levels": 10,
    "max_write_buffer_number": 6,
    "write_buffer_size": 64 * MIB,
    "min_write_buffer_number_to_merge": 2,
    "bloom_bits": 10,
}


def rule(number: int) -> Rule:
    return dremel_rules(BUDGET)[number - 1]


def test_numbers_are_the_papers() -> None:
    assert [each.number for each in dremel_rules(BUDGET)] == list(range(1, 9))


def test_table_1_keeps_every_rule() -> None:
    assert all(each.holds(DEFAULT) for each in dremel_rules(BUDGET))


# Each change breaks exactly one rule, and the last allowed value keeps it. By hand:
# rule 4: 8 * 77 = 616 MiB, with 1e7 bytes of filters above 616; 8 * 75 = 600 MiB, 609.5 with filters.
# rule 8: level 0 is 4 * 2 * 64 = 512 MiB: from 256 to 1024 MiB are within a factor of 2.
@pytest.mark.parametrize(
    ("number", "broken", "kept", "told"),
    [
        (1, {"max_bytes_for_level_multiplier": 3}, {"max_bytes_for_level_multiplier": 4}, "it is 3; 0.50"),
        (2, {"level0_stop_writes_trigger": 25}, {"level0_stop_writes_trigger": 24}, "it is 25; 35 files"),
        (3, {"max_bytes_for_level_multiplier": 17}, {"max_bytes_for_level_multiplier": 16}, "rewritten 170"),
        (
            4,
            {
                "max_write_buffer_number": 8,
                "write_buffer_size": 77 * MIB,
                "max_bytes_for_level_base": 512 * MIB,
            },
            {
                "max_write_buffer_number": 8,
                "write_buffer_size": 75 * MIB,
                "max_bytes_for_level_base": 512 * MIB,
            },
            "8 write buffers of 77MiB take 616MiB and filters 9.537MiB of 1000MiB, "
            "which leaves the block cache 374.5MiB; it needs at least 384MiB",
        ),
        (5, {"level0_slowdown_writes_trigger": 4}, {"level0_slowdown_writes_trigger": 5}, "4, 4, 16"),
        (5, {"level0_slowdown_writes_trigger": 16}, {"level0_slowdown_writes_trigger": 15}, "4, 16, 16"),
        (6, {"target_file_size_multiplier": 10}, {"target_file_size_multiplier": 9}, "10 and 10"),
        (
            7,
            {"min_write_buffer_number_to_merge": 6, "max_bytes_for_level_base": 1024 * MIB},
            {"min_write_buffer_number_to_merge": 5, "max_bytes_for_level_base": 1024 * MIB},
            "6 and 6",
        ),
        (
            8,
            {"max_bytes_for_level_base": 255 * MIB},
            {"max_bytes_for_level_base": 256 * MIB},
            "255MiB against 512MiB (4 files of 2 write buffers of 64MiB); at most 2 times either way",
        ),
        (
            8,
            {"max_bytes_for_level_base": 1025 * MIB},
            {"max_bytes_for_level_base": 1024 * MIB},
            "1.001GiB against 512MiB",
        ),
    ],
)
def test_boundaries(number: int, broken: dict[str, int], kept: dict[str, int], told: str) -> None:
    assert [each.number for each in dremel_rules(BUDGET) if not each.holds(DEFAULT | broken)] == [number]
    assert all(each.holds(DEFAULT | kept) for each in dremel_rules(BUDGET))
    explanation = rule(number).explanation(DEFAULT | broken)
    assert explanation.startswith(f"rule {number} ({rule(number).statement}) is broken: ")
    assert told in explanation


def test_rules_are_vectorised() -> None:
    values = DEFAULT | {"max_bytes_for_level_base": np.array([255, 256, 1024, 1025]) * MIB}
    assert rule(8).holds(values).tolist() == [False, True, True, False]


def test_tolerance_of_rule_8() -> None:
    wide = dremel_rules(BUDGET, level0_tolerance=4)[7]
    # 512 / 128 = 4
    assert wide.holds(DEFAULT | {"max_bytes_for_level_base": 128 * MIB})
    assert not wide.holds(DEFAULT | {"max_bytes_for_level_base": 127 * MIB})
    for wrong in (1.9, float("nan")):
        with pytest.raises(UserError, match="below 2"):
            dremel_rules(BUDGET, level0_tolerance=wrong)


def test_cache_bound_is_in_proportion_to_the_budget() -> None:
    # 500 MiB leave 500 - 384 = 116 MiB; 0.384 * 500 = 192 are needed.
    half = MemoryBudget(500 * MIB, 0)
    assert half.min_cache_bytes == pytest.approx(192 * MIB)
    assert not half.suffices(DEFAULT)
    assert half.suffices(DEFAULT | {"max_write_buffer_number": 4})
