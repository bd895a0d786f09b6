"""The commands for traces: `rocktune trace info` and `rocktune trace import`."""

from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.console import Console

from rocktune import api
from rocktune.cli import options
from rocktune.cli.app import app, show_result
from rocktune.cli.output import print_line, stderr, table
from rocktune.cli.progress import ProgressDisplay
from rocktune.engine import DEFAULT_SCAN_LENGTH
from rocktune.units import format_bytes, format_seconds

traces = typer.Typer()
app.add_typer(traces, name="trace")

TraceFile = Annotated[
    Path,
    typer.Argument(
        metavar="TRACE",
        help="Query trace of RocksDB, text of trace_analyzer, CSV file, or cache trace of Twitter.",
        show_default=False,
    ),
]
ScanLength = Annotated[
    int,
    typer.Option(metavar="N", help="Entries that a scan is assumed to read if the trace does not say."),
]


@traces.callback(invoke_without_command=True)
def trace(context: typer.Context) -> None:
    """Replay recorded operations in place of a workload."""
    if context.invoked_subcommand is None:
        print_line(context.get_help())


@traces.command()
def info(
    trace: TraceFile,
    scale: Annotated[
        str, typer.Option(metavar="1/S", help="Model whose sample of the trace is compared with the whole.")
    ] = "1",
    scan_length: ScanLength = DEFAULT_SCAN_LENGTH,
    preload_from: options.PreloadFrom = None,
    json: options.Json = False,
) -> None:
    """Show what a trace holds, what a replay assumes, and what a sample loses."""
    with ProgressDisplay(stderr()) as display:
        found = api.trace_info(
            trace, scale=scale, scan_length=scan_length, preload_from=preload_from, observer=display
        )
    show_result(found, json, _print_info)


@traces.command("import")
def import_(
    trace: TraceFile,
    out: Annotated[
        Path, typer.Option(metavar="FILE.toml", help="New workload file, for --workload FILE.toml.")
    ],
    rate: Annotated[
        str,
        typer.Option(
            metavar="closed|recorded", help="As fast as the store takes it, or at the trace's times."
        ),
    ] = "closed",
    threads: Annotated[int, typer.Option(metavar="N", help="Threads that replay.")] = 16,
    scan_length: ScanLength = DEFAULT_SCAN_LENGTH,
    preload_from: options.PreloadFrom = None,
    json: options.Json = False,
) -> None:
    """Write a workload that replays a trace. Its files hold no key and no value of the trace."""
    with ProgressDisplay(stderr()) as display:
        found = api.write_trace_workload(
            trace,
            out,
            rate=rate,
            threads=threads,
            scan_length=scan_length,
            preload_from=preload_from,
            observer=display,
        )
    show_result(found, json, _print_written)


def _print_written(console: Console, found: Mapping[str, Any]) -> None:
    """Prints what a trace holds, and the workload's file."""
    _print_info(console, found)
    print_line(f"Workload file: {found['file']}")


def _print_info(console: Console, found: Mapping[str, Any]) -> None:
    """Prints what a trace holds, what is assumed, and what is unknown."""
    console.print(
        f"{found['operations']:,} operations in {format_seconds(found['span_us'] / 1e6)}; "
        f"{found['hot_share']:.1%} of them on the hottest hundredth of the keys"
    )
    console.print()
    console.print(_families(found["families"]))
    if found["sampling"] is not None:
        console.print()
        console.print(_sampling(found["sampling"]))
    console.print()
    for line in (*found["assumptions"], *(f"Unknown: {each}" for each in found["unknown"])):
        console.print(line, soft_wrap=True)


def _families(families: list[dict[str, Any]]) -> Any:
    """Returns a table of the column families."""
    kinds = [kind for kind in families[0]["operations"] if any(each["operations"][kind] for each in families)]
    stored = ("untouched",) * any(each["stored"] for each in families)
    heads = ("family", *kinds, "keys", "present", *stored, "key", "value")
    rows = table(*heads, numbers=heads)
    for family in families:
        value = family["mean_value_bytes"]
        rows.add_row(
            str(family["id"]),
            *(f"{family['operations'][kind]:,}" for kind in kinds),
            f"{family['used_keys']:,}",
            f"{family['present_keys']:,}",
            *(f"{family['stored']['untouched_keys']:,}" if family["stored"] else "unknown" for _ in stored),
            format_bytes(family["mean_key_bytes"]),
            format_bytes(value) if value else "unknown",
        )
    return rows


def _sampling(sampling: Mapping[str, Any]) -> Any:
    """Returns a table that compares a sample with the whole."""
    heads = ("whole", f"sample of 1/{sampling['scale']}")
    rows = table("", *heads, numbers=heads)
    rows.add_row("operations, times the scale", "100.0%", f"{sampling['operations_ratio']:.1%}")
    rows.add_row("difference of the mix", "", f"{sampling['mix_error']:.1%}")
    for label, name in (
        ("operations on the hottest hundredth of the keys", "hot_share"),
        ("hits of a cache for a tenth of the keys", "hit_ratio"),
    ):
        rows.add_row(label, f"{sampling[f'{name}_whole']:.1%}", f"{sampling[f'{name}_sample']:.1%}")
    return rows
