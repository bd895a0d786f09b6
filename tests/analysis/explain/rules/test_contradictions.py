from pathlib import Path
from typing import Any

import pytest
from tests.analysis.explain.made import Family, findings

from rocktune.analysis.explain.rules.contradictions import CONTRADICTIONS

CASES: list[tuple[dict[str, Any], dict[str, Any]]] = [
    ({"level0_slowdown_writes_trigger": 4}, {}),
    ({"level0_stop_writes_trigger": 19}, {}),
    ({"soft_pending_compaction_bytes_limit": 256 << 30}, {}),
    ({"min_write_buffer_number_to_merge": 4}, {}),
    ({"db_write_buffer_size": 1 << 20}, {}),
    (
        {
            "memtable_prefix_bloom_size_ratio": "0.100000",
            "memtable_whole_key_filtering": 0,
            "prefix_extractor": "nullptr",
        },
        {},
    ),
    ({}, {"pin_l0_filter_and_index_blocks_in_cache": 1, "cache_index_and_filter_blocks": 0}),
    ({"optimize_filters_for_hits": 1}, {"filter_policy": "nullptr"}),
]


@pytest.mark.parametrize(("case", "rule"), list(zip(CASES, CONTRADICTIONS, strict=True)))
def test_each_contradiction_is_named_with_its_values(tmp_path: Path, case: Any, rule: Any) -> None:
    options, table_options = case
    (finding,) = findings(tmp_path, Family(options, table_options))
    assert finding.rule == "contradictory-options"
    assert finding.cause.startswith(rule.says.partition("{")[0])
    assert "{" not in finding.cause
    assert "?" not in finding.cause


def test_sound_options_are_not(tmp_path: Path) -> None:
    sound = {
        "min_write_buffer_number_to_merge": 3,
        "db_write_buffer_size": 1 << 30,
        "optimize_filters_for_hits": 1,
    }
    assert findings(tmp_path, Family(sound)) == ()
