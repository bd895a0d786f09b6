"""Damaged and huge LOG files: never anything but a document or one line of error, in bounded memory."""

import json
import random
import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from tests.importing.logs.made import GOLDENS, TABLE, Write, document, header, message

from rocktune.importing.logs import LogFileError
from rocktune.importing.logs.lines import parsed_line
from rocktune.importing.logs.printed import count, duration_s, number, size_bytes
from rocktune.importing.logs.stats import family_figures, histogram, ticker, traffic_figures
from rocktune.importing.logs.tables import headings, level_row

_MUTATIONS = 500
_NASTY = (
    b"EVENT_LOG_v1 " + b"[" * 5000,
    b'EVENT_LOG_v1 {"job": 1e400, "event": "flush_finished"}',
    b'EVENT_LOG_v1 {"job": true, "event": ["flush_started"]}',
    b'EVENT_LOG_v1 {"job": 3, "event": "compaction_finished", "compaction_time_micros": '
    + b"9" * 4000
    + b"}",
    b'EVENT_LOG_v1 {"job": 4, "event": "compaction_started", "files_L\xd9\xa1": []}',
    b"[x] Stopping writes because we have " + b"9" * 5000 + b" level-0 files",
    b"Options.: ",
    b"Estimated pending compaction bytes: " + b"1" * 5000,
    b"Cumulative stall: 99:99:99:99 H:M:S, nan percent",
    b"  L0  1e999/0 1 XB inf nan",
    b"9999/99/99-99:99:99.999999 ffff RocksDB version: 9.9.3",
    b"** Compaction Stats [] **\nLevel Files\n---\n",
    b"\xff\xfe\x00\x00\x1b[31m",
)


def mutated(content: bytes, random_: random.Random) -> bytes:
    """Returns a LOG with some damage."""
    lines = content.splitlines(keepends=True)
    for _ in range(random_.randint(1, 6)):
        at = random_.randrange(len(lines))
        match random_.randrange(8):
            case 0:
                lines = lines[: at + 1]
                lines[-1] = lines[-1][: random_.randrange(len(lines[-1]) + 1)]
            case 1:
                lines = lines[at:]
            case 2:
                random_.shuffle(lines)
            case 3:
                lines[at] = random_.randbytes(random_.randint(0, 300))
            case 4:
                lines[at] = bytes(random_.sample(lines[at], len(lines[at])))
            case 5:
                lines.insert(at, random_.choice(_NASTY) + b"\n")
            case 6:
                start = lines[at][:45].rpartition(b" ")[0]
                lines.insert(at, start + b" " + random_.choice(_NASTY) + b"\n")
            case _:
                lines[at] = b"\0" * random_.randint(1, 5000) + lines[at]
    return b"".join(lines)


def test_mutated_files(tmp_path: Path) -> None:
    random_ = random.Random(20261126)
    originals = [path.read_bytes() for path in GOLDENS]
    path, refusals = tmp_path / "LOG", list[str]()
    for _ in range(_MUTATIONS):
        path.write_bytes(mutated(random_.choice(originals), random_))
        try:
            found = document(path)
        except LogFileError as failure:
            refusals.append(str(failure))
            continue
        for opening in found.openings:
            assert all(period.max_s >= period.min_s >= 0 for period in opening.stall_periods)
    assert not any("\n" in refusal for refusal in refusals)
    # Few mutations leave nothing of a LOG.
    assert len(refusals) < 0.1 * _MUTATIONS


