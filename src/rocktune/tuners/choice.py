"""Functions that read tuners with settings from one line: `nsga2(population=20, mutation_rate=0.64)`."""

import json
import re
from typing import Any

from rocktune.errors import UserError

_CHOICE = re.compile(r"\s*([^()\s]+)\s*(?:\((.*)\))?\s*")


def split_choices(text: str) -> list[str]:
    """Returns the parts of a text between commas outside parentheses, stripped and without empty ones."""
    parts, depth, start = [], 0, 0
    for position, character in enumerate(text):
        depth += {"(": 1, ")": -1}.get(character, 0)
        if character == "," and depth == 0:
            parts.append(text[start:position])
            start = position + 1
    return [part.strip() for part in [*parts, text[start:]] if part.strip()]


def parse_choice(text: str) -> tuple[str, dict[str, Any]]:
    """Returns a tuner's name and its settings.

    Values are read as JSON (`20`, `0.64`, `true`, `"text"`). A value that is not JSON is taken as text.

    Raises:
        UserError: the text is not of the form NAME or NAME(SETTING=VALUE, ...).
    """
    match = _CHOICE.fullmatch(text)
    if match is None:
        raise UserError(f"tuner: '{text}' is not of the form NAME or NAME(SETTING=VALUE, ...)")
    settings: dict[str, Any] = {}
    for assignment in split_choices(match[2] or ""):
        name, equals, value = (part.strip() for part in assignment.partition("="))
        if not name or not equals or not value:
            raise UserError(f"tuner: '{assignment}' in '{text}' is not of the form SETTING=VALUE")
        # So that words need no quotes, which a shell would take away: sampling=random.
        try:
            settings[name] = json.loads(value)
        except ValueError:
            settings[name] = value
    return match[1], settings
