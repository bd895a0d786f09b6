from pathlib import Path

import pytest
from tests.analysis.explain.made import Family, findings, level0


@pytest.mark.parametrize(("slowdown", "is_root"), [(11, True), (12, False)])
def test_triggers_are_the_cause_if_less_than_8_files_apart(
    tmp_path: Path, slowdown: int, is_root: bool
) -> None:
    family = Family({"level0_slowdown_writes_trigger": slowdown, "level0_stop_writes_trigger": 24})
    (finding,) = findings(tmp_path, family, [level0(slowdown), level0(slowdown + 1)], stall_s=30)
    assert finding.rule == "level0-triggers"
    assert finding.is_root is is_root
    assert finding.held_share == pytest.approx(0.3)
    tried = {each.option: (each.present, each.value) for each in finding.suggestions}
    if is_root:
        assert tried["level0_slowdown_writes_trigger"] == ("11", "20")
        assert tried["level0_stop_writes_trigger"] == ("24", "36")
    else:
        assert tried["write_buffer_size"] == ("67108864", "134217728")


def test_short_stalls_are_no_finding(tmp_path: Path) -> None:
    family = Family({"level0_slowdown_writes_trigger": 5})
    assert findings(tmp_path, family, [level0(6)], stall_s=4.9) == ()
    assert len(findings(tmp_path, family, [level0(6)], stall_s=5.1)) == 1
