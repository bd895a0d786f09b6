"""A summary of a table: its number of runs, failures, best configurations and noise."""

import math
from collections import Counter, defaultdict
from collections.abc import Mapping
from typing import Any

import numpy as np

from rocktune.objective import objective_named
from rocktune.table import Table, TableRow
from rocktune.trial import Configuration, Status

SHOWN_FIELDS = ("throughput_ops_s", "read_latency_us_p99")


def summary_of_table(table: Table) -> dict[str, Any]:
    """Returns a summary of a table.

    Returns:
        A JSON object with `workload`, `device`, `engine`, `measured_s`, `runs` and `configurations`.
        `failures`: failed runs by status. `reasons`: by status the most frequent message. `best`: by field of
        `SHOWN_FIELDS` in the table the best configuration with its figures. `noise`: by such a field the
        coefficient of variation between runs of equal configuration, None without repeated runs.
    """
    conditions = table.conditions
    sound = [row for row in table.rows if row.status is Status.OK]
    fields = [field for field in SHOWN_FIELDS if any(_is_known(row, field) for row in sound)]
    failures = Counter(str(row.status) for row in table.rows if row.status is not Status.OK)
    reasons = {
        status: Counter(row.message for row in table.rows if str(row.status) == status).most_common(1)[0][0]
        for status in failures
    }
    return {
        "workload": conditions.workload.name,
        "device": conditions.device.name,
        "engine": conditions.engine,
        "measured_s": conditions.measured_s,
        "runs": len(table.rows),
        "configurations": len({row.configuration for row in table.rows}),
        "failures": dict(sorted(failures.items())),
        "reasons": reasons,
        "best": {field: _best(sound, field, fields) for field in fields},
        "noise": {field: noise_of(sound, field) for field in fields},
    }


def noise_of(rows: list[TableRow], field: str) -> float | None:
    """Returns the coefficient of variation between runs of equal configuration, None without repeated runs.

    It is the root mean square of the configurations' own coefficients, weighted by degrees of freedom.
    """
    values: Mapping[Configuration, list[float]] = defaultdict(list)
    for row in rows:
        if row.figures[field] > 0:
            # The standard deviation of logarithms approximates the coefficient of variation and does not
            # depend on the size of the figure.
            values[row.configuration].append(math.log(row.figures[field]))
    repeated = [np.array(each) for each in values.values() if len(each) > 1]
    if not repeated:
        return None
    squares = sum(float(((each - each.mean()) ** 2).sum()) for each in repeated)
    return math.sqrt(squares / sum(len(each) - 1 for each in repeated))


def _is_known(row: TableRow, field: str) -> bool:
    """Returns whether a run has a figure."""
    return not math.isnan(row.figures.get(field, math.nan))


def _best(rows: list[TableRow], field: str, fields: list[str]) -> dict[str, Any]:
    """Returns the best run in a field: its configuration, and its figures in `fields`."""
    # 1 if larger is better, -1 if smaller is.
    sign = objective_named(field).direction(field)
    known = [row for row in rows if _is_known(row, field)]
    best = max(known, key=lambda row: sign * row.figures[field])
    return {"configuration": dict(best.configuration)} | {each: best.figures[each] for each in fields}
