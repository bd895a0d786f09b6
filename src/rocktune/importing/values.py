"""Values of options: nested settings in braces, lists, sizes, and the characters that RocksDB escapes."""

import re
from collections.abc import Iterator, Mapping

from rocktune.importing.document import SubOption

_MAX_DEPTH = 20
_ESCAPED = {"n": "\n", "r": "\r"}
_SIZE = re.compile(r"(\d+)\s*([KMGT])(?:i?B)?", re.IGNORECASE)
_SHIFTS = {"K": 10, "M": 20, "G": 30, "T": 40}


class UnbalancedBracesError(ValueError):
    """Raised for a value whose braces do not match."""


def unescaped(text: str) -> str:
    """Returns the text with RocksDB's escapes resolved: a backslash before a colon, n, r and others."""
    return re.sub(r"\\(.)", lambda match: _ESCAPED.get(match[1], match[1]), text)


def without_comment(line: str) -> str:
    """Returns a line without surrounding space and without what follows an unescaped `#`."""
    return re.sub(r"^((?:\\.|[^\\#])*)#.*$", r"\1", line, flags=re.DOTALL).strip()


def parts_of(text: str) -> tuple[SubOption, ...]:
    """Returns the settings of a nested value such as `{level=3;enabled=true;}`; none for a plain one.

    Elements without a name, as lists have them, are named by position.

    Raises:
        UnbalancedBracesError: the value has braces that do not match, or too many inside each other.
    """
    return _parts(text.strip(), 0)


def _parts(text: str, depth: int) -> tuple[SubOption, ...]:
    if depth > _MAX_DEPTH:
        raise UnbalancedBracesError(f"more than {_MAX_DEPTH} braces inside each other")
    inner = _inner(text)
    if inner is None:
        pieces = _pieces(text)
        # "a=1;b=2" without braces is what GetOptionString writes; a plain value has no setting in it.
        listed = len(pieces) > 1 and text.startswith("{")
        if not listed and not any("=" in piece.partition("{")[0] for piece in pieces):
            return ()
    else:
        pieces = _pieces(inner)
    parts = []
    for number, piece in enumerate(pieces):
        name, equals, value = piece.partition("=")
        if not equals or "{" in name or not name.strip():
            name, value = f"[{number}]", piece
        parts.append(SubOption(name.strip(), value.strip(), _parts(value.strip(), depth + 1)))
    return tuple(parts)


def _inner(text: str) -> str | None:
    """Returns what stands inside the braces around the whole value; None where there are none."""
    if not text.startswith("{"):
        _pieces(text)
        return None
    depth = 0
    for at, sign in enumerate(text):
        depth += (sign == "{") - (sign == "}")
        if depth == 0:
            return text[1:at] if at == len(text) - 1 else None
    raise UnbalancedBracesError("a brace is not closed")


def _pieces(text: str) -> list[str]:
    """Splits at each semicolon outside braces. Lists of objects are also split at such colons."""
    pieces, depth, begin = [], 0, 0
    for at, sign in enumerate(text):
        depth += (sign == "{") - (sign == "}")
        if depth < 0:
            raise UnbalancedBracesError("a brace is closed that was not opened")
        # RocksDB separates objects in braces by a colon, too: {id=A;}:{id=B;}.
        between = sign == ":" and text[at - 1 : at] == "}" and text[at + 1 : at + 2] == "{"
        if depth == 0 and (sign == ";" or between):
            pieces.append(text[begin:at])
            begin = at + 1
    if depth:
        raise UnbalancedBracesError("a brace is not closed")
    pieces.append(text[begin:])
    return [piece.strip() for piece in pieces if piece.strip()]


def nested_text(parts: Mapping[str, str]) -> str:
    """Returns the value that holds the settings: `{level=3;enabled=true;}`."""
    return "{" + "".join(f"{name}={text};" for name, text in parts.items()) + "}"


def rendered(parts: tuple[SubOption, ...]) -> str:
    """Returns the value that `parts_of` reads as these parts."""
    return "{" + "".join(f"{_shown(part)};" for part in parts) + "}"


def _shown(part: SubOption) -> str:
    text = rendered(part.parts) if part.parts else part.text
    return text if part.name.startswith("[") else f"{part.name}={text}"


def size_in(text: str) -> int | None:
    """Returns the bytes of a size with a unit, such as `64MB` or `1GiB`; units are powers of 1024."""
    match = _SIZE.fullmatch(text.strip())
    return int(match[1]) << _SHIFTS[match[2].upper()] if match else None


def is_number(text: str) -> bool:
    """Returns whether the text begins like a number."""
    return re.match(r"[-+]?\.?\d", text.strip()) is not None


def walked(parts: tuple[SubOption, ...], path: str = "") -> Iterator[tuple[str, SubOption]]:
    """Yields each part at every depth with its path, such as `metadata_cache_options.top_level`."""
    for part in parts:
        dot = "" if part.name.startswith("[") or not path else "."
        name = f"{path}{dot}{part.name}"
        yield name, part
        yield from walked(part.parts, name)
