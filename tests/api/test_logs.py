"""Reading LOG files through the API."""

import csv
import io
import json
from collections.abc import Callable
from pathlib import Path

import pytest
from tests.importing.logs.made import GOLDENS, TABLE, message

from rocktune import api
from rocktune.errors import UserError
from rocktune.study import Observer


def test_files_are_named_by_text_or_path(tmp_path: Path) -> None:
    golden = GOLDENS[0]
    assert api.read_log([str(golden)]) == api.read_log([golden])


class _Seen(Observer):
    def __init__(self) -> None:
        self.phases: list[str] = []
        self.shares: list[float] = []

    def phase_started(self, name: str, total_s: float | None) -> None:
        self.phases.append(name)

    def progress(self, phase: str, done: float, total: float) -> None:
        self.shares.append(done / total)


@pytest.mark.parametrize("read", [api.read_log, api.explain_log])
def test_reading_a_large_log_shows_progress(tmp_path: Path, read: Callable[..., object]) -> None:
    path = tmp_path / "LOG"
    path.write_text(GOLDENS[0].read_text() + message(1, "[db.cc:1] as before") * 60_000)
    seen = _Seen()
    read([path], observer=seen)
    assert seen.phases == ["read-log"]
    assert len(seen.shares) >= 3
    assert seen.shares == sorted(seen.shares)
    assert 0.6 < seen.shares[-1] <= 1


def test_json_holds_every_field(tmp_path: Path) -> None:
    document = api.read_log([GOLDENS[0]])
    found = json.loads("".join(api.log_json(document)))
    (opening,), (read,) = found["openings"], document.openings
    assert opening["version"] == read.version
    assert opening["first"] == (read.first.isoformat() if read.first else None)
    assert opening["flushes"][0]["output_bytes"] == read.flushes[0].output_bytes
    level = opening["dumps"][-1]["families"][0]["levels"][0]
    assert level["write_mb_s"] == read.dumps[-1].families[0].levels[0].write_mb_s


def test_csv_of_names_with_commas_and_quotes_and_of_other_columns(tmp_path: Path) -> None:
    name = 'a, "b"'
    table = (
        TABLE.format(family=name).replace("KeyDrop", "KeyDrop More(GB)").replace("0      0\n", "0      0 7\n")
    )
    path = tmp_path / "LOG"
    path.write_text(message(0, "x").rstrip() + table)
    rows = list(csv.DictReader(io.StringIO(api.log_csv(api.read_log([path]), "levels"))))
    assert [(row["family"], row["level"], row["other"]) for row in rows] == [
        (name, "L0", "More(GB)=7"),
        (name, "Sum", "More(GB)=7"),
    ]
    assert rows[0]["time"] == "2026-03-04T10:00:00"
    assert rows[0]["uncompressed_gb"] == ""


def test_a_page_replaces_an_older_one(tmp_path: Path) -> None:
    page = tmp_path / "page.html"
    page.write_text("old")
    api.read_log([GOLDENS[0]], out=str(page))
    assert page.read_text().startswith("<!DOCTYPE html>")
    assert [path.name for path in tmp_path.iterdir()] == ["page.html"]


def test_a_page_that_cannot_be_written(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(UserError, match=r"page\.html: cannot be written"):
        api.read_log([GOLDENS[0]], out=tmp_path / "file" / "page.html")


def test_a_page_never_replaces_a_log(tmp_path: Path) -> None:
    log = tmp_path / "LOG"
    log.write_text(message(0, "RocksDB version: 9.9.3"))
    link = tmp_path / "page.html"
    link.symlink_to(log)
    for out in (log, link):
        with pytest.raises(UserError, match="it is a LOG that was read"):
            api.read_log([tmp_path], out=out)
    assert log.read_text() == message(0, "RocksDB version: 9.9.3")
    with pytest.raises(UserError, match="cannot be written: File name too long"):
        api.read_log([tmp_path], out=tmp_path / ("x" * 300))
