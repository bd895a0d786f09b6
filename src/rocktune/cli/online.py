"""The commands for stores that adapt while they serve: `rocktune govern` and `rocktune drive`."""

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
        str,
        typer.Option(metavar="MODE", help="Compactions: enabled, disabled, toggle, proportional or drains."),
    ] = "proportional",
    scale: options.Scale = None,
    until: Annotated[
        str | None,
        typer.Option(metavar="TIME", help="Time of load at full size; 350 s by default."),
    ] = None,
    read: Annotated[
        str | None,
        typer.Option(
            metavar="TIME",
            help="Time of random reads after the load, at full size; 60 s by default, 0 for none.",
        ),
    ] = None,
    governor: Annotated[
        list[str] | None,
        typer.Option(metavar="NAME=VALUE", help="Setting of the governor, at full size. May be repeated."),
    ] = None,
    option: options.Assignments = None,
    options_file: options.OptionsFile = None,
    column_family: options.ColumnFamily = None,
    seed: options.Seed = None,
    out: Annotated[Path | None, typer.Option(metavar="DIR", help="Directory of report.html.")] = Path(
        "governed"
    ),
    verbose: options.Verbose = False,
    json: options.Json = False,
) -> None:
    """Load a store under a compaction governor and write a report.

    Afterwards random keys are read, to show how much was compacted.
    """
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
    # Checks scale and times too, before anything is printed or loaded.
    estimate = api.estimate_govern(scale=scale, until=until, read=read)
    with announced(estimate, json, _print_estimate) as display:
        found = api.govern(observer=display, **given)
    show_result(found, json, partial(_print_governed, verbose=verbose))


@app.command()
def drive(
    device: options.NeededDevice,
    sessions: Annotated[
        str, typer.Option(metavar="NAME|FILE", help="ruskey-dynamic, a file of sessions, or a workload.")
    ] = "ruskey-dynamic",
    controller: Annotated[
        str | None,
        typer.Option(
            metavar="NAME",
            help="Controller of store flsm: curve (default), cost, lerp (needs PyTorch), greedy:LOW,HIGH "
            "(shares of lookups), static:K or a preset.",
        ),
    ] = None,
    store: Annotated[
        str, typer.Option(metavar="NAME", help="Kind of store: flsm, leveled or universal.")
    ] = "flsm",
    scale: options.Scale = None,
    operations: Annotated[
        int,
        typer.Option(
            metavar="N", help="Operations of a mission, at full size. Policies change between missions."
        ),
    ] = 50_000,
    filters: Annotated[
        str, typer.Option(metavar="uniform|monkey", help="How Bloom filters share their memory among levels.")
    ] = "uniform",
    bits: Annotated[float, typer.Option(metavar="N", help="Mean bits of Bloom filters for each key.")] = 8.0,
    size_ratio: Annotated[
        int, typer.Option(metavar="T", help="Capacity of a level over that of the level above.")
    ] = 10,
    option: options.Assignments = None,
    options_file: options.OptionsFile = None,
    column_family: options.ColumnFamily = None,
    seed: options.Seed = None,
    out: Annotated[Path | None, typer.Option(metavar="DIR", help="Directory of drive.html.")] = Path(
        "driven"
    ),
    verbose: options.Verbose = False,
    json: options.Json = False,
) -> None:
    """Serve a changing workload while a controller adapts the store.

    Writes a report of latency and policies by mission.
    """
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
    """Prints the time of each session, and the policies at the end."""
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
    # RocksDB's own stores have no policies.
    if found["missions"][-1]["policy"]:
        policies = ", ".join(map(str, found["missions"][-1]["policy"]))
        console.print(
            f"K at the end: {policies}. The controller took {found['learner_ms_per_mission']:.1f} ms per "
            "mission."
        )
    if "report" in found:
        print_line(f"Report: {found['report']}")


def _print_estimate(console: Console, estimate: dict[str, Any]) -> None:
    """Prints how long a governed run will take."""
    console.print(f"Takes about {format_seconds(estimate['total_s'])}, on a model of {estimate['scale']}.")


def _print_governed(console: Console, found: dict[str, Any], verbose: bool) -> None:
    """Prints the figures of a governed run."""
    size = "" if found["scale"] == "1" else f" (on a {found['scale']} model, in full-size units)"
    console.print(f"{found['workload']} on {found['device']}, compactions {found['mode']}{size}")
    print_account_and_notes(console, found, verbose)
    rows = table("", "value", numbers=("value",))
    for name, label in GOVERNED_LABELS.items():
        rows.add_row(label, governed_value(name, found[name]))
    rows.add_row(
        "Bytes by level, from the top",
        " · ".join(format_bytes(each) for each in found["level_bytes"] if each),
    )
    console.print(rows)
    if "report" in found:
        print_line(f"Report: {found['report']}")
