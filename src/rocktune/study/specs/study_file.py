"""Study files: requests in TOML, whose fields the command line overrides."""

import math
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from rocktune.errors import UserError
from rocktune.spec_file import is_file_name, located_argument, read_toml, validated
from rocktune.study.specs.request import StudyRequest

_PRESETS_OR_FILES = ("workload", "device", "space", "tuner")
_QUANTITIES = ("scale", "budget", "memory", "block_cache", "rate", "robust")
_ALWAYS_FILES = ("trace", "preload_from", "table", "options_file", "out", "prices")
"""Fields that never hold the name of a preset."""


def make_request(given: dict[str, Any], file: Path | None = None) -> StudyRequest:
    """Returns the request made from a study file and values that override it.

    A protocol in `given` without an offered rate replaces the file's rate too; see `replaced_fields`.

    Args:
        given: values by field of `StudyRequest`; None counts as not given.
        file: a study's TOML file for the fields that `given` lacks. Paths in it are relative to its
            directory.

    Raises:
        UserError: the file cannot be read or parsed, or a field is unknown, empty or has an invalid value.
    """
    said = {name: value for name, value in given.items() if value is not None}
    _refuse_empty(said)
    document = _with_paths(read_toml(file), file.parent) if file else {}
    # Validated by itself too, so that a mistake in the file is reported with its name.
    if file:
        _refuse_empty(document, f"{file}: ")
        validated(StudyRequest, document, str(file))
        document = {name: value for name, value in document.items() if name not in _meaningless(said)}
    return validated(StudyRequest, document | said, "study")


def _refuse_empty(fields: Mapping[str, Any], where: str = "") -> None:
    """Raises UserError for an empty text, which is more likely a slip of the shell than meant.

    It also refuses values that Python would take for numbers and a user would not.
    """
    for name, value in fields.items():
        if name in _QUANTITIES and (isinstance(value, bool) or value in (math.inf, -math.inf)):
            raise UserError(f"{where}{name}: {str(value).lower()} is not a quantity; give a number")
        texts = value if isinstance(value, list | tuple) else [value]
        nothing = name == "objective" and not texts
        if nothing or any(isinstance(text, str) and not text.strip() for text in texts):
            raise UserError(f"{where}{name}: it is empty; give a value, or leave it out")


def replaced_fields(given: Mapping[str, Any], file: Path | None) -> tuple[str, ...]:
    """Returns sentences on the fields of a study file that another given field makes meaningless.

    Args:
        given: see `make_request`.
        file: see `make_request`.

    Raises:
        UserError: the file cannot be read or parsed.
    """
    document = read_toml(file) if file else {}
    return tuple(
        f"{name} = {document[name]} of {file} is left out: {why}."
        for name, why in _meaningless(given).items()
        if name in document
    )


def _meaningless(given: Mapping[str, Any]) -> dict[str, str]:
    """Returns the fields of a file that given fields make meaningless, each with the reason."""
    if given.get("protocol") == "short" and given.get("rate") is None:
        return {"rate": "protocol 'short' has no phase at an offered rate"}
    return {}


def _with_paths(document: dict[str, Any], folder: Path) -> dict[str, Any]:
    """Returns a study file's document with its paths relative to the file's directory."""

    def is_file(name: str, value: Any) -> bool:
        return (
            isinstance(value, str)
            and name in (*_PRESETS_OR_FILES, *_ALWAYS_FILES)
            and (name in _ALWAYS_FILES or is_file_name(value) or value.endswith(".py"))
        )

    found = {name: str(folder / value) if is_file(name, value) else value for name, value in document.items()}
    if isinstance(tried := document.get("tried"), list):
        found["tried"] = [str(folder / each) if isinstance(each, str) else each for each in tried]
    command = document.get("command")
    return found | {"command": _with_programs(command, folder)} if isinstance(command, dict) else found


def _with_programs(command: dict[str, Any], folder: Path) -> dict[str, Any]:
    """Makes paths in the commands absolute: programs with a directory, and arguments such as ./this.

    Absolute paths let the study be resumed from any directory. Commands for a shell are not changed, because
    their words are not known.
    """
    if command.get("shell"):
        return command
    return {
        name: [located_argument(index, argument, folder) for index, argument in enumerate(value)]
        if isinstance(value, list)
        else value
        for name, value in command.items()
    }
