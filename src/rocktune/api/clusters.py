"""Finds clusters of knobs for the tuner 'clustered-bo' from measurements."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import tomli_w

from rocktune.analysis import clusters_of
from rocktune.errors import UserError
from rocktune.ledger import open_ledger
from rocktune.objective import objective_named
from rocktune.space import Configuration
from rocktune.study import kept_trials
from rocktune.table import read_table
from rocktune.trial import Status


def clusters(
    study_or_table: str,
    *,
    objective: str = "throughput_ops_s",
    out: str | Path | None = None,
    ledger: str | None = None,
) -> dict[str, Any]:
    """Finds clusters of knobs that influence the same metrics.

    Args:
        study_or_table: name of a study, best one of random search, or file of a table (.csv or .parquet). A
            study has all of RocksDB's counters, a table only the figures.
        objective: figure to improve.
        out: study file to write, for `rocktune tune FILE`; None for none.
        ledger: URL or SQLite file, for a study; None for the user's own.

    Returns:
        `source`, and the result of `rocktune.analysis.clusters_of`.

    Raises:
        UserError: there is no such study or table, there are too few runs, or the file cannot be written.
    """
    found = clusters_of(_runs(study_or_table, ledger), objective_named(objective).primary)
    if out is not None:
        # Only these two settings: 'rocktune tune FILE' gets all others from its options.
        wanted = {"tuner": "clustered-bo", "tuner_settings": {"clusters": found["clusters"]}}
        try:
            Path(out).write_text(tomli_w.dumps(wanted), encoding="utf-8")
        except OSError as failure:
            raise UserError(f"{out}: cannot be written: {failure.strerror}") from None
    return {"source": study_or_table, **found}


def _runs(study_or_table: str, ledger: str | None) -> list[tuple[Configuration, Mapping[str, float]]]:
    """Returns configuration and metrics of each successful run.

    For a study these are the runs to the highest age, since metrics of different ages do not compare.
    """
    if study_or_table.endswith((".csv", ".parquet")):
        rows = read_table(Path(study_or_table)).rows
        # A table has one age only, so its rows need no selection.
        return [(row.configuration, row.figures) for row in rows if row.status is Status.OK]
    with open_ledger(ledger, create=ledger is None) as opened:
        records = kept_trials(opened, opened.study(study_or_table))
    last_s = max((record.trial.until_s for record in records), default=0.0)
    sound = [
        (record.trial.configuration, record.measurement)
        for record in records
        if record.measurement is not None and record.trial.configuration and record.trial.until_s == last_s
    ]
    # A run lacks the tickers at 0, which `metric` gives all the same.
    names = dict.fromkeys(name for _, measured in sound for name in measured.metric_names)
    return [
        (configuration, {name: measured.metric(name) for name in names}) for configuration, measured in sound
    ]
