"""Java's property files, as `java.util.Properties.load` reads them."""

import re
from collections.abc import Iterator
from pathlib import Path

from rocktune.errors import UserError
from rocktune.importing.systems.settings import Setting

_BLANKS = " \t\f"
_ESCAPES = {"t": "\t", "n": "\n", "r": "\r", "f": "\f"}
_MAX_BYTES = 1 << 20


def read_properties(path: Path) -> list[Setting]:
    """Returns the properties of a file, in its order, repeated ones too.

    Java reads ISO-8859-1, but people write UTF-8; both are read.

    Raises:
        UserError: the file cannot be read, is larger than 1 MiB, UTF-16 or binary, or has a malformed Unicode
            escape.
    """
    try:
        with path.open("rb") as file:
            data = file.read(_MAX_BYTES + 1)
    except OSError as failure:
        raise UserError(f"{path}: cannot be read: {failure.strerror}") from None
    if len(data) > _MAX_BYTES:
        raise UserError(f"{path}: is larger than 1 MiB; name a file of properties")
    if data.startswith((b"\xff\xfe", b"\xfe\xff")):
        raise UserError(f"{path}: is UTF-16 text; save it as UTF-8")
    if b"\0" in data:
        raise UserError(f"{path}: is no text; name a file of properties")
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError:
        text = data.decode("iso-8859-1")
    return parse_properties(text, str(path))


def parse_properties(text: str, where: str) -> list[Setting]:
    """Returns the properties of a text, in its order, repeated ones too.

    Args:
        text: the text; lines end with LF, CR LF or CR.
        where: the file, for the error message.

    Raises:
        UserError: a Unicode escape is malformed.
    """
    found = []
    for number, line in _logical_lines(text):
        key, value = _split(line)
        try:
            found.append(Setting(_unescaped(key), _unescaped(value), number))
        except ValueError:
            raise UserError(
                f"{where}, line {number}: malformed \\u escape; write \\u and four hexadecimal digits"
            ) from None
    return found


def _logical_lines(text: str) -> Iterator[tuple[int, str]]:
    """Yields lines with their continuations, without comments, and the number of their first line."""
    lines = re.split(r"\r\n|\n|\r", text)
    at = 0
    while at < len(lines):
        number, line = at + 1, lines[at].lstrip(_BLANKS)
        at += 1
        if not line or line[0] in "#!":
            continue
        while _continues(line):
            line = line[:-1] + (lines[at].lstrip(_BLANKS) if at < len(lines) else "")
            at += 1
        yield number, line


def _continues(line: str) -> bool:
    """Returns whether a line ends with an odd number of backslashes."""
    return (len(line) - len(line.rstrip("\\"))) % 2 == 1


def _split(line: str) -> tuple[str, str]:
    """Returns key and value, still escaped: the key ends at the first unescaped blank, `=` or `:`."""
    end = 0
    while end < len(line) and line[end] not in _BLANKS + "=:":
        end += 2 if line[end] == "\\" else 1
    rest = line[end:].lstrip(_BLANKS)
    if rest[:1] in ("=", ":"):
        rest = rest[1:].lstrip(_BLANKS)
    return line[:end], rest


def _unescaped(text: str) -> str:
    """Returns a text with its escapes replaced; raises ValueError for a malformed Unicode escape."""
    made, at = [], 0
    while at < len(text):
        if text[at] != "\\" or at + 1 == len(text):
            made.append(text[at])
            at += 1
        elif text[at + 1] == "u":
            digits = text[at + 2 : at + 6]
            if not re.fullmatch(r"[0-9a-fA-F]{4}", digits):
                raise ValueError(digits)
            made.append(chr(int(digits, 16)))
            at += 6
        else:
            made.append(_ESCAPES.get(text[at + 1], text[at + 1]))
            at += 2
    # Java's characters are halves of UTF-16; half a pair cannot be printed.
    return "".join(made).encode("utf-16", "surrogatepass").decode("utf-16", "replace")
