from pathlib import Path

import pytest
from tests.analysis.explain.made import Family, Work, findings, memtables


@pytest.mark.parametrize(
    ("flush_s", "rule"),
    # Of eight jobs two may be flushes, which are busy from 140 of their 200 seconds on.
    [(139.0, "few-memtables"), (141.0, "flush-bound")],
)
def test_flushes_with_time_to_spare_mean_too_few_memtables(tmp_path: Path, flush_s: float, rule: str) -> None:
    family = Family(flushes=Work(seconds=flush_s, mb_s=20))
    (finding,) = findings(tmp_path, family, [memtables(4), memtables(4)], stall_s=40)
    assert finding.rule == rule
    assert finding.is_root
    assert finding.held_share == pytest.approx(0.4)


def test_more_memtables_are_tried(tmp_path: Path) -> None:
    (finding,) = findings(tmp_path, Family(), [memtables(4)], stall_s=40)
    tried = {each.option: (each.present, each.value) for each in finding.suggestions}
    assert tried["max_write_buffer_number"] == ("4", "8")
