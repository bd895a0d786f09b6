"""The commands for research: sweeping a space into a table, and comparing tuners."""

from functools import partial
from pathlib import Path
from typing import Annotated

import typer

from rocktune import api
from rocktune.api.requests import Given
from rocktune.cli import options, research_tables
from rocktune.cli.app import announced, app, show_result
from rocktune.cli.output import stderr
from rocktune.cli.study_options import study_options
from rocktune.study.specs.resolving import HowToSweep
from rocktune.tuners.choice import split_choices


@app.command()
@study_options(
    Given.__annotations__, without=("table", "interpolate", "tuner", "objective", "constraints", "budget")
)
def sweep(
    study_file: options.StudyFile = None,
    *,
    given: Given,
    samples: Annotated[
        int | None, typer.Option(metavar="N", help="How many configurations, at random; all by default.")
    ] = None,
    part: Annotated[str, typer.Option(metavar="K/N", help="The K-th of N parts of the whole.")] = "1/1",
    seconds: Annotated[
        str | None, typer.Option(metavar="TIME", help="How long each run is measured; 180 s / S by default.")
    ] = None,
    warm_up: Annotated[
        str | None, typer.Option(metavar="TIME", help="How long it is loaded before; 60 s / S by default.")
    ] = None,
    executor: options.Executor = None,
    address: options.Address = None,
    dry_run: options.DryRun = False,
    verbose: options.Verbose = False,
    json: options.Json = False,
) -> None:
    """Measure every configuration of a space, or a sample, and write a table."""
    how = HowToSweep(samples, part, seconds, warm_up)
    prepared = api.prepare_sweep(study_file, how=how, **given)
    estimate = prepared.estimate()
    printer = partial(research_tables.print_sweep_estimate, verbose=verbose)
    if dry_run:
        show_result(estimate, json, printer)
        return
    with announced(estimate, json, printer) as display:
        swept = prepared.run(executor=executor, address=address, observer=display)
    show_result(swept, json, research_tables.print_sweep)


@app.command()
def table(
    studies: Annotated[
        list[str],
        typer.Argument(
            metavar="STUDY|TABLE...", help="Studies or tables of equal conditions.", show_default=False
        ),
    ],
    out: Annotated[
        Path, typer.Option(metavar="FILE.csv|FILE.parquet", help="The table.", show_default=False)
    ],
    ledger: options.Ledger = None,
    json: options.Json = False,
) -> None:
    """Write what studies or sweeps have measured so far as a table, which engine recorded replays."""
    show_result(api.write_recorded(studies, out, ledger=ledger), json, research_tables.print_sweep)


@app.command()
@study_options(
    Given.__annotations__,
    without=("workload", "table", "tuner", "options_file", "column_family", "block_cache", "shared_cache"),
)
def compare(
    *,
    tuners: Annotated[
        str, typer.Option(metavar="A,B,C", help="Tuners; settings in parentheses: nsga2(population=20).")
    ],
    settings: Annotated[
        list[str],
        typer.Option(metavar="FILE|NAME", help="A study's file, a table, or a workload; may be repeated."),
    ],
    seeds: Annotated[int, typer.Option(metavar="N", help="How many searches of each tuner and setting.")] = 5,
    given: Given,
    executor: options.Executor = None,
    address: options.Address = None,
    dry_run: options.DryRun = False,
    json: options.Json = False,
) -> None:
    """Compare tuners: equal budgets, paired seeds, verified results, one report."""
    prepared = api.prepare_comparison(split_choices(tuners), settings, seeds, **given)
    estimate = prepared.estimate()
    if dry_run:
        show_result(estimate, json, research_tables.print_comparison_estimate)
        return
    with announced(estimate, json, research_tables.print_comparison_estimate) as display:
        found = prepared.run(executor=executor, address=address, observer=display)
    show_result(found, json, research_tables.print_comparison)


@app.command()
def importance(
    source: Annotated[
        str, typer.Argument(metavar="STUDY|TABLE", help="A study's name, or a table.", show_default=False)
    ],
    field: Annotated[
        list[str] | None,
        typer.Option(metavar="FIELD", help="A figure; throughput and p99 read latency by default."),
    ] = None,
    ledger: options.Ledger = None,
    json: options.Json = False,
) -> None:
    """Say which knobs decide throughput and latency: R² and functional ANOVA."""
    with stderr().status("Asking which knobs matter"):
        found = api.importance(source, field or (), ledger=ledger)
    show_result(found, json, research_tables.print_importance)


@app.command()
def clusters(
    source: Annotated[
        str, typer.Argument(metavar="STUDY|TABLE", help="A study's name, or a table.", show_default=False)
    ],
    objective: Annotated[str, typer.Option(metavar="FIELD", help="What is sought.")] = "throughput_ops_s",
    out: Annotated[
        Path | None, typer.Option(metavar="FILE", help="A study's file to write, for 'rocktune tune FILE'.")
    ] = None,
    ledger: options.Ledger = None,
    json: options.Json = False,
) -> None:
    """Find knobs that go together and what they drive, for the tuner 'clustered-bo'."""
    with stderr().status("Comparing what was counted"):
        found = api.clusters(source, objective=objective, out=out, ledger=ledger)
    show_result(found, json, research_tables.print_clusters)
