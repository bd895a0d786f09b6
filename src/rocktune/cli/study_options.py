"""Options of commands for the fields of a study, collected into one mapping."""

import inspect
from collections.abc import Callable, Collection
from functools import wraps
from pathlib import Path
from typing import Annotated, Any

import typer

from rocktune import api
from rocktune.cli import options
from rocktune.cli.output import stderr
from rocktune.cli.progress import ProgressDisplay

Command = Callable[..., None]

OPTIONS: dict[str, Any] = {
    "workload": options.Workload,
    "trace": options.Trace,
    "preload_from": options.PreloadFrom,
    "device": options.Device,
    "engine": options.Engine,
    "rocksdb": options.RocksDb,
    "db_bench": options.DbBench,
    "table": options.Table,
    "interpolate": options.Interpolate,
    "space": options.Space,
    "tuner": Annotated[
        str | None,
        typer.Option(
            metavar="NAME|FILE.py|FILE.toml",
            help="How to search; see 'rocktune list tuners', or name your own file.",
        ),
    ],
    "protocol": options.ProtocolName,
    "objective": options.Objectives,
    "constraints": options.Constraints,
    "prices": options.Prices,
    "robust": options.Robust,
    "rate": options.Rate,
    "scale": options.Scale,
    "budget": options.Budget,
    "memory": options.Memory,
    "options_file": options.OptionsFile,
    "tried": options.Tried,
    "warm_start": options.WarmStart,
    "column_family": options.ColumnFamily,
    "all_families": options.AllFamilies,
    "block_cache": options.BlockCache,
    "shared_cache": options.SharedCache,
    "ledger": options.Ledger,
    "study": Annotated[
        str | None, typer.Option(metavar="NAME", help="Name of the study in the ledger; made up by default.")
    ],
    "seed": options.Seed,
    "proof_pairs": options.ProofPairs,
    "out": Annotated[
        Path | None,
        typer.Option(
            metavar="DIR", help="Directory for OPTIONS file and report; named after the study by default."
        ),
    ],
}
"""Options by field of `rocktune.study.StudyRequest`. All other fields are set in a study file only."""


def study_options(fields: Collection[str], without: Collection[str] = ()) -> Callable[[Command], Command]:
    """Gives a command one option per field of a study, in place of its parameter `given`.

    The command gets a mapping `given` from field to value; None means that the option was left out.

    Args:
        fields: fields of `rocktune.study.StudyRequest`, such as the keys of `rocktune.api.requests.Given`.
        without: fields without a meaning for the command.
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
            if given.get("trace") is not None and given.get("workload") is None:
                _import_trace(given["trace"], given["preload_from"])
            command(**values, given=given)

        signature = inspect.signature(command)
        parameters = [
            # The given options take the place of one parameter; only keywords allow any order with and
            # without defaults.
            parameter.replace(kind=inspect.Parameter.KEYWORD_ONLY)
            for own in signature.parameters.values()
            for parameter in (asked if own.name == "given" else [own])
        ]
        # Typer reads a command's options from its signature.
        setattr(collecting, "__signature__", signature.replace(parameters=parameters))  # noqa: B010 - unknown to mypy
        return collecting

    return decorated


def _import_trace(trace: Path, preload_from: Path | None) -> None:
    """Imports a trace with a display of the progress, unless it is imported already."""
    with ProgressDisplay(stderr()) as display:
        api.imported_workload(trace, preload_from, display)


def _said(name: str, value: Any) -> Any:
    """Returns the value of a field; an option that may be repeated gives None if it was left out."""
    if not isinstance(value, list):
        return value
    # One objective stays a name; a list of several asks for a Pareto front.
    return value[0] if name == "objective" and len(value) == 1 else value or None
