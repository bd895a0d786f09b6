from pathlib import Path

import pytest
from tests.analysis.explain.made import Family, findings

UNIVERSAL = {"compaction_style": "kCompactionStyleUniversal"}
PERCENT = "compaction_options_universal.max_size_amplification_percent"
# Three runs of 100 MiB in level 0, and one each in levels 5 and 6.
LEVELS = {"L0": (3, 300.0), "L5": (2, 100.0), "L6": (2, 160.0)}


@pytest.mark.parametrize(("percent", "found"), [(400, ["space-amplification"]), (399, [])])
def test_a_high_limit_and_its_effect_are_named(tmp_path: Path, percent: int, found: list[str]) -> None:
    family = Family(UNIVERSAL | {PERCENT: percent}, levels=LEVELS)
    assert [each.rule for each in findings(tmp_path, family)] == found
    assert findings(tmp_path, Family({PERCENT: percent}, levels=LEVELS)) == ()


def test_runs_that_are_small_beside_the_largest_are_not(tmp_path: Path) -> None:
    family = Family(UNIVERSAL | {PERCENT: 5000}, levels=LEVELS | {"L6": (2, 161.0)})
    assert findings(tmp_path, family) == ()


def test_the_file_count_of_a_damaged_log_costs_nothing(tmp_path: Path) -> None:
    family = Family(UNIVERSAL | {PERCENT: 5000}, levels={"L0": (10**18, 300.0)})
    assert "space-amplification" in [each.rule for each in findings(tmp_path, family)]
