from pathlib import Path

import numpy as np
import pytest
from tests.deploy.watch.made import dump, intervals, log_text
from tests.importing.logs.made import TABLE, document, header, message

from rocktune.deploy.watch import Mark, intervals_after
from rocktune.errors import UserError

COUNTS = {"number.keys.read": 1000, "number.keys.written": 500, "bytes.written": 4000, "stall.micros": 0}


@pytest.fixture
def log(tmp_path: Path) -> Path:
    return tmp_path / "LOG"


def test_intervals_are_differences_of_dumps(log: Path) -> None:
    later = {
        "number.keys.read": 1400,
        "number.multiget.keys.read": 100,
        "number.keys.written": 800,
        "number.db.seek": 7,
        "number.db.next": 60,
        "number.db.prev": 10,
        "bytes.written": 9000,
        "memtable.hit": 20,
        "l0.hit": 30,
        "l1.hit": 40,
        "l2andup.hit": 50,
        "flush.write.bytes": 600,
        "compact.write.bytes": 7000,
    }
    text = header(0, "9.9.3", "S1") + dump(600, COUNTS, {"get": (1000, 5e6)})
    text += dump(1200, COUNTS | later, {"get": (1500, 8e6), "write": (300, 6e5)}, stall_s=90)
    log.write_text(text)
    first, second = intervals_after(document(log), None)
    assert (first.seconds, first.reads, first.writes) == (600, 1000, 500)
    assert second.end == Mark(session="S1", uptime_s=1200)
    assert second.time == "2026-03-04 10:20:00"
    assert (second.reads, second.writes, second.seeks, second.steps) == (500, 300, 7, 70)
    assert (second.written_bytes, second.moved_bytes) == (5000, 7600)
    assert (second.found_reads, second.memtable_hits) == (140, 20)
    assert second.waited_s == {"get": (500, 3.0), "write": (300, 0.6)}
    assert second.stalled_share == pytest.approx(0.15)
    assert second.operations == 807
    assert second.is_idle


def test_a_log_gives_back_the_intervals_it_was_made_of(log: Path) -> None:
    made = list(intervals(np.random.default_rng(1), 5))
    log.write_text(log_text(made))
    for read, each in zip(intervals_after(document(log), None), made, strict=True):
        assert read.model_dump(exclude={"time", "waited_s"}) == each.model_dump(exclude={"time", "waited_s"})


def test_each_interval_is_read_once_while_the_log_grows(log: Path) -> None:
    made = list(intervals(np.random.default_rng(1), 6))
    seen, read = None, []
    for count in (1, 1, 4, 6):
        log.write_text(log_text(made[:count]))
        found = intervals_after(document(log), seen)
        seen = found[-1].end if found else seen
        read += [each.end for each in found]
    assert read == [each.end for each in made]


def test_a_dump_that_is_still_being_written_is_left_for_later(log: Path) -> None:
    whole = log_text(intervals(np.random.default_rng(1), 2))
    log.write_text(whole[: whole.rindex("[db/db_impl.cc:3]")])
    assert len(intervals_after(document(log), None)) == 1


def test_a_new_opening_begins_again_at_0(log: Path) -> None:
    rng = np.random.default_rng(1)
    log.write_text(
        log_text(intervals(rng, 3, session="A"), "A") + log_text(intervals(rng, 2, session="B"), "B")
    )
    found = intervals_after(document(log), Mark(session="A", uptime_s=1200))
    assert [(each.end.session, each.end.uptime_s) for each in found] == [("A", 1800), ("B", 600), ("B", 1200)]
    assert all(each.reads > 0 and each.seconds == 600 for each in found)


def test_statistics_that_were_reset_begin_no_interval(log: Path) -> None:
    few = dict.fromkeys(COUNTS, 1)
    log.write_text(header(0, "9.9.3", "S") + dump(600, COUNTS, {}) + dump(1200, few, {}))
    assert [each.end.uptime_s for each in intervals_after(document(log), None)] == [600]


def test_a_log_that_begins_within_an_opening_has_no_interval_before_its_first_dump(log: Path) -> None:
    log.write_text(dump(600, COUNTS, {}) + dump(1200, COUNTS, {}))
    assert [each.end.uptime_s for each in intervals_after(document(log), None)] == [1200]


def test_a_log_without_statistics_of_operations_is_refused(log: Path) -> None:
    text = message(600, "[db/db_impl.cc:2] ") + "** DB Stats **\nUptime(secs): 600.0 total, 600.0 interval\n"
    log.write_text(header(0, "9.9.3", "S") + text + TABLE.format(family="default"))
    with pytest.raises(UserError, match=r"LOG: it has no statistics of operations; open the database with"):
        intervals_after(document(log), None)
