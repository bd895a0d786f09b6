"""The commands for tables: sweeping a space, and what its table says."""

from pathlib import Path
from typing import Annotated, Any

import typer

from rocktune import api
from rocktune.cli import options, research_tables
from rocktune.cli.app import app, show_result
from rocktune.cli.output import stderr, stdout
from rocktune.cli.progress import ProgressDisplay


@app.command()
def sweep(
    study_file: options.StudyFile = None,
    workload: options.Workload = None,
    device: options.Device = None,
    engine: options.Engine = None,
    db_bench: options.DbBench = None,
    space: options.Space = None,
    samples: Annotated[
        int | None, typer.Option(metavar="N", help="How many configurations, at random; all by default.")
    ] = None,
    seconds: Annotated[
        str | None, typer.Option(metavar="TIME", help="How long each run is measured; 180 s / S by default.")
    ] = None,
    warm_up: Annotated[
        str | None, typer.Option(metavar="TIME", help="How long it is loaded before; 60 s / S by default.")
    ] = None,
    scale: options.Scale = None,
    memory: options.Memory = None,
    options_file: options.OptionsFile = None,
    ledger: options.Ledger = None,
    study: Annotated[str | None, typer.Option(metavar="NAME", help="What to call the sweep.")] = None,
    seed: options.Seed = None,
    out: Annotated[Path | None, typer.Option(metavar="DIR", help="Where table.csv goes.")] = None,
    executor: options.Executor = None,
    address: options.Address = None,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Say what it would take, and stop.")] = False,
    json: options.Json = False,
) -> None:
    """Measure every configuration of a space, or a sample, and write a table."""
    given: dict[str, Any] = {
        "workload": workload,
        "device": device,
        "engine": engine,
        "db_bench": db_bench,
        "space": space,
        "samples": samples,
        "seconds": seconds,
        "warm_up": warm_up,
        "scale": scale,
        "memory": memory,
        "options_file": options_file,
        "ledger": ledger,
        "study": study,
        "seed": seed,
        "out": out,
    }
    estimate = api.estimate_sweep(study_file, **given)
    if dry_run:
        show_result(estimate, json, research_tables.print_sweep_estimate)
        return
    given["study"] = estimate["study"]

    def announce() -> None:
        if not json:
            research_tables.print_sweep_estimate(stdout(), estimate)

    with ProgressDisplay(stderr(), estimate["total_s"], announce) as display:
        swept = api.sweep(study_file, executor=executor, address=address, observer=display, **given)
    show_result(swept, json, research_tables.print_sweep)


@app.command()
def table(
    study: options.StudyName,
    file: Annotated[
        Path, typer.Argument(metavar="FILE.csv|FILE.parquet", help="The table.", show_default=False)
    ],
    ledger: options.Ledger = None,
    json: options.Json = False,
) -> None:
    """Write what a study or sweep has measured so far as a table, which engine recorded replays."""
    show_result(api.write_recorded(study, file, ledger=ledger), json, research_tables.print_sweep)
