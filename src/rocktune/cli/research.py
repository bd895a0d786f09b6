"""The commands for research: sweeps, tables, comparisons of tuners, importance and clusters of knobs."""

from functools import partial
from pathlib import Path
from typing import Annotated

import typer

from rocktune import api
from rocktune.api.importance import DEFAULT_MIN_SHARE
from rocktune.api.requests import Given
from rocktune.cli import options, research_tables
from rocktune.cli.app import announced, app, show_result
from rocktune.cli.output import stderr
from rocktune.cli.progress import ProgressDisplay
from rocktune.cli.study_options import study_options
from rocktune.study.specs.sweeping import HowToSweep
from rocktune.tuners.choice import split_choices


@app.command()
@study_options(
    Given.__annotations__,
    without=(
        "table",
        "interpolate",
        "tuner",
        "objective",
        "tried",
        "warm_start",
        "constraints",
        "prices",
        "robust",
        "rate",
        "budget",
        "proof_pairs",
    ),
)
def sweep(
    study_file: options.StudyFile = None,
    *,
    given: Given,
    samples: Annotated[
        int | None, typer.Option(metavar="N", help="Number of random configurations; all by default.")
    ] = None,
    part: Annotated[
        str, typer.Option(metavar="K/N", help="Measure only part K of N, to share a sweep among machines.")
    ] = "1/1",
    seconds: Annotated[
        str | None, typer.Option(metavar="TIME", help="Measured time of each run; 180 s / S by default.")
    ] = None,
    warm_up: Annotated[
        str | None, typer.Option(metavar="TIME", help="Time of load before measuring; 60 s / S by default.")
    ] = None,
    hand: Annotated[
        bool, typer.Option("--hand", help="Measure what people set by hand, too, as tuner hand does.")
    ] = False,
    executor: options.Executor = None,
    address: options.Address = None,
    dry_run: options.DryRun = False,
    verbose: options.Verbose = False,
    json: options.Json = False,
) -> None:
    """Measure many configurations without a tuner and write a table.

    These are all configurations of a space, or a random sample.
    """
    # These have no field in a study file, so they do not go through `given`.
    how = HowToSweep(samples, part, seconds, warm_up, hand)
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
            metavar="STUDY|TABLE...",
            help="Studies or tables with equal workload, device and scale.",
            show_default=False,
        ),
    ],
    out: Annotated[
        Path, typer.Option(metavar="FILE.csv|FILE.parquet", help="Table to write.", show_default=False)
    ],
    ledger: options.Ledger = None,
    json: options.Json = False,
) -> None:
    """Write the measurements of studies or sweeps as a table.

    Engine recorded replays such tables.
    """
    show_result(api.write_recorded(studies, out, ledger=ledger), json, research_tables.print_sweep)


@app.command()
@study_options(
    Given.__annotations__,
    without=(
        "workload",
        "table",
        "tuner",
        "options_file",
        "tried",
        "warm_start",
        "column_family",
        "all_families",
        "block_cache",
        "shared_cache",
    ),
)
def compare(
    *,
    tuners: Annotated[
        str,
        typer.Option(
            metavar="A,B,C", help="Tuners to compare; settings go in parentheses: nsga2(population=20)."
        ),
    ],
    settings: Annotated[
        list[str],
        typer.Option(
            metavar="FILE|NAME", help="Study file, table or workload to search on. May be repeated."
        ),
    ],
    seeds: Annotated[
        int, typer.Option(metavar="N", help="Number of searches of each tuner on each setting.")
    ] = 5,
    given: Given,
    executor: options.Executor = None,
    address: options.Address = None,
    dry_run: options.DryRun = False,
    json: options.Json = False,
) -> None:
    """Compare tuners and write a report.

    Budgets are equal, seeds are paired, and results are verified by fresh runs.
    """
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
        str,
        typer.Argument(
            metavar="STUDY|TABLE", help="Name of a study, or file of a table.", show_default=False
        ),
    ],
    field: Annotated[
        list[str] | None,
        typer.Option(
            metavar="FIELD",
            help="Figure to explain; throughput_ops_s and read_latency_us_p99 by default. May be repeated.",
        ),
    ] = None,
    out: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE", help="Space file to write, with the knobs that matter alone, for --space."
        ),
    ] = None,
    min_share: Annotated[
        float,
        typer.Option(
            metavar="SHARE", help="Smallest share of the variance of a knob that matters, for --out."
        ),
    ] = DEFAULT_MIN_SHARE,
    ledger: options.Ledger = None,
    json: options.Json = False,
) -> None:
    """Show which knobs matter most for throughput and latency.

    Uses R² and functional ANOVA. With --out it narrows the space to these knobs.
    """
    with ProgressDisplay(stderr()) as display:
        found = api.importance(
            source, field or (), out=out, min_share=min_share, ledger=ledger, observer=display
        )
    show_result(found, json, research_tables.print_importance)


@app.command()
def clusters(
    source: Annotated[
        str,
        typer.Argument(
            metavar="STUDY|TABLE", help="Name of a study, or file of a table.", show_default=False
        ),
    ],
    objective: Annotated[str, typer.Option(metavar="FIELD", help="Figure to improve.")] = "throughput_ops_s",
    out: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Study file to write, for 'rocktune tune FILE'.")
    ] = None,
    ledger: options.Ledger = None,
    json: options.Json = False,
) -> None:
    """Find clusters of knobs for the tuner 'clustered-bo'.

    Knobs of a cluster influence the same metrics.
    """
    with stderr().status("Correlating knobs and metrics"):
        found = api.clusters(source, objective=objective, out=out, ledger=ledger)
    show_result(found, json, research_tables.print_clusters)
