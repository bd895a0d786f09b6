"""The main commands. Each reads its arguments, calls one function of `rocktune.api` and prints the result."""

from collections.abc import Callable
from functools import partial
from typing import Annotated

import typer

from rocktune import api
from rocktune.api.requests import Given, GivenConditions
from rocktune.cli import options, research_tables, scale_tables, tables, upgrade_tables
from rocktune.cli.app import announced, app, show_result
from rocktune.cli.output import print_json, print_text, stderr
from rocktune.cli.progress import ProgressDisplay
from rocktune.cli.study_options import study_options
from rocktune.errors import unknown_name
from rocktune.outcome import Outcome, ScaleCheck


@app.command()
@study_options(Given.__annotations__)
def tune(
    study_file: options.StudyFile = None,
    *,
    given: Given,
    executor: options.Executor = None,
    address: options.Address = None,
    dry_run: options.DryRun = False,
    verbose: options.Verbose = False,
    json: options.Json = False,
) -> None:
    """Search for a better configuration and prove it.

    Writes the recommended OPTIONS file and a report. The recommendation is the baseline if no gain is proven.
    """
    prepared = api.prepare(study_file, **given)
    estimate = prepared.estimate()
    printer = partial(tables.print_estimate, verbose=verbose)
    if dry_run:
        show_result(estimate, json, printer)
        return
    with announced(estimate, json, printer) as display:
        outcome = prepared.run(executor=executor, address=address, observer=display)
    _show_outcome(outcome, json)


@app.command()
@study_options(GivenConditions.__annotations__)
def run(
    study_file: options.StudyFile = None,
    *,
    given: GivenConditions,
    option: options.Assignments = None,
    seconds: Annotated[str | None, typer.Option(metavar="TIME", help="Length of each run.")] = None,
    until: Annotated[
        str | None,
        typer.Option(
            metavar="steady",
            help="Run until the store is in steady state; the figures are of that time.",
        ),
    ] = None,
    repeat: Annotated[int, typer.Option(min=1, metavar="N", help="Number of fresh runs.")] = 1,
    verbose: options.Verbose = False,
    json: options.Json = False,
) -> None:
    """Measure one configuration."""
    changes = options.assignments("--option", option or [])
    with ProgressDisplay(stderr()) as display:
        measured = api.run(
            study_file,
            options=changes,
            seconds=seconds,
            until=until,
            repeat=repeat,
            observer=display,
            **given,
        )
    show_result(measured, json, partial(tables.print_run, verbose=verbose))


@app.command()
def verify(
    study: options.StudyName,
    scale: Annotated[
        str, typer.Option(metavar="1/S", help="Size of the model for the proof; 1 is full size.")
    ],
    pairs: options.ProofPairs = None,
    ledger: options.Ledger = None,
    executor: options.Executor = None,
    address: options.Address = None,
    verbose: options.Verbose = False,
    json: options.Json = False,
) -> None:
    """Prove a finished study's winner again at another scale."""
    with ProgressDisplay(stderr()) as display:
        outcome = api.verify(
            study, scale, pairs=pairs, ledger=ledger, executor=executor, address=address, observer=display
        )
    _show_outcome(outcome, json, verbose)


@app.command()
def resume(
    study: options.StudyName,
    ledger: options.Ledger = None,
    executor: options.Executor = None,
    address: options.Address = None,
    verbose: options.Verbose = False,
    json: options.Json = False,
) -> None:
    """Continue an interrupted study, sweep, scale check, upgrade or comparison."""
    with ProgressDisplay(stderr()) as display:
        resumed = api.resume(study, ledger=ledger, executor=executor, address=address, observer=display)
    if isinstance(resumed, Outcome):
        _show_outcome(resumed, json, verbose)
    elif isinstance(resumed, ScaleCheck):
        scale_tables.show(resumed, json)
    # The others are plain mappings; only an upgrade has a proof, and only a comparison tuners.
    elif "proof" in resumed:
        show_result(resumed, json, upgrade_tables.print_upgrade)
    elif "tuners" in resumed:
        show_result(resumed, json, research_tables.print_comparison)
    else:
        show_result(resumed, json, partial(research_tables.print_sweep, verbose=verbose))


@app.command()
def studies(ledger: options.Ledger = None, json: options.Json = False) -> None:
    """List the studies of a ledger."""
    show_result(api.studies(ledger=ledger), json, tables.print_studies)


@app.command()
def show(
    study: options.StudyName,
    ledger: options.Ledger = None,
    verbose: options.Verbose = False,
    json: options.Json = False,
) -> None:
    """Show a study, finished or not."""
    show_result(api.show(study, ledger=ledger), json, partial(tables.print_study, verbose=verbose))


@app.command()
def delete(study: options.StudyName, ledger: options.Ledger = None, json: options.Json = False) -> None:
    """Delete a study with everything measured in it."""
    api.delete(study, ledger=ledger)
    show_result({"deleted": study}, json, tables.print_facts)


@app.command()
def clean(json: options.Json = False) -> None:
    """Remove cached data of runs from the data directory.

    These are cached bases, and what crashed runs left there.
    """
    show_result(api.clean(), json, tables.print_facts)


@app.command()
def report(study: options.StudyName, ledger: options.Ledger = None, json: options.Json = False) -> None:
    """Write a study's report again."""
    show_result({"report": api.report(study, ledger=ledger)}, json, tables.print_facts)


@app.command()
def export(
    study: options.StudyName,
    to: Annotated[
        str,
        typer.Option(
            metavar="TARGET",
            help="Format: options-file, db_bench, cpp, java, kafka-streams, flink, myrocks, tikv, kvrocks"
            " or cassandra.",
        ),
    ],
    point: Annotated[
        int | None,
        typer.Option(
            metavar="N", help="Number of a point of the Pareto front; by default the proven configuration."
        ),
    ] = None,
    ledger: options.Ledger = None,
    json: options.Json = False,
) -> None:
    """Print the recommended configuration in a system's format.

    Values are for full size, whatever the scale of the study.
    """
    text = api.export(study, to, point=point, ledger=ledger)
    if json:
        print_json({"study": study, "to": to, "text": text})
    else:
        print_text(text)


@app.command("list")
def list_(
    what: Annotated[
        str, typer.Argument(metavar="workloads|devices|engines|rocksdb|spaces|tuners", show_default=False)
    ],
    json: options.Json = False,
) -> None:
    """List workloads, devices, engines, RocksDB versions, spaces or tuners by name."""
    listed: dict[str, Callable[[], dict[str, str]]] = {
        "workloads": api.list_workloads,
        "devices": api.list_devices,
        "engines": api.list_engines,
        "rocksdb": api.list_rocksdb,
        "spaces": api.list_spaces,
        "tuners": api.list_tuners,
    }
    if what not in listed:
        raise unknown_name("list", what, listed)
    show_result(listed[what](), json, tables.print_names)


@app.command()
def doctor(json: options.Json = False) -> None:
    """Check that this machine has what rocktune needs.

    Exit code 1 means that something is missing.
    """
    checks = api.doctor()
    show_result(checks, json, tables.print_checks)
    # After printing, so that scripts get the exit code and people the whole list.
    if not all(check["ok"] for check in checks):
        raise typer.Exit(1)


def _show_outcome(outcome: Outcome, json: bool, verbose: bool = False) -> None:
    """Prints the outcome of a study as text or JSON."""
    printer = partial(tables.print_outcome, verbose=verbose)
    show_result(outcome.to_json() if json else outcome, json, printer)
