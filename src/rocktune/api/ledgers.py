"""Copies studies between ledgers, and checks ledgers for damage."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict
from typing import Any

from rocktune.errors import UserError
from rocktune.ledger import RowProgress, open_ledger
from rocktune.study import recorded_spec


def _no_progress(_study: str, _done: int, _total: int) -> None:
    """Ignores the progress; the default of `progress`."""


def copy_ledger(
    source: str, target: str, *, studies: Sequence[str] | None = None, progress: RowProgress = _no_progress
) -> dict[str, Any]:
    """Copies studies with all their records from one ledger to another.

    Each study is copied in one transaction. An equal study in the target is left as it is. If the target has
    a different study of the same name, nothing is copied.

    Args:
        source: URL or SQLite file, which is only read.
        target: URL or SQLite file of any kind of database; created if missing.
        studies: names of studies; None for all.
        progress: called with a study's name, the rows compared or copied, and all rows.

    Returns:
        `from` and `to` (URLs without passwords), and the names of studies `copied` and `already_there`.

    Raises:
        UserError: a ledger cannot be opened, a study does not exist, or the target has a different one.
    """
    with open_ledger(source, create=False) as origin, open_ledger(target) as destination:
        wanted = origin.studies() if studies is None else [origin.study(name) for name in studies]
        # All studies are compared before the first is copied, so that a conflict leaves the target unchanged.
        there = {record.name: origin.has_same(record, destination, progress) for record in wanted}
        others = [name for name, same in there.items() if same is False]
        if others:
            raise UserError(
                f"study '{others[0]}': {destination.url} has a different study of this name, so nothing was "
                "copied; delete it there, or choose the studies to copy with --study"
            )
        missing = [record for record in wanted if there[record.name] is None]
        for record in missing:
            origin.copy_study(record, destination, progress)
        return {
            "from": origin.url,
            "to": destination.url,
            "copied": [record.name for record in missing],
            "already_there": [name for name, same in there.items() if same],
        }


def check_ledger(ledger: str | None = None, *, progress: RowProgress = _no_progress) -> dict[str, Any]:
    """Reads a whole ledger and returns the damage found. Changes nothing.

    Args:
        ledger: URL or SQLite file; None for the user's own.
        progress: called with a study's name, the windows read, and all windows.

    Returns:
        `ledger` (its URL without passwords), `schema_version`, the numbers of `studies` and `windows`, and
        `problems`: for each the `study` ("" if it concerns the whole ledger) and the `problem` in one line.

    Raises:
        UserError: the ledger cannot be opened.
    """
    with open_ledger(ledger, create=False) as opened:
        check = opened.check(_spec_problem, progress)
        problems = [{"study": problem.study, "problem": problem.what} for problem in check.problems]
        return {"ledger": opened.url} | asdict(check) | {"problems": problems}


def _spec_problem(spec: Mapping[str, Any]) -> str | None:
    """Returns why a study's spec cannot be read, None if it can."""
    try:
        recorded_spec(spec)
    except UserError as error:
        return str(error)
    return None
