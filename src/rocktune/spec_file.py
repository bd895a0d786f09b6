"""The base classes of validated specs, and functions that read them from TOML with one-line errors."""

import os
import tomllib
from pathlib import Path
from typing import Annotated, Any, ClassVar, Self, TypeVar

from pydantic import (
    BaseModel,
    ConfigDict,
    Field,
    SerializerFunctionWrapHandler,
    ValidationError,
    model_serializer,
    model_validator,
)

from rocktune.errors import UserError, unknown_name

Count = Annotated[int, Field(strict=True, ge=0, le=(1 << 62) - 1)]
"""A whole number from 0 to 2^62 - 1, which TOML, JSON and the worker's 64-bit integers all hold."""
Positive = Annotated[int, Field(strict=True, ge=1, le=(1 << 62) - 1)]
"""A whole number from 1 to 2^62 - 1."""
Number = Annotated[float, Field(strict=True)]
"""A finite number."""
Amount = Annotated[float, Field(strict=True, ge=0)]
"""A finite number, at least 0."""
Share = Annotated[float, Field(strict=True, ge=0, le=1)]
"""A number from 0 to 1."""
Switch = Annotated[bool, Field(strict=True)]
"""True or false; 0, 1 and texts are refused."""


class Spec(BaseModel):
    """The base class of specs: validated, immutable, hashable data.

    A document with an unknown field is refused. The error suggests the nearest field.
    """

    # JSON, in which specs reach the worker and the ledger, has neither infinity nor NaN.
    model_config = ConfigDict(frozen=True, extra="forbid", allow_inf_nan=False)

    @model_validator(mode="before")
    @classmethod
    def _refuse_unknown_fields(cls, document: Any) -> Any:
        """Raises a ValueError for a field that the model does not have."""
        # Before pydantic's own check, whose message names no nearest field.
        if isinstance(document, dict):
            for name in document:
                if name not in cls.model_fields:
                    raise ValueError(str(unknown_name("field", str(name), cls.model_fields)))
        return document


class SparseSpec(Spec):
    """A spec whose JSON form leaves absent fields out, so that documents of older releases stay the same.

    Attributes:
        sparse_fields: names of the fields that are left out if they are absent.
        absent_values: the values that mean that a field is absent.
    """

    sparse_fields: ClassVar[frozenset[str]] = frozenset()
    absent_values: ClassVar[tuple[Any, ...]] = (None, (), [])

    @model_serializer(mode="wrap")
    def _without_absent(self, handler: SerializerFunctionWrapHandler) -> dict[str, Any]:
        document: dict[str, Any] = handler(self)
        return {
            name: value
            for name, value in document.items()
            if name not in self.sparse_fields or value not in self.absent_values
        }


Model = TypeVar("Model", bound=BaseModel)


class KindSpec(Spec):
    """A spec whose field `kind` decides which of its other fields are used."""

    kind: str

    def _require_meaningful(self, meaningful: frozenset[str]) -> Self:
        """Returns this spec.

        Raises:
            ValueError: a field outside `meaningful` differs from its default.
        """
        for name, field in type(self).model_fields.items():
            if name != "kind" and name not in meaningful and getattr(self, name) != field.default:
                known = ", ".join(sorted(meaningful)) or "no other field"
                raise ValueError(f"'{name}' has no meaning for kind '{self.kind}', which has {known}")
        return self


def validated(model: type[Model], document: dict[str, Any], where: str) -> Model:
    """Returns the spec, or other model, that a document describes.

    Args:
        model: the model's class.
        document: the fields by name, as read from TOML or JSON.
        where: start of the error message: the file, or the user's name for the document.

    Raises:
        UserError: the document is invalid; names the path to the first wrong field and its value.
    """
    try:
        return model.model_validate(document)
    # `from None`: the user gets one line; pydantic's own message has several and links to its website.
    except ValidationError as failure:
        raise UserError(f"{where}: {_first_error(failure)}") from None


def _first_error(failure: ValidationError) -> str:
    """Returns the first error of a validation in one line: the path to the field and what is wrong."""
    error = failure.errors(include_url=False)[0]
    # Users count the entries of a list from 1.
    path = "".join(f"[{part + 1}]" if isinstance(part, int) else f".{part}" for part in error["loc"]).lstrip(
        "."
    )
    message = error["msg"].removeprefix("Value error, ")
    if error["type"] == "missing":
        message = "missing"
    elif error["type"] == "too_short":
        message = f"needs at least {error['ctx']['min_length']}"
    # Our own validators raise ValueError with a complete message; pydantic's messages lack the value.
    elif error["type"] != "value_error":
        message = f"{message[0].lower()}{message[1:]}, not {error['input']!r:.60}"
    return f"{path}: {message}" if path else message


def read_toml(path: Path) -> dict[str, Any]:
    """Returns the contents of a TOML file.

    Raises:
        UserError: the file cannot be read, is not UTF-8 text, or is not TOML (names line and column).
    """
    try:
        return tomllib.loads(path.read_text(encoding="utf-8"))
    except OSError as failure:
        raise UserError(f"{path}: cannot be read: {failure.strerror}") from None
    except UnicodeDecodeError:
        raise UserError(f"{path}: is not a TOML file: it is not UTF-8 text") from None
    except tomllib.TOMLDecodeError as failure:
        raise UserError(f"{path}: malformed TOML: {failure}") from None


def is_file_name(name: str) -> bool:
    """Returns whether a "NAME|FILE" argument names a file: it ends in .toml or contains a slash."""
    return name.endswith(".toml") or "/" in name


def located_argument(index: int, argument: Any, folder: Path) -> Any:
    """Returns a word of a command in a file, with a path relative to the file's directory made absolute.

    Programs with a slash are paths, and so are arguments that begin with ./ or ../. Other words, placeholders
    such as {directory}, and values that are no text are returned as they are.

    Args:
        index: position of the word in the command; 0 is the program.
        argument: the word.
        folder: the file's directory.
    """
    if not isinstance(argument, str) or argument.startswith("{"):
        return argument
    is_path = argument.startswith(("./", "../")) or (index == 0 and "/" in argument)
    return os.path.normpath(folder.absolute() / argument) if is_path else argument
