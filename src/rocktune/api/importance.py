"""Which knobs matter, in a study or in a table."""

from collections.abc import Sequence
from typing import Any

from rocktune.analysis import importance_of
from rocktune.analysis.summary import SHOWN_FIELDS
from rocktune.api.sweeping import recorded_table


def importance(
    study_or_table: str, fields: Sequence[str] = (), *, ledger: str | None = None
) -> dict[str, Any]:
    """Returns how much of each figure each knob explains.

    Args:
        study_or_table: a study's name, or a table's file (.csv or .parquet).
        fields: which figures; throughput and p99 read latency by default.
        ledger: URL or SQLite file, for a study; None for the user's own.

    Returns:
        `source`, `runs`, and `fields` as `rocktune.analysis.importance_of` has them.

    Raises:
        UserError: there is no such study or table, a field is unknown, or there are too few runs.
    """
    table = recorded_table(study_or_table, ledger)
    found = importance_of(table, tuple(dict.fromkeys(fields)) or SHOWN_FIELDS)
    return {"source": study_or_table, "runs": len(table.rows), "fields": found}
