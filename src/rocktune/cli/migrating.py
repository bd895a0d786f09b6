"""`rocktune apply --migrate` and `--in-place`: options for which a closed database's data is rewritten."""

import shlex
from collections.abc import Callable
from pathlib import Path

from rich.console import Console

from rocktune import api
from rocktune.cli.output import stderr, table
from rocktune.cli.progress import ProgressDisplay
from rocktune.deploy import Migration
from rocktune.study import Observer, StudyInterrupted
from rocktune.units import format_bytes


def migrate(
    database: Path, options_file: Path, target: Path | None, device: str | None, bandwidth: str
) -> Migration:
    """Copies a database with new options, or rewrites it in its own directory, and shows the progress.

    Args:
        database: the database's directory.
        options_file: the new options.
        target: directory of the copy; None to rewrite in place.
        device: see `rocktune.api.plan_options`.
        bandwidth: see `rocktune.api.copy_with_options`.

    Raises:
        UserError: see `rocktune.api.copy_with_options` and `rocktune.api.rewrite_with_options`.
        StudyInterrupted: after Ctrl-C.
    """
    with ProgressDisplay(stderr()) as display:
        run: Callable[[Observer], Migration]
        if target is None:
            how = ["--in-place"]
            kept = "The database can be opened, with all its data."
            run = lambda observer: api.rewrite_with_options(  # noqa: E731 - one of two ways
                database, options_file, device=device, bandwidth=bandwidth, observer=observer
            )
        else:
            how = ["--migrate", str(target)]
            kept = f"What was copied to {target} is kept, and {database} is as it was."
            run = lambda observer: api.copy_with_options(  # noqa: E731 - one of two ways
                database, options_file, target, device=device, bandwidth=bandwidth, observer=observer
            )
        try:
            return run(display)
        except KeyboardInterrupt:
            command = ["rocktune", "apply", str(database), "--options-file", str(options_file), *how]
            raise StudyInterrupted("", None, None, shlex.join(command), kept) from None


def print_migration(console: Console, found: Migration) -> None:
    """Prints the content of the migrated database, and what was left out."""
    made = table("family", "entries", "keys and values", "checksum", numbers=("entries", "keys and values"))
    for family in found.families:
        made.add_row(
            family.name,
            f"{family.entries:,}",
            format_bytes(family.raw_bytes),
            f"{int(family.checksum):016x}",
        )
    console.print(made)
    for left in found.left_out:
        console.print(
            f"Written without {left.where} {left.name}={left.given}: {left.why}.",
            soft_wrap=True,
        )
    before = "before and after" if found.in_place else f"in {found.plan.directory} and in {found.directory}"
    console.print(f"Compared: {before} the entries are the same, in the same order.", soft_wrap=True)
    console.print(
        f"Done: {found.directory} has the new options. Open it with a program that has them too.",
        soft_wrap=True,
    )