@settings(max_examples=300, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(content=st.binary(max_size=400) | st.text(max_size=400).map(str.encode))
def test_any_bytes(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "LOG"
    path.write_bytes(header(0, "9.9.3").encode() + content)
    assert document(path).openings[0].version == "9.9.3"


@given(text=st.text(max_size=80) | st.from_regex(r"\A[-0-9.eEKMGB: ]{0,30}\Z"))
def test_any_text_as_a_number_or_a_line(text: str) -> None:
    for parse in (number, count, duration_s, ticker, histogram, family_figures, traffic_figures, headings):
        parse(text)
    size_bytes(text, "MB")
    level_row(text, ("Files", "Size", "Score"))
    parsed_line(text)


@given(value=st.integers(0, 10**9), unit=st.sampled_from(["", "K", "M", "G"]))
def test_counts_as_rocksdb_prints_them(value: int, unit: str) -> None:
    assert count(f"{value}{unit}") == value * {"": 1, "K": 10**3, "M": 10**6, "G": 10**9}[unit]


@given(hours=st.integers(0, 10**5), minutes=st.integers(0, 59), milliseconds=st.integers(0, 59_999))
def test_durations_as_rocksdb_prints_them(hours: int, minutes: int, milliseconds: int) -> None:
    text = f"{hours:02}:{minutes:02}:{milliseconds / 1000:05.3f} H:M:S"
    expected = hours * 3600 + minutes * 60 + milliseconds / 1000
    assert duration_s(text) == pytest.approx(expected, abs=1e-6)


def test_a_long_line_is_cut_and_the_next_one_read(write: Write) -> None:
    found = document(write(message(0, "[WARN] " + "x" * (1 << 20)) + message(1, "[WARN] after")))
    assert [len(each.text) for each in found.openings[0].messages] == [500, 5]
    assert "1 lines are longer than 256 KiB" in found.notes[0]


@pytest.mark.parametrize(
    "text",
    [
        "-" * 200_000 + " ptions",
        "RocksDB version: 1" + " " * 200_000 + "x",
        "EVENT_LOG_v1 " + '"cf_name": "' * 20_000,
        "[" * 100_000 + "] Stalling writes because " + "]" * 100_000,
        " rate " * 40_000 + " because we have",
        "Options." + "a" * 200_000,
        "** " * 80_000,
        "Cumulative writes: 1 writes, 1 keys, " + "ingest: " * 30_000,
    ],
    ids=range(8),
)
def test_long_lines_that_almost_match(write: Write, text: str) -> None:
    # A pattern that took quadratic time would run into the time limit of the tests.
    written = write(message(0, text) + text + "\n" + message(1, "[WARN] after"))
    assert document(written).openings[-1].messages[-1].text == "after"


def test_control_characters_do_not_reach_a_terminal(write: Write) -> None:
    opening = document(write(message(0, "[ERROR] \x1b[31mred\x07 \x9b2J\tend"))).openings[0]
    assert opening.messages[0].text == "\ufffd[31mred\ufffd \ufffd2J\tend"


def test_of_very_many_openings_the_last_are_kept(write: Write) -> None:
    found = document(write("".join(header(at, f"1.2.{at}") for at in range(1_100))))
    assert len(found.openings) == 1_000
    assert found.openings[-1].version == "1.2.1099"
    assert found.notes == ("The LOG has more than 1000 openings; the first 100 are left out.",)


def test_long_names_and_values_are_bounded(write: Write) -> None:
    long, value = "n" * 100_000, "v" * 5_000
    text = (
        header(0, "9.9.3")
        + "".join(message(1, f" Options.name{at}: {value}") for at in range(3_000))
        + message(2, f"[{long}] Stopping writes because we have 5 level-0 files")
        + message(3, "[a] Stopping writes because we have 5 level-0 files")
    )
    (opening,) = document(write(text)).openings
    assert sum(len(option.value) for option in opening.options) <= 4_000_000
    (left_out,) = opening.left_out
    assert (left_out.what, left_out.total) == ("options", 3_001)
    assert [stall.family for stall in opening.stalls] == ["a"]


def test_a_sparse_file_of_five_gigabytes(tmp_path: Path) -> None:
    path = tmp_path / "LOG"
    with path.open("wb") as file:
        file.write(message(0, "[WARN] before").encode())
        file.seek(5 << 30)
        file.write(b"\n" + message(1, "[WARN] after").encode())
        file.truncate(6 << 30)
    found = document(path)
    assert [each.text for each in found.openings[0].messages] == ["before", "after"]
    assert found.lines <= 3


@pytest.mark.parametrize("zeros", [255 << 10, 300 << 10, 1 << 20, 3 << 20, 5_000_001])
def test_zeros_that_were_written_are_passed_over(zeros: int, tmp_path: Path) -> None:
    path = tmp_path / "LOG"
    before, after = (message(second, f"[WARN] at {second}").encode() for second in (0, 1))
    path.write_bytes(before + bytes(zeros) + b"\n" + after * 3 + bytes(zeros))
    found = document(path)
    assert [each.text for each in found.openings[0].messages] == ["at 0", *["at 1"] * 3]


def big_log(path: Path) -> None:
    """Writes a LOG of many families, dumps, stalls and jobs, in three openings."""
    with path.open("w") as file:
        for opening in range(3):
            file.write(header(0, "9.9.3", f"{opening:020}"))
            for at in range(350):
                file.write(message(at, "------- DUMPING STATS -------"))
                file.write(message(at, "x").rstrip("\n"))
                for family in range(20):
                    file.write(TABLE.format(family=f"family {family}"))
                for job in range(at * 30, at * 30 + 30):
                    file.write(_flush(at, job))


def _flush(second: float, job: int) -> str:
    """Returns the messages of a flush and of a stall."""
    family = f"family {job % 20}"
    started = {"job": job, "event": "flush_started", "flush_reason": "Write Buffer Full"}
    ended = {"job": job, "event": "flush_finished", "lsm_state": [1] * 7}
    texts = (
        f"[{family}] [JOB {job}] Flushing memtable",
        f"EVENT_LOG_v1 {json.dumps(started)}",
        f"EVENT_LOG_v1 {json.dumps(ended)}",
        f"[{family}] Level summary: files[1 0 0] max score 0.2",
        f"[WARN] [{family}] Stopping writes because we have {job % 9} level-0 files",
        f"[{family}] Increasing compaction threads because we have 1 level-0 files",
    )
    return "".join(message(second, text) for text in texts)


READ_BIG = """
import sys
from pathlib import Path
from rocktune.importing.logs import read_log
for opening in read_log([Path(sys.argv[1])]).openings:
    kept = {each.what: each.total for each in opening.left_out}
    sums = [work.flushes for work in opening.work], [stall.messages for stall in opening.stalls]
    print("opening", kept["flushes"], kept["dumps of statistics"], *map(sum, sums))
print(Path("/proc/self/status").read_text())
"""


def test_memory_is_bounded_and_what_is_left_out_is_said(tmp_path: Path) -> None:
    path = tmp_path / "LOG"
    big_log(path)
    assert path.stat().st_size > 30 << 20
    command = [sys.executable, "-c", READ_BIG, str(path)]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    words = [line.split() for line in done.stdout.splitlines()]
    assert [line[1:] for line in words if line[:1] == ["opening"]] == [["10500", "350", "10500", "10500"]] * 3
    (peak_kib,) = [int(line[1]) for line in words if line[:1] == ["VmHWM:"]]
    assert peak_kib < 200 << 10
