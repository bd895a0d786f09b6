"""The options that commands share, each declared once."""

from pathlib import Path
from typing import Annotated

import typer

from rocktune.errors import UserError

Json = Annotated[bool, typer.Option("--json", help="Print one JSON document and nothing else.")]
Ledger = Annotated[
    str | None, typer.Option(metavar="URL", help="Where results are kept: a URL, or an SQLite file.")
]
StudyName = Annotated[str, typer.Argument(metavar="STUDY", help="The study's name.", show_default=False)]
StudyFile = Annotated[
    Path | None, typer.Argument(metavar="STUDY.toml", help="A study's file; options override it.")
]
Workload = Annotated[str | None, typer.Option(metavar="NAME|FILE", help="What the store is asked to do.")]
Device = Annotated[str | None, typer.Option(metavar="NAME|FILE", help="What the store's I/O may use.")]
NeededDevice = Annotated[
    str,
    typer.Option(
        metavar="NAME|FILE", help="What the store's I/O may use ('rocktune list devices' has names)."
    ),
]
Engine = Annotated[
    str | None, typer.Option(metavar="NAME", help="What measures: embedded, db_bench, command or recorded.")
]
RocksDb = Annotated[
    str | None,
    typer.Option(
        "--rocksdb",
        metavar="VERSION|PATH",
        help="The RocksDB that engine embedded measures, such as 9.9.3; see 'rocktune list rocksdb'.",
    ),
]
DbBench = Annotated[
    str | None, typer.Option("--db-bench", metavar="PATH", help="The program, for engine db_bench.")
]
Table = Annotated[
    Path | None,
    typer.Option(
        metavar="FILE", help="Past measurements, for engine recorded; says workload and device too."
    ),
]
Interpolate = Annotated[
    bool | None,
    typer.Option(
        "--interpolate", help="Let a model of the table answer, not its rows alone.", show_default=False
    ),
]
Space = Annotated[
    str | None, typer.Option(metavar="NAME|FILE", help="Which options may change, and how far.")
]
Scale = Annotated[
    str | None, typer.Option(metavar="1/S", help="Size of the model: bytes, keys and times divided by S.")
]
Memory = Annotated[
    str | None,
    typer.Option(metavar="SIZE", help="Memtables, filters and block cache together, such as 1GiB."),
]
OptionsFile = Annotated[
    Path | None, typer.Option(metavar="FILE", help="Your own RocksDB OPTIONS file; it becomes the baseline.")
]
BlockCache = Annotated[
    str | None,
    typer.Option(
        "--block-cache",
        metavar="SIZE",
        help="The OPTIONS file's block cache, such as 2GiB; RocksDB does not write it there.",
    ),
]
SharedCache = Annotated[
    bool | None,
    typer.Option(
        "--shared-cache",
        help="The OPTIONS file's column families share one block cache.",
        show_default=False,
    ),
]
Executor = Annotated[
    str | None,
    typer.Option(metavar="local:N|ray", help="Who measures: N workers on this machine, or a Ray cluster."),
]
Address = Annotated[
    str | None, typer.Option(metavar="ADDRESS", help="Of the Ray cluster; this machine's own by default.")
]
DryRun = Annotated[bool, typer.Option("--dry-run", help="Say what it would take, and stop.")]
Seed = Annotated[int | None, typer.Option(metavar="N", help="Decides all random numbers.")]
Objectives = Annotated[
    list[str] | None,
    typer.Option(
        "--objective",
        metavar="FIELD",
        help="What to improve, such as throughput_ops_s; or balance. Given again: a Pareto front.",
    ),
]
Constraints = Annotated[
    list[str] | None,
    typer.Option(
        "--constraint", metavar="FIELD<=NUMBER", help="What must hold, or FIELD>=NUMBER; may be repeated."
    ),
]
Budget = Annotated[
    str | None, typer.Option(metavar="TIME", help="The search's time of measuring, such as 3m.")
]

Assignments = Annotated[
    list[str] | None, typer.Option("--option", metavar="NAME=VALUE", help="One option; may be repeated.")
]


def assignments(flag: str, texts: list[str] | None) -> dict[str, str]:
    """Reads NAME=VALUE arguments.

    Raises:
        UserError: one has no name or no value, or a name comes twice.
    """
    found: dict[str, str] = {}
    for text in texts or ():
        name, equals, value = (part.strip() for part in text.partition("="))
        if not name or not equals or not value:
            raise UserError(f"{flag} {text}: write NAME=VALUE, such as write_buffer_size=64MiB")
        if name in found:
            raise UserError(f"{flag} {name}: given twice")
        found[name] = value
    return found
