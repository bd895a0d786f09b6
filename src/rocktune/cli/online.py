"""The commands about what adapts while a store serves."""

from functools import partial
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.console import Console

from rocktune import api
from rocktune.cli import options
from rocktune.cli.account_table import print_account_and_notes
from rocktune.cli.app import announced, app, show_result
from rocktune.cli.output import print_line, stderr, table
from rocktune.cli.progress import ProgressDisplay
from rocktune.report.governed import GOVERNED_LABELS, governed_value
from rocktune.units import format_bytes, format_seconds


@app.command()
def govern(
    device: options.NeededDevice,
    workload: options.Workload = None,
    mode: Annotated[
        str, typer.Option(metavar="MODE", help="enabled, disabled, toggle or proportional.")
    ] = "proportional",
    scale: options.Scale = None,
    until: Annotated[
        str | None,
        typer.Option(metavar="TIME", help="How long it is loaded, at full size; 350 s by default."),
    ] = None,
    read: Annotated[
        str | None,
        typer.Option(
            metavar="TIME",
            help="How long it is read afterwards, at full size; 60 s by default, 0 for not at all.",
        ),
    ] = None,
    governor: Annotated[
        list[str] | None,
        typer.Option(metavar="NAME=VALUE", help="A setting of the governor, at full size; may be repeated."),
    ] = None,
    option: options.Assignments = None,
    options_file: options.OptionsFile = None,
    column_family: options.ColumnFamily = None,
    seed: options.Seed = None,
    out: Annotated[Path | None, typer.Option(metavar="DIR", help="Where report.html goes.")] = Path(
        "governed"
    ),
    verbose: options.Verbose = False,
    json: options.Json = False,
) -> None:
    """Load a store with its compactions governed, and read from what it has become."""
    given: dict[str, Any] = {
        "device": device,
        "workload": workload,
        "mode": mode,
        "scale": scale,
        "until": until,
        "read": read,
        "governor": options.assignments("--governor", governor),
        "options": options.assignments("--option", option),
        "options_file": options_file,
        "column_family": column_family,
        "seed": seed,
        "out": out,
    }
    estimate = api.estimate_govern(scale=scale, until=until, read=read)
    with announced(estimate, json, _print_estimate) as display:
        found = api.govern(observer=display, **given)
    show_result(found, json, partial(_print_governed, verbose=verbose))


@app.command()
def drive(
    device: options.NeededDevice,
    sessions: Annotated[
        str, typer.Option(metavar="NAME|FILE", help="ruskey-dynamic, sessions of your own, or a workload.")
    ] = "ruskey-dynamic",
    controller: Annotated[
        str | None,
        typer.Option(
            metavar="NAME",
            help="Of the flsm store: lerp (the default), greedy:LOW,HIGH (shares of lookups), static:K, or a "
            "preset.",
        ),
    ] = None,
    store: Annotated[str, typer.Option(metavar="NAME", help="flsm, leveled or universal.")] = "flsm",
    scale: options.Scale = None,
    operations: Annotated[
        int, typer.Option(metavar="N", help="Of a mission, at full size, after which policies may change.")
    ] = 50_000,
    filters: Annotated[
        str, typer.Option(metavar="uniform|monkey", help="How filters share out their memory.")
    ] = "uniform",
    bits: Annotated[float, typer.Option(metavar="N", help="Bits a key of the filters, on average.")] = 8.0,
    size_ratio: Annotated[int, typer.Option(metavar="T", help="A level to the one above.")] = 10,
    option: options.Assignments = None,
    options_file: options.OptionsFile = None,
    column_family: options.ColumnFamily = None,
    seed: options.Seed = None,
    out: Annotated[Path | None, typer.Option(metavar="DIR", help="Where drive.html goes.")] = Path("driven"),
    verbose: options.Verbose = False,
    json: options.Json = False,
) -> None:
    """Drive a store through a workload that changes, while a controller shapes it."""
    asked: dict[str, Any] = {
        "device": device,
        "sessions": sessions,
        "controller": controller,
        "store": store,
        "scale": scale,
        "operations": operations,
        "filters": filters,
        "bits_per_key": bits,
        "size_ratio": size_ratio,
        "options": options.assignments("--option", option),
        "options_file": options_file,
        "column_family": column_family,
        "seed": seed,
    }
    with ProgressDisplay(stderr()) as display:
        found = api.drive(observer=display, out=out, **asked)
    show_result(found, json, partial(_print_driven, verbose=verbose))


def _print_driven(console: Console, found: dict[str, Any], verbose: bool) -> None:
    console.print(
        f"{found['sessions']} on {found['device']} with {found['controller']}: "
        f"{format_seconds(found['seconds'])} on a {found['scale']} model"
    )
    print_account_and_notes(console, found, verbose)
    rows = table("session", "missions", "took", "settled at mission", numbers=("missions", "took"))
    for session in found["per_session"]:
        settled = session["converged_at_mission"]
        rows.add_row(
            session["workload"],
            str(session["missions"]),
            format_seconds(session["seconds"]),
            "–" if settled is None else str(settled),
        )
    console.print(rows)
    if found["missions"][-1]["policy"]:
        policies = ", ".join(map(str, found["missions"][-1]["policy"]))
        console.print(
            f"K at the end: {policies}. Deciding took {found['learner_ms_per_mission']:.1f} ms a mission."
        )
    if "report" in found:
        print_line(f"Report: {found['report']}")


def _print_estimate(console: Console, estimate: dict[str, Any]) -> None:
    console.print(f"Takes about {format_seconds(estimate['total_s'])}, on a model of {estimate['scale']}.")


def _print_governed(console: Console, found: dict[str, Any], verbose: bool) -> None:
    size = "" if found["scale"] == "1" else f" (on a {found['scale']} model, in full-size units)"
    console.print(f"{found['workload']} on {found['device']}, compactions {found['mode']}{size}")
    print_account_and_notes(console, found, verbose)
    rows = table("", "value", numbers=("value",))
    for name, label in GOVERNED_LABELS.items():
        rows.add_row(label, governed_value(name, found[name]))
    rows.add_row(
        "Levels, from the top", " · ".join(format_bytes(each) for each in found["level_bytes"] if each)
    )
    console.print(rows)
    if "report" in found:
        print_line(f"Report: {found['report']}")
