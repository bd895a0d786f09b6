"""Splits the text of configuration files into settings."""

import re
from collections.abc import Iterator

from rocktune.importing.systems.settings import Setting


def unquoted(text: str) -> str:
    """Returns a text without the quotes around it."""
    text = text.strip()
    return text[1:-1] if len(text) >= 2 and text[0] == text[-1] and text[0] in "\"'" else text


def assignments(text: str, separator: str, comment: str = "#") -> Iterator[Setting]:
    """Yields the settings of lines such as `name = value`, without comments, headings and quotes.

    Args:
        text: the file.
        separator: regular expression between a name and its value.
        comment: characters that begin a comment line.
    """
    for number, line in enumerate(text.split("\n"), 1):
        line = line.strip()
        if not line or line[0] in comment or line.startswith("["):
            continue
        name, found, value = _split(line, separator)
        if found:
            yield Setting(name, unquoted(value), number)


def _split(line: str, separator: str) -> tuple[str, bool, str]:
    match = re.search(separator, line)
    return (line[: match.start()], True, line[match.end() :]) if match else (line, False, "")


def line_of(text: str, key: str) -> int:
    """Returns the number of the first line that begins with a key; 1 if there is none."""
    for number, line in enumerate(text.split("\n"), 1):
        if re.match(rf"\s*[\"']?{re.escape(key)}[\"']?\s*[:=]", line):
            return number
    return 1
