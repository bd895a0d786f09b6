from pathlib import Path

from tests.analysis.explain.made import Family, explained_text, findings, level0, log_text
from tests.importing.logs.made import message

TIGHT = Family({"level0_slowdown_writes_trigger": 20, "write_buffer_size": 1 << 20})


def test_the_family_that_holds_up_all_is_first(tmp_path: Path) -> None:
    found = findings(tmp_path, {"default": Family(), "one": TIGHT}, [level0(20, "one")] * 3, stall_s=30)
    assert found[0].rule == "one-family"
    assert found[0].families == ("one",)
    assert [each.option for each in found[0].suggestions] == ["write_buffer_size"]
    assert "the writes to all 2 families" in found[0].evidence[0].text


def test_a_single_family_and_shared_blame_are_not(tmp_path: Path) -> None:
    assert (
        findings(tmp_path, {"one": TIGHT}, [level0(20, "one")] * 3, stall_s=30)[0].rule == "level0-triggers"
    )
    both = [level0(20, "one"), level0(20, "two")] * 3
    assert {each.rule for each in findings(tmp_path, {"one": TIGHT, "two": TIGHT}, both, stall_s=30)} == {
        "level0-triggers"
    }


def test_a_family_that_has_all_writes_is_not(tmp_path: Path) -> None:
    text = log_text({"default": Family(), "one": TIGHT}, [level0(20, "one")] * 3, stall_s=30)
    flush = (
        'EVENT_LOG_v1 {{"time_micros": 1, "job": {job}, "event": "flush_started", "num_memtables": 1, '
        '"total_data_size": 9, "flush_reason": "Write Buffer Full"}}'
    )
    text += message(101, flush.format(job=7))
    text += message(101, "[one] [JOB 7] Flushing memtable with next log file: 9")
    created = '{"time_micros": 1, "cf_name": "one", "job": 7, "event": "table_file_creation", "file_size": 9}'
    text += message(101, f"EVENT_LOG_v1 {created}")
    text += message(101, 'EVENT_LOG_v1 {"time_micros": 2, "job": 7, "event": "flush_finished"}')
    found = explained_text(tmp_path, text).findings
    assert found[0].rule == "level0-triggers"
