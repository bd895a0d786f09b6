"""The file that a running program watches: its text, and writing it. docs/apply.md describes the format."""

import os
import re
import stat
import zlib
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path

from rocktune.errors import UserError

WATCHED_FILE = "ROCKTUNE_OPTIONS"
"""Name of the watched file in a database's directory."""
_FIRST_LINE = "# rocktune options, format 1"
_FAMILY_TITLES = {"cf": "CFOptions", "table": "TableOptions/BlockBasedTable"}
_FAMILY_KINDS = {title: kind for kind, title in _FAMILY_TITLES.items()}
_PLAIN_TITLES = {"DBOptions": "db", "Database": ""}
_TITLE = re.compile(r'\[([A-Za-z/]+)(?: "(.*)")?\]', re.DOTALL)


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

    Accepts what the watcher of a program accepts.

    Raises:
        UserError: the file cannot be read, or is no complete watched file.
    """
    try:
        _refuse_special(path)
        text = path.read_bytes().decode()
    except FileNotFoundError:
        return {}
    except (OSError, UnicodeDecodeError) as failure:
        raise UserError(f"{path}: cannot be read: {failure}") from None
    body, _, end = text.rpartition("# end crc32=")
    if not text.startswith(f"{_FIRST_LINE}\n") or end != f"{zlib.crc32(body.encode()):08x}\n":
        raise UserError(f"{path}: it is no complete watched file; 'rocktune apply' writes one")
    options: dict[str, dict[str, str]] = {}
    section: str | None = None
    for number, line in enumerate(body.split("\n"), 1):
        line = line.strip(" \t")
        if not line or line.startswith("#"):
            continue
        name, is_assigned, value = line.partition("=")
        if line.startswith("["):
            section = _section_of(line)
        elif section and is_assigned:
            options.setdefault(section, {})[name.rstrip(" \t")] = value.lstrip(" \t")
        elif section is not None and not is_assigned:
            section = None
        if section is None:
            raise UserError(f"{path}: line {number} means nothing in a watched file: {line}; remove it")
    return options


def write_watched(path: Path, text: str) -> None:
    """Replaces a watched file atomically and durably, or the file that a symbolic link there names.

    Raises:
        UserError: the file cannot be written, or it is there and no watched file.
    """
    try:
        _refuse_special(path)
        with path.open("rb") as present:
            first = present.read(len(_FIRST_LINE))
    except FileNotFoundError:
        first = b""
    except OSError as failure:
        raise UserError(f"{path}: cannot be read: {failure.strerror}") from None
    # A file that is being written, or was cut short, may have less than the first line.
    if not _FIRST_LINE.encode().startswith(first):
        raise UserError(
            f"{path}: it is no watched file, and is not overwritten; name another file, or remove it"
        )
    replace_file(path, text)


def replace_file(path: Path, text: str) -> None:
    """Replaces a file atomically and durably, or leaves it as it is.

    Raises:
        UserError: the file cannot be written.
    """
    try:
        # Renaming over a link would leave its target as it was, which may be what others read.
        target = path.resolve()
        unfinished = target.with_name(f"{target.name}.new")
        try:
            with unfinished.open("w", encoding="utf-8", newline="\n") as file:
                _keep_access(target, file.fileno())
                file.write(text)
                file.flush()
                os.fsync(file.fileno())
            unfinished.replace(target)
        except BaseException:
            unfinished.unlink(missing_ok=True)
            raise
        directory = os.open(target.parent, os.O_RDONLY)
        try:
            os.fsync(directory)
        finally:
            os.close(directory)
    except OSError as failure:
        raise UserError(f"{path}: cannot be written: {failure.strerror}") from None
    except (RuntimeError, UnicodeEncodeError) as failure:  # a loop of links; a name that is no UTF-8
        raise UserError(f"{path}: cannot be written: {failure}") from None


def _refuse_special(path: Path) -> None:
    """Raises UserError if a path names something else than a file, such as a directory or a device."""
    if path.exists() and not path.is_file():
        raise UserError(f"{path}: it is no regular file; name the file that the database's program watches")


def _keep_access(old: Path, new: int) -> None:
    """Gives a new file the mode and the owner of the one that it replaces: the same programs read it."""
    with suppress(FileNotFoundError):
        was = old.stat()
        # Only root may give files away; the mode says whether others read it.
        with suppress(PermissionError):
            os.fchown(new, was.st_uid, was.st_gid)
        os.fchmod(new, stat.S_IMODE(was.st_mode))


def _section_of(title: str) -> str | None:
    """Returns the section of a heading as `watched_text` takes it; "" for that of the id; None for others."""
    found = _TITLE.fullmatch(title)
    if found is None or (found[2] is None) != (found[1] in _PLAIN_TITLES):
        return None
    kind = (_PLAIN_TITLES if found[2] is None else _FAMILY_KINDS).get(found[1])
    return kind if found[2] is None or kind is None else f"{kind}:{found[2]}"
