"""Clusters of knobs for the tuner 'clustered-bo', from what was measured."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import tomli_w

from rocktune.analysis import clusters_of
from rocktune.errors import UserError
from rocktune.ledger import open_ledger
from rocktune.objective import objective_named
from rocktune.space import Configuration
from rocktune.table import read_table
from rocktune.trial import Status


def clusters(
    study_or_table: str,
    *,
    objective: str = "throughput_ops_s",
    out: str | Path | None = None,
    ledger: str | None = None,
) -> dict[str, Any]:
    """Finds which knobs go together, and which metrics they drive.

    Args:
        study_or_table: a study's name, best one of random search, or a table's file (.csv or .parquet). A
            study knows all of RocksDB's counters, a table only the figures.
        objective: the measurement field that is sought.
        out: a study's file to write, for `rocktune tune FILE`; None for none.
        ledger: URL or SQLite file, for a study; None for the user's own.

    Returns:
        `source`, and what `rocktune.analysis.clusters_of` says.

    Raises:
        UserError: there is no such study or table, too few runs, or the file cannot be written.
    """
    found = clusters_of(_runs(study_or_table, ledger), objective_named(objective).primary)
    if out is not None:
        wanted = {"tuner": "clustered-bo", "tuner_settings": {"clusters": found["clusters"]}}
        try:
            Path(out).write_text(tomli_w.dumps(wanted), encoding="utf-8")
        except OSError as failure:
            raise UserError(f"{out}: cannot be written: {failure.strerror}") from None
    return {"source": study_or_table, **found}


def _runs(study_or_table: str, ledger: str | None) -> list[tuple[Configuration, Mapping[str, float]]]:
    if study_or_table.endswith((".csv", ".parquet")):
        rows = read_table(Path(study_or_table)).rows
        return [(row.configuration, row.figures) for row in rows if row.status is Status.OK]
    with open_ledger(ledger, create=ledger is None) as opened:
        records = opened.trials(opened.study(study_or_table))
    last_s = max((record.trial.until_s for record in records), default=0.0)
    return [
        (
            record.trial.configuration,
            {name: record.measurement.metric(name) for name in record.measurement.metric_names},
        )
        for record in records
        if record.measurement is not None and record.trial.configuration and record.trial.until_s == last_s
    ]
