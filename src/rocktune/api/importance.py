"""Computes the importance of knobs in a study or a table."""

from collections.abc import Sequence
from typing import Any

from rocktune.analysis import importance_of
from rocktune.analysis.summary import SHOWN_FIELDS
from rocktune.api.sweeping import recorded_table


def importance(
    study_or_table: str, fields: Sequence[str] = (), *, ledger: str | None = None
) -> dict[str, Any]:
    """Returns how much of each figure's variance each knob explains.

    Args:
        study_or_table: name of a study, or file of a table (.csv or .parquet).
        fields: figures; throughput and p99 read latency by default.
        ledger: URL or SQLite file, for a study; None for the user's own.

    Returns:
        `source`, `runs` (their number), and `fields` as in `rocktune.analysis.importance_of`.

    Raises:
        UserError: there is no such study or table, a field is unknown, or there are too few runs.
    """
    table = recorded_table(study_or_table, ledger)
    found = importance_of(table, tuple(dict.fromkeys(fields)) or SHOWN_FIELDS)
    return {"source": study_or_table, "runs": len(table.rows), "fields": found}
