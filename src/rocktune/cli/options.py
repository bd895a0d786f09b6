"""Options that several commands share, each declared once."""

from pathlib import Path
from typing import Annotated

import typer

from rocktune.errors import UserError

Json = Annotated[bool, typer.Option("--json", help="Print one JSON document and nothing else.")]
Logs = Annotated[
    list[Path],
    typer.Argument(
        metavar="LOG...", help="LOG files in any order, or directories of databases.", show_default=False
    ),
]
Ledger = Annotated[
    str | None,
    typer.Option(metavar="URL", help="Database of results: a URL or an SQLite file; your own by default."),
]
StudyName = Annotated[str, typer.Argument(metavar="STUDY", help="The study's name.", show_default=False)]
StudyFile = Annotated[
    Path | None,
    typer.Argument(metavar="STUDY.toml", help="A study file. Options on the command line override it."),
]
ProtocolName = Annotated[
    str | None,
    typer.Option(
        "--protocol",
        metavar="steady|short",
        help="steady: stores hold all keys, debt is charged, proofs age the stores; short: the first "
        "120 s, as in Dremel's paper.",
    ),
]
Rate = Annotated[
    float | None,
    typer.Option(
        metavar="OPS_PER_S",
        help="Rate at which the proof measures tail latency; 80% of what the baseline sustains by default.",
    ),
]
ProofPairs = Annotated[
    int | None,
    typer.Option(
        "--pairs",
        metavar="N",
        help="Pairs of fresh runs in the proof; by default it stops when it is decided.",
    ),
]
Workload = Annotated[
    str | None,
    typer.Option(metavar="NAME|FILE", help="Operations, keys and values; see 'rocktune list workloads'."),
]
Trace = Annotated[
    Path | None,
    typer.Option(metavar="FILE", help="Trace to replay in place of a workload; see docs/traces.md."),
]
PreloadFrom = Annotated[
    Path | None,
    typer.Option(
        metavar="DB_DIR",
        help="Database that the trace was recorded on; the store begins with all of its keys.",
    ),
]
Device = Annotated[
    str | None,
    typer.Option(
        metavar="NAME|FILE",
        help="Bandwidth and latency of the storage; see 'rocktune list devices'.",
    ),
]
NeededDevice = Annotated[
    str,
    typer.Option(
        metavar="NAME|FILE", help="Bandwidth and latency of the storage; see 'rocktune list devices'."
    ),
]
Engine = Annotated[
    str | None,
    typer.Option(metavar="NAME", help="System to measure: embedded, db_bench, command or recorded."),
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
    str | None, typer.Option("--db-bench", metavar="PATH", help="Program of engine db_bench.")
]
Table = Annotated[
    Path | None,
    typer.Option(
        metavar="FILE", help="Past measurements for engine recorded, with their workload and device."
    ),
]
Interpolate = Annotated[
    bool | None,
    typer.Option(
        "--interpolate",
        help="Predict configurations that the table lacks with a model of it.",
        show_default=False,
    ),
]
Space = Annotated[
    str | None,
    typer.Option(metavar="NAME|FILE", help="Options to tune and their ranges; see 'rocktune list spaces'."),
]
Scale = Annotated[
    str | None, typer.Option(metavar="1/S", help="Model size: bytes, keys and times are divided by S.")
]
Memory = Annotated[
    str | None,
    typer.Option(metavar="SIZE", help="Memory of memtables, filters and block cache together, such as 1GiB."),
]
OptionsFile = Annotated[
    Path | None,
    typer.Option(
        "--options-file",
        "--baseline",
        metavar="FILE",
        help="Your own RocksDB OPTIONS file, or another system's configuration: the baseline to start from.",
    ),
]
Tried = Annotated[
    list[Path] | None,
    typer.Option(
        "--try",
        metavar="FILE",
        help="OPTIONS file whose configuration the search measures first; may be repeated.",
    ),
]
WarmStart = Annotated[
    bool | None,
    typer.Option(
        "--warm-start",
        help="Measure the best configurations of similar earlier studies of the ledger first.",
    ),
]
ColumnFamily = Annotated[
    str | None,
    typer.Option(
        "--column-family",
        metavar="NAME",
        help="Column family to tune; needed if the OPTIONS file or the workload has several.",
    ),
]
AllFamilies = Annotated[
    bool | None,
    typer.Option(
        "--all-families",
        help="Tune all column families of the workload together, each with knobs of its own.",
        show_default=False,
    ),
]
Verbose = Annotated[
    bool, typer.Option("--verbose", help="List what became of each option of the OPTIONS file.")
]
BlockCache = Annotated[
    str | None,
    typer.Option(
        "--block-cache",
        metavar="SIZE",
        help="Size of your block cache, such as 2GiB. An OPTIONS file does not contain it.",
    ),
]
SharedCache = Annotated[
    bool | None,
    typer.Option(
        "--shared-cache",
        help="All column families of the OPTIONS file share one block cache.",
        show_default=False,
    ),
]
Executor = Annotated[
    str | None,
    typer.Option(
        metavar="local:N|ray", help="Where to measure: N workers on this machine, or a Ray cluster."
    ),
]
Address = Annotated[
    str | None,
    typer.Option(metavar="ADDRESS", help="Address of the Ray cluster; by default the one on this machine."),
]
DryRun = Annotated[
    bool, typer.Option("--dry-run", help="Print the estimated time, disk and memory, and stop.")
]
Seed = Annotated[int | None, typer.Option(metavar="N", help="Seed of all random numbers.")]
Objectives = Annotated[
    list[str] | None,
    typer.Option(
        "--objective",
        metavar="FIELD",
        help="Figure to improve, such as throughput_ops_s; cost; a weighted sum such as "
        "'0.7*throughput_ops_s + 0.3*read_latency_us_p99'; or balance. Repeat it for a Pareto front.",
    ),
]
Constraints = Annotated[
    list[str] | None,
    typer.Option(
        "--constraint",
        metavar="FIELD<=NUMBER",
        help="Bound to keep; FIELD>=NUMBER works too, and 1.25x is a multiple of the baseline's figure. "
        "May be repeated; none leaves out the default bounds on space and memory.",
    ),
]
Prices = Annotated[
    Path | None,
    typer.Option(metavar="FILE", help="TOML file with the prices of figure cost, such as docs/prices.toml."),
]
Robust = Annotated[
    float | None,
    typer.Option(
        metavar="SHARE",
        help="Improve the worst case over workloads within this share of mix and skew, such as 0.1.",
        show_default=False,
    ),
]
Budget = Annotated[
    str | None, typer.Option(metavar="TIME", help="Time that the search may spend measuring, such as 3m.")
]

Assignments = Annotated[
    list[str] | None,
    typer.Option("--option", metavar="NAME=VALUE", help="RocksDB option to set. May be repeated."),
]


def assignments(flag: str, texts: list[str] | None) -> dict[str, str]:
    """Returns the names and values of NAME=VALUE arguments.

    Args:
        flag: option that the arguments belong to, for messages.
        texts: arguments; None for none.

    Raises:
        UserError: an argument has no name or no value, or a name comes twice.
    """
    found: dict[str, str] = {}
    for text in texts or ():
        name, equals, value = (part.strip() for part in text.partition("="))
        # An empty value is refused, since it is more likely a slip of the shell than meant.
        if not name or not equals or not value:
            raise UserError(f"{flag} {text}: write NAME=VALUE, such as write_buffer_size=64MiB")
        if name in found:
            raise UserError(f"{flag} {name}: given twice; give it once")
        found[name] = value
    return found
