from pathlib import Path

import pytest
from tests.analysis.explain.made import Family, findings, level0, log_text, memtables, pending
from tests.importing.logs.made import message, only

from rocktune.analysis.explain.held import held_up


def test_rocksdbs_own_sum_is_divided_by_the_middle_of_each_causes_lengths(tmp_path: Path) -> None:
    path = tmp_path / "LOG"
    path.write_text(log_text({"default": Family()}, [level0(20), level0(21), memtables(4)], stall_s=40))
    held = held_up(only(path))
    assert held.counted
    assert held.share == pytest.approx(0.4)
    assert held.seconds == pytest.approx(40)
    # Level 0 lasts from 10 to 20 s, at most to 30 s; the memtables from 30 s, at most to the end at 100.5 s.
    whole = 15.002 + 35.251
    assert [each.share for each in held.causes] == [
        pytest.approx(0.4 * 15.002 / whole),
        pytest.approx(0.4 * 35.251 / whole),
    ]


def test_without_dumps_lengths_are_estimated_from_messages(tmp_path: Path) -> None:
    path = tmp_path / "LOG"
    path.write_text(
        message(0, "start") + message(10, level0(20)) + message(20, level0(20)) + message(100, "end")
    )
    held = held_up(only(path))
    assert not held.counted
    assert held.share == pytest.approx(0.50002)


def test_a_stop_after_the_last_dump_counts(tmp_path: Path) -> None:
    path = tmp_path / "LOG"
    text = log_text({"default": Family()})
    stop = level0(36, stops=True)
    path.write_text(text + message(200, stop) + message(400, stop) + message(500, "end"))
    held = held_up(only(path))
    # No second of the 100 until the dump, and 200 to 300 s of the 400 after it.
    assert not held.counted
    assert held.seconds == pytest.approx(250)
    assert held.share == pytest.approx(250 / 500)
    assert [each.stall.stops for each in held.causes] == [True]
    # A message before the dump says nothing of the time after it.
    before = log_text({"default": Family()}, [stop], stall_s=2)
    path.write_text(before + message(500, "end"))
    assert held_up(only(path)).seconds == 2


def test_text_without_times_has_no_share(tmp_path: Path) -> None:
    path = tmp_path / "LOG"
    path.write_text("** Compaction Stats [default] **\n")
    held = held_up(only(path))
    assert (held.share, held.seconds, held.causes) == (None, None, ())


def test_a_minute_of_a_long_time_matters(tmp_path: Path) -> None:
    text = log_text({"default": Family()}, [pending(65 << 30)], stall_s=61)
    path = tmp_path / "LOG"
    path.write_text(text.replace("Uptime(secs): 100.0 total", "Uptime(secs): 100000.0 total"))
    assert held_up(only(path)).causes
    path.write_text(path.read_text().replace("00:01:1.000", "00:00:59.000"))
    assert held_up(only(path)).causes == ()


def test_a_small_part_of_the_time_is_no_finding_of_its_own(tmp_path: Path) -> None:
    stalls = [level0(20)] * 8 + [memtables(4), level0(20)]
    assert [each.rule for each in findings(tmp_path, Family(), stalls, stall_s=8)] == ["level0-triggers"]
