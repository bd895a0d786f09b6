"""What RocksDB's LOG files say."""

import json
from collections.abc import Iterator, Sequence
from dataclasses import fields
from datetime import datetime
from pathlib import Path
from typing import Any

from rocktune.api.time_left import TimeLeft
from rocktune.errors import UserError
from rocktune.importing.logs import LogDocument, StallPeriod, csv_text
from rocktune.importing.logs import read_log as read_files
from rocktune.report import write_log_report
from rocktune.study import Observer


def read_log(
    logs: Sequence[str | Path], *, out: str | Path | None = None, observer: Observer | None = None
) -> LogDocument:
    """Reads LOG files of RocksDB 5 to 11 or Speedb, or what db_bench and the property rocksdb.stats print.

    Args:
        logs: files in any order, or directories of databases.
        out: HTML file to write; None for none.
        observer: observer of progress.

    Returns:
        All that the files say. `log_json` and `log_csv` give it as text.

    Raises:
        UserError: a file cannot be read or is no LOG, or `out` cannot be written.
    """
    watching = observer or Observer()
    watching.phase_started("read-log", None)
    left = TimeLeft(watching)
    document = read_files(
        [Path(log) for log in logs], lambda done, total: left.progress("read-log", done, total)
    )
    if out is not None:
        path = Path(out)
        try:
            _require_page(path, document)
            write_log_report(path, document)
        except OSError as failure:
            raise UserError(f"{path}: cannot be written: {failure.strerror}") from None
    return document


def _require_page(path: Path, document: LogDocument) -> None:
    """Raises a UserError if a path is a directory or one of the files that were read."""
    if path.is_dir():
        raise UserError(f"{path}: it is a directory; name the HTML file to write")
    if path.exists() and any(path.samefile(log) for log in document.files):
        raise UserError(f"{path}: it is a LOG that was read; name another file for the page")


def log_csv(document: LogDocument, kind: str) -> str:
    """Returns one kind of a LOG's rows as CSV; "" if it has none.

    Args:
        document: the LOG.
        kind: "series" (each dump and family), "levels" (compaction tables), "stalls", "flushes",
            "compactions" or "options".

    Raises:
        UserError: `kind` is another word.
    """
    return csv_text(document, kind)


def log_json(document: LogDocument) -> Iterator[str]:
    """Yields a LOG as one JSON document in pieces, with the fields of `rocktune.importing.logs`."""
    yield from json.JSONEncoder(indent=2, allow_nan=False, default=_plain).iterencode(document)


def _plain(value: Any) -> Any:
    """Returns a value as types that JSON can hold; its parts may be of other types."""
    if isinstance(value, datetime):
        return value.isoformat()
    found = {field.name: getattr(value, field.name) for field in fields(value)}
    if isinstance(value, StallPeriod):
        found |= {"min_s": value.min_s, "max_s": value.max_s}
    return found
