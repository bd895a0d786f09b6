"""Computes the importance of knobs in a study or a table."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import tomli_w

from rocktune.analysis import importance_of, screened
from rocktune.analysis.summary import SHOWN_FIELDS
from rocktune.api.sweeping import recorded_table
from rocktune.api.time_left import TimeLeft
from rocktune.errors import UserError
from rocktune.study import Observer

_PHASE = "importance"
DEFAULT_MIN_SHARE = 0.01
"""Share of the variance below which a screening fixes a knob."""


def importance(
    study_or_table: str,
    fields: Sequence[str] = (),
    *,
    out: str | Path | None = None,
    min_share: float = DEFAULT_MIN_SHARE,
    ledger: str | None = None,
    observer: Observer | None = None,
) -> dict[str, Any]:
    """Returns how much of each figure's variance each knob explains.

    Args:
        study_or_table: name of a study, or file of a table (.csv or .parquet).
        fields: figures; throughput and p99 read latency by default.
        out: space file to write, in which all knobs are fixed that matter for none of the figures.
        min_share: the smallest share of the variance, by functional ANOVA, of a knob that matters.
        ledger: URL or SQLite file, for a study; None for the user's own.
        observer: observer of progress.

    Returns:
        `source`, `runs` (their number), `fields` as in `rocktune.analysis.importance_of`, and with `out` the
        names of the knobs that stay, `kept`, and the file's name, `space_file`.

    Raises:
        UserError: there is no such study or table, a field is unknown, there are too few runs, no knob
            matters, or the file cannot be written.
    """
    table = recorded_table(study_or_table, ledger)
    watching = observer or Observer()
    watching.phase_started(_PHASE, None)
    left = TimeLeft(watching)
    found = importance_of(
        table,
        tuple(dict.fromkeys(fields)) or SHOWN_FIELDS,
        progress=lambda done, total: left.progress(_PHASE, done, total),
    )
    result: dict[str, Any] = {"source": study_or_table, "runs": len(table.rows), "fields": found}
    if out is None:
        return result
    screening = screened(table, found, min_share)
    try:
        Path(out).write_text(tomli_w.dumps(screening.document), encoding="utf-8")
    except OSError as failure:
        raise UserError(f"{out}: cannot be written: {failure.strerror}") from None
    return result | {"kept": list(screening.kept), "space_file": str(out)}
