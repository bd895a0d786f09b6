"""The command `rocktune upgrade`."""

from functools import partial
from typing import Annotated

import typer

from rocktune import api
from rocktune.api.requests import Given
from rocktune.api.upgrading import DEFAULT_PAIRS
from rocktune.cli import options, upgrade_tables
from rocktune.cli.app import announced, app, show_result
from rocktune.cli.study_options import study_options


@app.command()
@study_options(
    Given.__annotations__,
    without=(
        "engine", "rocksdb", "db_bench", "table", "interpolate", "space", "tuner", "protocol", "objective",
        "constraints", "prices", "robust", "rate", "tried", "warm_start", "budget", "proof_pairs",
    ),
)  # fmt: skip
def upgrade(
    *,
    to: Annotated[str, typer.Option("--to", metavar="VERSION", help="The RocksDB to go to, such as 11.8.")],
    from_: Annotated[
        str | None,
        typer.Option(
            "--from", metavar="VERSION", help="The present RocksDB; by default the one that the file names."
        ),
    ] = None,
    given: Given,
    pairs: Annotated[
        int, typer.Option(metavar="N", help="Number of runs of each version in the proof.")
    ] = DEFAULT_PAIRS,
    seconds: Annotated[
        str | None, typer.Option(metavar="TIME", help="Length of each run; 120 s / S by default.")
    ] = None,
    executor: options.Executor = None,
    address: options.Address = None,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Print what changes, and measure nothing.")
    ] = False,
    verbose: Annotated[
        bool, typer.Option("--verbose", help="List new options, and each option of the OPTIONS file.")
    ] = False,
    json: options.Json = False,
) -> None:
    """Say what an upgrade of RocksDB changes for an OPTIONS file, and prove which version is faster.

    Shows changed defaults and meanings, and what happens to the data. Then runs both versions in pairs.
    """
    prepared = api.prepare_upgrade(to, from_, pairs=pairs, seconds=seconds, proof=not dry_run, **given)
    estimate = prepared.estimate()
    printer = partial(upgrade_tables.print_changes, verbose=verbose)
    if dry_run:
        show_result(estimate, json, printer)
        return
    with announced(estimate, json, printer) as display:
        found = prepared.run(executor=executor, address=address, observer=display)
    show_result(found, json, upgrade_tables.print_proof)
