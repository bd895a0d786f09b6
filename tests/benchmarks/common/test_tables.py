"""The tables that benchmarks keep."""

import fcntl
import gzip
import math
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from benchmarks.common.claims import ROOT
from benchmarks.common.tables import append_rows, read_rows, record_of, typed, write_csv
from benchmarks.ruskey import ablation, equal_memory, stationary

from rocktune.errors import UserError

EVIDENCE = ROOT / "docs" / "evidence"
ROWS = [{"name": "a", "seconds": 0.1}, {"name": 'b, "c"\nd', "seconds": math.inf}]
KINDS = typed(name=str, seconds=float)


@dataclass(frozen=True)
class Drive:
    name: str
    seed: int
    seconds: float
    is_whole: bool
    policies: tuple[int, ...]


DRIVES = [Drive("a", 1, 2.0, True, (3, 1)), Drive("", -1, math.inf, False, ())]


@pytest.mark.parametrize("name", ["rows.csv", "rows.csv.gz"])
def test_rows_are_read_as_they_were_written(tmp_path: Path, name: str) -> None:
    path = tmp_path / name
    write_csv(path, ROWS)
    assert read_rows(path, KINDS) == ROWS
    append_rows(path, ROWS[:1])
    assert read_rows(path, KINDS) == [*ROWS, *ROWS[:1]]
    write_csv(path, ROWS)
    assert read_rows(path, KINDS) == ROWS
    assert [each.name for each in tmp_path.iterdir()] == [name]


@pytest.mark.parametrize("name", ["rows.csv", "rows.csv.gz"])
def test_records_are_read_as_they_were_kept(tmp_path: Path, name: str) -> None:
    path = tmp_path / name
    append_rows(path, DRIVES[:1])
    append_rows(path, DRIVES[1:])
    assert read_rows(path, record_of(Drive)) == DRIVES
    write_csv(path, DRIVES)
    assert read_rows(path, record_of(Drive)) == DRIVES


def test_a_table_has_one_header_and_the_lines_of_csv(tmp_path: Path) -> None:
    path = tmp_path / "drives.csv"
    append_rows(path, DRIVES)
    append_rows(path, DRIVES[:1])
    header, whole, other = "name,seed,seconds,is_whole,policies", "a,1,2.0,True,3 1", ",-1,inf,False,"
    assert path.read_bytes().decode() == "".join(f"{each}\r\n" for each in (header, whole, other, whole))


def test_equal_tables_are_equal_files(tmp_path: Path) -> None:
    for name in ("first", "second"):
        (tmp_path / name).mkdir()
        write_csv(tmp_path / name / "rows.csv.gz", ROWS)
    first, second = ((tmp_path / name / "rows.csv.gz").read_bytes() for name in ("first", "second"))
    assert first == second
    assert gzip.decompress(first).startswith(b"name,seconds\r\n")


def test_nothing_is_written_or_read_without_rows_or_a_path(tmp_path: Path) -> None:
    path = tmp_path / "rows.csv"
    write_csv(path, [])
    append_rows(path, [])
    append_rows(None, ROWS)
    assert not path.exists()
    assert read_rows(path, KINDS) == []
    assert read_rows(None, KINDS) == []
    path.touch()
    assert read_rows(path, KINDS) == []
    append_rows(path, ROWS)
    assert read_rows(path, KINDS) == ROWS


def test_rows_that_cannot_be_written_leave_the_earlier_file(tmp_path: Path) -> None:
    path = tmp_path / "rows.csv"
    write_csv(path, ROWS)
    with pytest.raises(ValueError, match="fields not in fieldnames"):
        write_csv(path, [*ROWS, {"name": "c", "other": 1}])
    with pytest.raises(ValueError, match="fields not in fieldnames"):
        append_rows(path, [*ROWS, {"name": "c", "other": 1}])
    assert read_rows(path, KINDS) == ROWS


