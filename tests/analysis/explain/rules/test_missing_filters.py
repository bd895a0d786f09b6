from pathlib import Path

import pytest
from tests.analysis.explain.made import Family, findings

BARE = Family(table_options={"filter_policy": "nullptr"})


def rules(directory: Path, family: Family, **tickers: int) -> list[str]:
    named = {name.replace("_", "."): count for name, count in tickers.items()}
    return [each.rule for each in findings(directory, family, tickers={"number.keys.read": 10_000} | named)]


@pytest.mark.parametrize(("blocks", "found"), [(13_000, ["missing-filters"]), (12_900, [])])
def test_lookups_of_more_than_a_block_without_filters(tmp_path: Path, blocks: int, found: list[str]) -> None:
    assert rules(tmp_path, BARE, block_cache_data_miss=blocks) == found
    assert rules(tmp_path, Family(), block_cache_data_miss=blocks) == []


def test_absent_keys_count(tmp_path: Path) -> None:
    assert rules(tmp_path, BARE, l0_hit=4_000, l1_hit=4_999) == ["missing-filters"]
    assert rules(tmp_path, BARE, l0_hit=4_000, l1_hit=5_001) == []


def test_blocks_of_scans_say_nothing(tmp_path: Path) -> None:
    assert rules(tmp_path, BARE, block_cache_data_miss=50_000, number_db_seek=1_001) == []
