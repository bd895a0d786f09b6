import random
from pathlib import Path

import numpy as np
import pytest
from tests.deploy.watch.made import intervals, log_text
from tests.importing.logs.made import GOLDENS, header
from tests.importing.logs.test_damaged import mutated

from rocktune.deploy.watch import Interval, intervals_after
from rocktune.importing.logs import (
    DumpMark,
    LogFileError,
    read_last_dumps,
    read_log,
    read_log_after,
    tail,
)
from rocktune.importing.logs.dumps import _MAX_ROWS


def _made(count: int, session: str = "S") -> list[Interval]:
    return list(intervals(np.random.default_rng(1), count, session=session))


def _after(directory: Path, mark: Interval) -> tuple[Interval, ...]:
    document = read_log_after(directory, DumpMark(mark.end.session, mark.end.uptime_s))
    return intervals_after(document, mark.end)


def test_what_follows_a_dump_is_read_and_no_more(tmp_path: Path) -> None:
    made = _made(20)
    (tmp_path / "LOG").write_text(log_text(made))
    whole = read_log([tmp_path])
    for number, mark in enumerate(made):
        assert _after(tmp_path, mark) == intervals_after(whole, mark.end)
        assert len(_after(tmp_path, mark)) == 19 - number
    last = read_log_after(tmp_path, DumpMark("S", made[-2].end.uptime_s))
    assert [dump.db.uptime_s for dump in last.openings[0].dumps if dump.db] == [
        each.end.uptime_s for each in made[-2:]
    ]
    assert last.lines < whole.lines / 9


@pytest.mark.parametrize("chunk_bytes", [1, 13, 500])
def test_dumps_across_the_ends_of_chunks_are_found(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, chunk_bytes: int
) -> None:
    monkeypatch.setattr(tail, "_CHUNK_BYTES", chunk_bytes)
    made = _made(4)
    (tmp_path / "LOG").write_text(log_text(made))
    assert [len(_after(tmp_path, each)) for each in made] == [3, 2, 1, 0]


def test_a_rolled_file_and_a_new_opening_are_read_on(tmp_path: Path) -> None:
    made, reopened = _made(8), _made(3, "T")
    text = log_text(made)
    cut = text.index("DUMPING STATS", text.index("Uptime(secs): 3000.0"))
    cut = text.rindex("\n", 0, cut) + 1
    (tmp_path / "LOG.old.1000").write_text(text[:cut])
    (tmp_path / "LOG.old.20000").write_text(header(3500, "9.9.3", "S", opens=False) + text[cut:])
    (tmp_path / "LOG").write_text(log_text(reopened, "T").replace("2026/03/04", "2026/03/05"))
    whole = read_log([tmp_path])
    for mark in (*made, *reopened):
        assert _after(tmp_path, mark) == intervals_after(whole, mark.end)
    assert [each.end.session for each in _after(tmp_path, made[3])] == ["S"] * 4 + ["T"] * 3
    assert len(read_log_after(tmp_path, DumpMark("T", reopened[-1].end.uptime_s)).files) == 1


@pytest.mark.parametrize("session", ["gone", "", "S"])
def test_without_the_dump_all_is_read(tmp_path: Path, session: str) -> None:
    made = _made(4, session="S")
    (tmp_path / "LOG").write_text(log_text(made))
    mark = DumpMark(session, 10.0)  # before the first one
    assert read_log_after(tmp_path, mark) == read_log([tmp_path])


def test_no_interval_is_merged_or_counted_twice_in_a_log_of_months(tmp_path: Path) -> None:
    # Of so many dumps a document keeps every second one, and the last one.
    made = _made(_MAX_ROWS + 5)
    (tmp_path / "LOG").write_text(log_text(made))
    whole = intervals_after(read_log([tmp_path]), made[-2].end)
    assert whole[0].seconds > made[-1].seconds
    assert [each.end for each in _after(tmp_path, made[-4])] == [each.end for each in made[-3:]]
    assert {each.seconds for each in _after(tmp_path, made[-4])} == {600.0}


@pytest.mark.parametrize("golden", GOLDENS, ids=lambda path: path.stem)
def test_real_logs_are_read_on_from_each_dump(tmp_path: Path, golden: Path) -> None:
    (tmp_path / "LOG").write_bytes(golden.read_bytes())
    whole = read_log([tmp_path])
    for opening in whole.openings:
        for dump in opening.dumps:
            if dump.db is None or dump.db.uptime_s is None:
                continue
            found = read_log_after(tmp_path, DumpMark(opening.session, dump.db.uptime_s))
            dumps = found.openings[0].dumps
            if opening.session:
                assert dumps == opening.dumps[-len(dumps) :]
                assert dump in dumps
            else:
                assert found == whole


@pytest.mark.parametrize("golden", GOLDENS, ids=lambda path: path.stem)
def test_the_last_dumps_are_those_of_the_whole_file(golden: Path) -> None:
    whole = read_log([golden]).openings[-1].dumps
    if len(whole) > 1 and whole[-1].db is not None:
        found = read_last_dumps(golden)
        assert found.openings[-1].dumps == whole[-2:]


def test_a_file_with_fewer_dumps_is_read_whole(tmp_path: Path) -> None:
    path = tmp_path / "LOG"
    for count in (0, 1):
        path.write_text(log_text(_made(count)))
        assert read_last_dumps(path) == read_log([path])
    path.write_text("")
    assert read_last_dumps(path).openings == ()
    with pytest.raises(LogFileError, match="cannot be read"):
        read_last_dumps(tmp_path / "missing")


def test_damaged_files_are_read_or_refused_in_one_line(tmp_path: Path) -> None:
    random_ = random.Random(20261128)
    goldens = [path.read_bytes() for path in GOLDENS]
    marks = [
        DumpMark(opening.session, dump.db.uptime_s)
        for path in GOLDENS
        for opening in read_log([path]).openings
        for dump in opening.dumps
        if dump.db is not None and dump.db.uptime_s is not None
    ]
    refusals = []
    for _ in range(100):
        (tmp_path / "LOG").write_bytes(mutated(random_.choice(goldens), random_))
        try:
            read_last_dumps(tmp_path / "LOG")
            read_log_after(tmp_path, random_.choice(marks))
        except LogFileError as refusal:
            refusals.append(str(refusal))
    assert len(refusals) < 50
    assert not any("\n" in each for each in refusals)
