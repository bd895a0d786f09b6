"""The command `rocktune check-scale`."""

from functools import partial
from typing import Annotated

import typer

from rocktune import api
from rocktune.api.requests import Given
from rocktune.cli import options, scale_tables
from rocktune.cli.app import announced, app, show_result
from rocktune.cli.study_options import study_options
from rocktune.study.specs.spec import MIN_CHECKED


@app.command()
@study_options(
    Given.__annotations__,
    without=(
        "table",
        "interpolate",
        "tuner",
        "constraints",
        "tried",
        "warm_start",
        "rate",
        "budget",
        "out",
        "proof_pairs",
    ),
)
def check_scale(
    study_file: options.StudyFile = None,
    *,
    given: Given,
    configurations: Annotated[
        int, typer.Option(metavar="N", help="Number of random configurations, at least 20.")
    ] = MIN_CHECKED,
    executor: options.Executor = None,
    address: options.Address = None,
    dry_run: options.DryRun = False,
    verbose: options.Verbose = False,
    json: options.Json = False,
) -> None:
    """Check how well a 1/S model ranks configurations.

    Measures random configurations at 1/S and at a model four times larger. Studies on the same conditions
    find the result in the ledger.
    """
    prepared = api.prepare_scale_check(study_file, configurations=configurations, **given)
    estimate = prepared.estimate()
    printer = partial(scale_tables.print_estimate, verbose=verbose)
    if dry_run:
        show_result(estimate, json, printer)
        return
    with announced(estimate, json, printer) as display:
        found = prepared.run(executor=executor, address=address, observer=display)
    scale_tables.show(found, json)
