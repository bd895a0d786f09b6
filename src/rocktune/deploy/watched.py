"""The file that a running program watches: its text, and writing it. docs/apply.md describes the format."""

import os
import re
import zlib
from collections.abc import Mapping
from pathlib import Path

from rocktune.errors import UserError

WATCHED_FILE = "ROCKTUNE_OPTIONS"
"""Name of the watched file in a database's directory."""
_FIRST_LINE = "# rocktune options, format 1"
_FAMILY_TITLES = {"cf": "CFOptions", "table": "TableOptions/BlockBasedTable"}
_KINDS = {"DBOptions": "db"} | {title: kind for kind, title in _FAMILY_TITLES.items()}
_TITLE = re.compile(r'\[([A-Za-z/]+)(?: "(.*)")?\]')


def watched_text(live: Mapping[str, Mapping[str, str]], identity: str = "") -> str:
    """Returns the text of a watched file.

    Args:
        live: options by section: "db", "cf:FAMILY" or "table:FAMILY".
        identity: id of the database that it is for; empty for any database.

    Raises:
        UserError: a column family's name or a value has a line break, which the format cannot hold.
    """
    lines = [_FIRST_LINE]
    if identity:
        lines += ["[Database]", f"  id={identity}"]
    for section, options in live.items():
        kind, _, family = section.partition(":")
        lines.append("[DBOptions]" if kind == "db" else f'[{_FAMILY_TITLES[kind]} "{family}"]')
        lines += [f"  {name}={value}" for name, value in options.items()]
    for line in lines:
        if "\n" in line or "\r" in line:
            raise UserError(f"{line!r}: it has a line break, which a watched file cannot hold")
    body = "\n".join(lines) + "\n"
    return f"{body}# end crc32={zlib.crc32(body.encode()):08x}\n"


def read_watched(path: Path) -> dict[str, dict[str, str]]:
    """Returns the options of a watched file by section, as `watched_text` takes them; empty without a file.

    Raises:
        UserError: the file cannot be read, or is no complete watched file.
    """
    try:
        text = path.read_text(encoding="utf-8")
    except FileNotFoundError:
        return {}
    except (OSError, UnicodeDecodeError) as failure:
        raise UserError(f"{path}: cannot be read: {failure}") from None
    body, _, end = text.rpartition("# end crc32=")
    if not text.startswith(_FIRST_LINE) or end.strip() != f"{zlib.crc32(body.encode()):08x}":
        raise UserError(f"{path}: it is no complete watched file; 'rocktune apply' writes one")
    options: dict[str, dict[str, str]] = {}
    section = ""
    for line in body.splitlines():
        if (title := _TITLE.fullmatch(line)) is not None:
            section = f"{_KINDS[title[1]]}:{title[2]}" if title[2] is not None else _KINDS.get(title[1], "")
        elif section and line.startswith("  "):
            name, _, value = line[2:].partition("=")
            options.setdefault(section, {})[name] = value
    return options


def write_watched(path: Path, text: str) -> None:
    """Replaces a watched file atomically and durably.

    Raises:
        UserError: the file cannot be written.
    """
    unfinished = path.with_name(f"{path.name}.new")
    try:
        with unfinished.open("w", encoding="utf-8", newline="\n") as file:
            file.write(text)
            file.flush()
            os.fsync(file.fileno())
        unfinished.replace(path)
        directory = os.open(path.parent, os.O_RDONLY)
        try:
            os.fsync(directory)
        finally:
            os.close(directory)
    except OSError as failure:
        raise UserError(f"{path}: cannot be written: {failure.strerror}") from None