APPENDING = """
import pathlib, sys
from benchmarks.common.tables import append_rows
path, drive = pathlib.Path(sys.argv[1]), int(sys.argv[2])
append_rows(path, [{"drive": drive, "mission": each} for each in range(2000)])
"""


@pytest.mark.parametrize("name", ["rows.csv", "rows.csv.gz"])
def test_processes_append_one_after_the_other(tmp_path: Path, name: str) -> None:
    path = tmp_path / name
    # The lock makes them begin on the empty table together. Programs and no pool of multiprocessing, which
    # leaves a process behind that later tests would find.
    with path.open("ab") as held:
        fcntl.flock(held, fcntl.LOCK_EX)
        processes = [
            subprocess.Popen([sys.executable, "-c", APPENDING, str(path), str(drive)], cwd=ROOT)
            for drive in range(4)
        ]
        fcntl.flock(held, fcntl.LOCK_UN)
    assert [process.wait() for process in processes] == [0, 0, 0, 0]
    rows = read_rows(path, typed(int))
    order = [row["drive"] for row in rows[::2000]]
    assert sorted(order) == [0, 1, 2, 3]
    missions = [{"drive": drive, "mission": each} for drive in order for each in range(2000)]
    assert rows == missions


def test_nobody_appends_while_a_table_is_read(tmp_path: Path) -> None:
    path = tmp_path / "rows.csv"
    write_csv(path, ROWS)

    def made(_: Any) -> None:
        with path.open("rb") as other:
            fcntl.flock(other, fcntl.LOCK_SH | fcntl.LOCK_NB)
            with pytest.raises(BlockingIOError):
                fcntl.flock(other, fcntl.LOCK_EX | fcntl.LOCK_NB)

    assert read_rows(path, made) == [None, None]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("name,seed,seconds,is_whole\na,1,1,True\n", "line 2: no column 'policies'; name a new --out"),
        ("{header}\na,1,1,True,1\na,x,1,True,1\n", "line 3: invalid literal for int.*'x'; name a new --out"),
        ("{header}\na,1,1,yes,1\n", "line 2: neither True nor False: 'yes'; name a new --out"),
        ("{header}\na,1,1,True,1\na,1,1\n", "line 3: not the header's 5 cells; name a new --out"),
        ("{header}\na,1,1,True,1,2\n", "line 2: not the header's 5 cells; name a new --out"),
    ],
)
def test_a_row_of_another_table_is_refused(tmp_path: Path, text: str, message: str) -> None:
    path = tmp_path / "drives.csv"
    path.write_text(text.format(header="name,seed,seconds,is_whole,policies"))
    with pytest.raises(UserError, match=rf"drives\.csv: {message}"):
        read_rows(path, record_of(Drive))


def test_a_compressed_table_that_is_cut_off_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "rows.csv.gz"
    write_csv(path, ROWS)
    path.write_bytes(path.read_bytes()[:-4])
    with pytest.raises(UserError, match=r"rows\.csv\.gz: line .*ended before.*; name a new --out"):
        read_rows(path, KINDS)


def test_a_typed_column_that_is_missing_is_named(tmp_path: Path) -> None:
    path = tmp_path / "rows.csv"
    write_csv(path, ROWS)
    with pytest.raises(UserError, match="line 2: no column 'seed'; restore the file"):
        read_rows(path, typed(float, name=str, seed=int), advice="restore the file")


@pytest.mark.parametrize(
    ("name", "made"),
    [
        ("ruskey/ablation/sessions.csv", record_of(ablation.Session)),
        ("ruskey/actions/sessions.csv", record_of(equal_memory.Row)),
        ("ruskey/dynamic/drives.csv.gz", typed()),
        ("ruskey/stationary/sessions.csv", record_of(stationary.Session)),
    ],
)
def test_the_evidence_is_written_as_it_was_read(
    tmp_path: Path, name: str, made: Callable[[Any], Any]
) -> None:
    again = tmp_path / Path(name).name
    write_csv(again, read_rows(EVIDENCE / name, made))
    assert read_rows(again, typed()) == read_rows(EVIDENCE / name, typed())
