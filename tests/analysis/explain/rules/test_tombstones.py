from pathlib import Path

import pytest
from tests.analysis.explain.made import Family, findings


@pytest.mark.parametrize(
    ("skips", "steps", "found"), [(2_000, 1_000, ["tombstones"]), (1_999, 1_000, []), (9_999, 999, [])]
)
def test_skips_for_each_step(tmp_path: Path, skips: int, steps: int, found: list[str]) -> None:
    tickers = {"number.db.seek": steps - 600, "number.db.next": 600, "number.iter.skip": skips}
    assert [each.rule for each in findings(tmp_path, tickers=tickers)] == found


def test_compactions_that_are_off_are_named(tmp_path: Path) -> None:
    tickers = {"number.db.next": 1_000, "number.iter.skip": 5_000}
    (finding,) = findings(tmp_path, Family({"disable_auto_compactions": 1}), tickers=tickers)
    assert [each.option for each in finding.suggestions] == [
        "disable_auto_compactions",
        "periodic_compaction_seconds",
    ]
