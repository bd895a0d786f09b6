"""The commands. Each parses its arguments, calls one function of `rocktune.api`, and prints the answer."""

from collections.abc import Callable
from typing import Annotated

import typer

from rocktune import api
from rocktune.api.requests import Given, GivenConditions
from rocktune.cli import options, research_tables, tables
from rocktune.cli.app import announced, app, show_result
from rocktune.cli.output import print_json, print_text, stderr
from rocktune.cli.progress import ProgressDisplay
from rocktune.cli.study_options import study_options
from rocktune.errors import unknown_name
from rocktune.outcome import Outcome


@app.command()
@study_options(Given.__annotations__)
def tune(
    study_file: options.StudyFile = None,
    *,
    given: Given,
    executor: options.Executor = None,
    address: options.Address = None,
    dry_run: options.DryRun = False,
    json: options.Json = False,
) -> None:
    """Search a better configuration, prove it, and write OPTIONS file and report."""
    prepared = api.prepare(study_file, **given)
    estimate = prepared.estimate()
    if dry_run:
        show_result(estimate, json, tables.print_estimate)
        return
    with announced(estimate, json, tables.print_estimate) as display:
        outcome = prepared.run(executor=executor, address=address, observer=display)
    _show_outcome(outcome, json)


@app.command()
@study_options(GivenConditions.__annotations__)
def run(
    study_file: options.StudyFile = None,
    *,
    given: GivenConditions,
    option: options.Assignments = None,
    seconds: Annotated[str | None, typer.Option(metavar="TIME", help="How long each run lasts.")] = None,
    repeat: Annotated[int, typer.Option(min=1, metavar="N", help="How many fresh runs.")] = 1,
    json: options.Json = False,
) -> None:
    """Measure one configuration."""
    changes = options.assignments("--option", option or [])
    with ProgressDisplay(stderr()) as display:
        measured = api.run(
            study_file, options=changes, seconds=seconds, repeat=repeat, observer=display, **given
        )
    show_result(measured, json, tables.print_run)


@app.command()
def verify(
    study: options.StudyName,
    scale: Annotated[
        str, typer.Option(metavar="1/S", help="Size of the model to prove it on; 1 is full size.")
    ],
    ledger: options.Ledger = None,
    executor: options.Executor = None,
    address: options.Address = None,
    json: options.Json = False,
) -> None:
    """Prove a finished study's winner again at another scale."""
    with ProgressDisplay(stderr()) as display:
        outcome = api.verify(
            study, scale, ledger=ledger, executor=executor, address=address, observer=display
        )
    _show_outcome(outcome, json)


@app.command()
def resume(
    study: options.StudyName,
    ledger: options.Ledger = None,
    executor: options.Executor = None,
    address: options.Address = None,
    json: options.Json = False,
) -> None:
    """Go on with a study that was interrupted."""
    with ProgressDisplay(stderr()) as display:
        resumed = api.resume(study, ledger=ledger, executor=executor, address=address, observer=display)
    if isinstance(resumed, Outcome):
        _show_outcome(resumed, json)
    elif "tuners" in resumed:
        show_result(resumed, json, research_tables.print_comparison)
    else:
        show_result(resumed, json, research_tables.print_sweep)


@app.command()
def studies(ledger: options.Ledger = None, json: options.Json = False) -> None:
    """List the studies of a ledger."""
    show_result(api.studies(ledger=ledger), json, tables.print_studies)


@app.command()
def show(study: options.StudyName, ledger: options.Ledger = None, json: options.Json = False) -> None:
    """Show a study, finished or not."""
    show_result(api.show(study, ledger=ledger), json, tables.print_study)


@app.command()
def delete(study: options.StudyName, ledger: options.Ledger = None, json: options.Json = False) -> None:
    """Delete a study with everything measured in it."""
    api.delete(study, ledger=ledger)
    show_result({"deleted": study}, json, tables.print_facts)


@app.command()
def clean(json: options.Json = False) -> None:
    """Remove cached bases and what crashed runs left in the data directory."""
    show_result(api.clean(), json, tables.print_facts)


@app.command()
def report(study: options.StudyName, ledger: options.Ledger = None, json: options.Json = False) -> None:
    """Write a study's report."""
    show_result({"report": api.report(study, ledger=ledger)}, json, tables.print_facts)


@app.command()
def export(
    study: options.StudyName,
    to: Annotated[
        str,
        typer.Option(
            metavar="TARGET",
            help="options-file, db_bench, cpp, java, kafka-streams, flink, myrocks, tikv, kvrocks,"
            " cassandra.",
        ),
    ],
    point: Annotated[
        int | None, typer.Option(metavar="N", help="A point of the Pareto front, instead of what was proven.")
    ] = None,
    ledger: options.Ledger = None,
    json: options.Json = False,
) -> None:
    """Print the recommended configuration in another system's form, at full size."""
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
    """List what can be named: workloads, devices, engines, RocksDB versions, spaces or tuners."""
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
    """Check that this machine has what rocktune needs; exit code 1 if it has not."""
    checks = api.doctor()
    show_result(checks, json, tables.print_checks)
    if not all(check["ok"] for check in checks):
        raise typer.Exit(1)


def _show_outcome(outcome: Outcome, json: bool) -> None:
    """Prints the outcome of a study, as the user wants it."""
    show_result(outcome.to_json() if json else outcome, json, tables.print_outcome)
