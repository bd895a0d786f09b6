"""Ledgers as a whole: copying their studies, and checking that they are whole."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict
from typing import Any

from rocktune.errors import UserError
from rocktune.ledger import RowProgress, open_ledger
from rocktune.study import recorded_spec


def _no_progress(_study: str, _done: int, _total: int) -> None:
    """Tells nobody."""


def copy_ledger(
    source: str, target: str, *, studies: Sequence[str] | None = None, progress: RowProgress = _no_progress
) -> dict[str, Any]:
    """Copies studies from one ledger to another with everything recorded in them.

    Each is copied in one transaction. A study that the target has already, exactly the same, is left as it
    is; if it has another one of the same name, nothing is copied at all.

    Args:
        source: URL or SQLite file; only read.
        target: URL or SQLite file of any kind of database; made where there is none.
        studies: names; None for all.
        progress: is told a study's name, and how many of how many rows are compared or copied.

    Returns:
        `from` and `to` (without passwords), and the names of studies `copied` and `already_there`.

    Raises:
        UserError: a ledger cannot be opened, there is no study of a name, or the target has another one.
    """
    with open_ledger(source, create=False) as origin, open_ledger(target) as destination:
        wanted = origin.studies() if studies is None else [origin.study(name) for name in studies]
        there = {record.name: origin.has_same(record, destination, progress) for record in wanted}
        others = [name for name, same in there.items() if same is False]
        if others:
            raise UserError(
                f"study '{others[0]}': {destination.url} has another one of this name, so nothing is copied; "
                "delete it there, or name the studies to copy with --study"
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
    """Reads a ledger from end to end and says whether it is whole. Nothing is changed.

    Args:
        ledger: URL or SQLite file; None for the user's own.
        progress: is told a study's name, and how many of how many windows have been read.

    Returns:
        `ledger` (its URL without passwords), `schema_version`, the numbers of `studies` and `windows`, and
        `problems`: for each the `study`, "" if it is none's, and the `problem`, one line.

    Raises:
        UserError: it cannot be opened.
    """
    with open_ledger(ledger, create=False) as opened:
        check = opened.check(_spec_problem, progress)
        problems = [{"study": problem.study, "problem": problem.what} for problem in check.problems]
        return {"ledger": opened.url} | asdict(check) | {"problems": problems}


def _spec_problem(spec: Mapping[str, Any]) -> str | None:
    try:
        recorded_spec(spec)
    except UserError as error:
        return str(error)
    return None
