"""What every validated spec has in common: its base class, and reading one from TOML with one-line errors."""

import tomllib
from pathlib import Path
from typing import Annotated, Any, Self, TypeVar

from pydantic import BaseModel, ConfigDict, Field, ValidationError, model_validator

from rocktune.errors import UserError, unknown_name

Count = Annotated[int, Field(strict=True, ge=0, le=(1 << 62) - 1)]
"""A whole number from 0 to what TOML, JSON and the worker take."""
Positive = Annotated[int, Field(strict=True, ge=1, le=(1 << 62) - 1)]
"""A whole number from 1."""
Number = Annotated[float, Field(strict=True)]
"""A finite number."""
Amount = Annotated[float, Field(strict=True, ge=0)]
"""A finite number from 0."""
Share = Annotated[float, Field(strict=True, ge=0, le=1)]
"""A number from 0 to 1."""
Switch = Annotated[bool, Field(strict=True)]


class Spec(BaseModel):
    """Plain, validated, immutable, hashable data; an unknown field is refused with the nearest name."""

    model_config = ConfigDict(frozen=True, extra="forbid", allow_inf_nan=False)

    @model_validator(mode="before")
    @classmethod
    def _refuse_unknown_fields(cls, document: Any) -> Any:
        if isinstance(document, dict):
            for name in document:
                if name not in cls.model_fields:
                    raise ValueError(str(unknown_name("field", str(name), cls.model_fields)))
        return document


Model = TypeVar("Model", bound=BaseModel)


class KindSpec(Spec):
    """A spec whose field `kind` decides which of its other fields mean anything."""

    kind: str

    def _require_meaningful(self, meaningful: frozenset[str]) -> Self:
        """Refuses a field that differs from its default although this kind does not use it."""
        for name, field in type(self).model_fields.items():
            if name != "kind" and name not in meaningful and getattr(self, name) != field.default:
                known = ", ".join(sorted(meaningful)) or "no other field"
                raise ValueError(f"'{name}' has no meaning for kind '{self.kind}', which has {known}")
        return self


def validated(model: type[Model], document: dict[str, Any], where: str) -> Model:
    """Makes a spec, or another model, from a document.

    Args:
        model: its class.
        document: as TOML and JSON readers give it.
        where: what the error names first: the file, or what the user calls the document.

    Raises:
        UserError: the first thing that is wrong, with the path to the field and what stood there.
    """
    try:
        return model.model_validate(document)
    except ValidationError as failure:
        raise UserError(f"{where}: {_first_error(failure)}") from None


def _first_error(failure: ValidationError) -> str:
    error = failure.errors(include_url=False)[0]
    path = "".join(f"[{part + 1}]" if isinstance(part, int) else f".{part}" for part in error["loc"]).lstrip(
        "."
    )
    message = error["msg"].removeprefix("Value error, ")
    if error["type"] == "missing":
        message = "missing"
    elif error["type"] == "too_short":
        message = f"needs at least {error['ctx']['min_length']}"
    elif error["type"] != "value_error":
        message = f"{message[0].lower()}{message[1:]}, not {error['input']!r:.60}"
    return f"{path}: {message}" if path else message


def read_toml(path: Path) -> dict[str, Any]:
    """Reads a TOML file.

    Raises:
        UserError: the file cannot be read, is no text, or is malformed (with line and column).
    """
    try:
        return tomllib.loads(path.read_text(encoding="utf-8"))
    except OSError as failure:
        raise UserError(f"{path}: cannot be read: {failure.strerror}") from None
    except UnicodeDecodeError:
        raise UserError(f"{path}: not a TOML file: it is not UTF-8 text") from None
    except tomllib.TOMLDecodeError as failure:
        raise UserError(f"{path}: malformed TOML: {failure}") from None


def is_file_name(name: str) -> bool:
    """Tells whether a "NAME|FILE" argument means a file: it ends in .toml or has a directory in it."""
    return name.endswith(".toml") or "/" in name
