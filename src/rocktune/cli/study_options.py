"""The options that commands have for the fields of a study, collected into one mapping."""

import inspect
from collections.abc import Callable, Collection
from functools import wraps
from pathlib import Path
from typing import Annotated, Any

import typer

from rocktune.cli import options

Command = Callable[..., None]

OPTIONS: dict[str, Any] = {
    "workload": options.Workload,
    "device": options.Device,
    "engine": options.Engine,
    "rocksdb": options.RocksDb,
    "db_bench": options.DbBench,
    "table": options.Table,
    "interpolate": options.Interpolate,
    "space": options.Space,
    "tuner": Annotated[str | None, typer.Option(metavar="NAME|FILE.py", help="What chooses configurations.")],
    "objective": options.Objectives,
    "constraints": options.Constraints,
    "scale": options.Scale,
    "budget": options.Budget,
    "memory": options.Memory,
    "options_file": options.OptionsFile,
    "block_cache": options.BlockCache,
    "shared_cache": options.SharedCache,
    "ledger": options.Ledger,
    "study": Annotated[
        str | None, typer.Option(metavar="NAME", help="What to call the study in the ledger.")
    ],
    "seed": options.Seed,
    "out": Annotated[
        Path | None, typer.Option(metavar="DIR", help="Where files go; a directory named after the study.")
    ],
}
"""By field of `rocktune.study.StudyRequest`. The other fields can be said only in a study's file."""


def study_options(fields: Collection[str], without: Collection[str] = ()) -> Callable[[Command], Command]:
    """Gives a command an option for each of some fields of a study, in place of its parameter `given`.

    The command gets what the user said as `given`, by the names of the fields; None stands for an option
    that was left out.

    Args:
        fields: of `rocktune.study.StudyRequest`, such as the keys of `rocktune.api.requests.Given`.
        without: fields that have no meaning for the command.
    """
    names = [name for name in OPTIONS if name in fields and name not in without]
    asked = [
        inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=None, annotation=OPTIONS[name])
        for name in names
    ]

    def decorated(command: Command) -> Command:
        @wraps(command)
        def collecting(**values: Any) -> None:
            given = {name: _said(name, values.pop(name)) for name in names}
            command(**values, given=given)

        signature = inspect.signature(command)
        parameters = [
            parameter.replace(kind=inspect.Parameter.KEYWORD_ONLY)
            for own in signature.parameters.values()
            for parameter in (asked if own.name == "given" else [own])
        ]
        # Typer reads a command's options from its signature.
        setattr(collecting, "__signature__", signature.replace(parameters=parameters))  # noqa: B010 - unknown to mypy
        return collecting

    return decorated


def _said(name: str, value: Any) -> Any:
    """Returns a field's value; an option that may be repeated gives an empty list where it is left out."""
    if not isinstance(value, list):
        return value
    return value[0] if name == "objective" and len(value) == 1 else value or None
