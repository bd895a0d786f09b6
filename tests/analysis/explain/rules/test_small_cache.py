from pathlib import Path

import pytest
from tests.analysis.explain.made import MIB, Family, findings

READS = {"number.keys.read": 5000, "block.cache.hit": 1000, "block.cache.miss": 4000}


def rules(directory: Path, capacity_mb: float, **tickers: int) -> list[str]:
    family = Family(table_options={"capacity": int(capacity_mb * MIB)})
    named = {name.replace("_", "."): count for name, count in tickers.items()}
    return [each.rule for each in findings(directory, family, tickers=READS | named)]


@pytest.mark.parametrize(("capacity_mb", "found"), [(51, ["small-cache"]), (52, [])])
def test_a_cache_below_2_percent_of_the_store_is_small(
    tmp_path: Path, capacity_mb: int, found: list[str]
) -> None:
    assert rules(tmp_path, capacity_mb) == found


def test_one_that_serves_half_the_blocks_is_not(tmp_path: Path) -> None:
    assert rules(tmp_path, 10, block_cache_hit=4001) == []


def test_misses_of_index_and_filters_count_at_any_size(tmp_path: Path) -> None:
    assert rules(tmp_path, 500, block_cache_index_miss=10, block_cache_index_hit=90) == ["small-cache"]
    assert rules(tmp_path, 500, block_cache_index_miss=9, block_cache_index_hit=91) == []


def test_few_reads_say_nothing(tmp_path: Path) -> None:
    assert rules(tmp_path, 1, number_keys_read=999) == []
