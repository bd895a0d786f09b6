from pathlib import Path

from tests.analysis.explain.made import Family, findings, level0

EQUAL = Family({"level0_slowdown_writes_trigger": 24, "level0_stop_writes_trigger": 24})


def test_equal_triggers_are_named_if_writes_stopped(tmp_path: Path) -> None:
    (finding,) = findings(tmp_path, EQUAL, [level0(24, stops=True)], stall_s=30)
    assert finding.rule == "no-slowdown"
    assert finding.evidence[0].text == "Both triggers of 'default' are 24."
    assert [(each.option, each.value) for each in finding.suggestions] == [
        ("level0_slowdown_writes_trigger", "24"),
        ("level0_stop_writes_trigger", "48"),
    ]


def test_equal_triggers_without_stops_and_others_with_stops_are_not(tmp_path: Path) -> None:
    assert findings(tmp_path, EQUAL) == ()
    (finding,) = findings(tmp_path, Family(), [level0(36, stops=True)], stall_s=30)
    assert finding.rule == "level0-triggers"
