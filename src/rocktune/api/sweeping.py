"""Tables of measurements: sweeping a space, and writing down what a ledger has recorded."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Unpack

from rocktune import study
from rocktune.analysis import summary_of_table
from rocktune.api.engines import opened_engine
from rocktune.api.executors import opened_executor
from rocktune.api.files import claim_output
from rocktune.api.requests import Given, resolved
from rocktune.ledger import Ledger, open_ledger
from rocktune.options_account import account_json
from rocktune.study import Observer, StudyRequest, SweepSpec, resolve_sweep
from rocktune.study.specs.resolving import EVERYTHING, HowToSweep, OwnOptions
from rocktune.table import Table, merged_tables, read_table, write_table
from rocktune.units import format_scale

TABLE_NAME = "table.csv"


@dataclass(frozen=True)
class PreparedSweep:
    """A sweep that was asked for and found right. So far nothing has been measured or written.

    Attributes:
        spec: the sweep.
        request: what was asked for.
    """

    spec: SweepSpec
    request: StudyRequest

    def estimate(self) -> dict[str, Any]:
        """Returns what the sweep will take; see `rocktune.api.estimate_sweep`."""
        spec = self.spec
        runs = study.runs_of(spec, study.space_of(spec))
        return {
            "study": spec.name,
            "scale": format_scale(spec.scale),
            "runs": len(runs),
            "own_options_notes": study.own_notes(spec),
            "options_account": account_json(study.own_account(spec)),
            "total_s": study.sweep_s(spec, len(runs)),
        }

    def run(
        self,
        *,
        executor: str | None = None,
        address: str | None = None,
        observer: Observer | None = None,
    ) -> dict[str, Any]:
        """Runs the sweep, or the rest of it, and writes its table; see `rocktune.api.sweep`."""
        with open_ledger(self.request.ledger) as ledger:
            return run_recorded_sweep(self.spec, ledger, executor, address, observer, self.request.out)


def prepare_sweep(
    study_file: str | Path | None = None,
    *,
    how: HowToSweep = EVERYTHING,
    **given: Unpack[Given],
) -> PreparedSweep:
    """Reads what a sweep is to be from its file and from what is given, and checks it.

    Args:
        study_file: see `sweep`.
        how: see `sweep`.
        **given: see `sweep`.

    Raises:
        UserError: the request is wrong somewhere.
    """

    def resolve(request: StudyRequest, name: str, own_options: OwnOptions) -> SweepSpec:
        return resolve_sweep(request, name, how, own_options)

    return PreparedSweep(*resolved(study_file, given, resolve, "sweep"))


def estimate_sweep(
    study_file: str | Path | None = None,
    *,
    how: HowToSweep = EVERYTHING,
    **given: Unpack[Given],
) -> dict[str, Any]:
    """Says what a sweep would take, and measures and writes nothing.

    Args:
        study_file: see `sweep`.
        how: see `sweep`.
        **given: see `sweep`.

    Returns:
        `study` (its name), `scale`, `runs`, `own_options_notes` (how the OPTIONS file is taken), `total_s`.

    Raises:
        UserError: the request is wrong somewhere.
    """
    return prepare_sweep(study_file, how=how, **given).estimate()


def sweep(
    study_file: str | Path | None = None,
    *,
    how: HowToSweep = EVERYTHING,
    executor: str | None = None,
    address: str | None = None,
    observer: Observer | None = None,
    **given: Unpack[Given],
) -> dict[str, Any]:
    """Measures every configuration of a space, or a sample of them, and writes a table.

    A sweep that has this name and these settings already is gone on with. The space's default is measured
    again and again between the others, so that the table knows its own noise.

    Args:
        study_file: a study's TOML file, which says what is not given here.
        how: what to measure, and for how long; every configuration by default.
        executor: see `rocktune.api.tune`.
        address: see `rocktune.api.tune`.
        observer: is told what happens.
        **given: by the names of `rocktune.study.StudyRequest`; tuner, objective and budget are of no effect.

    Returns:
        What `rocktune.analysis.summary_of_table` says, and `study`, `state` and `table` (the file's path).

    Raises:
        UserError: the request is wrong somewhere, or this machine lacks what it takes.
        StudyInterrupted: Ctrl-C; `resume` goes on.
    """
    prepared = prepare_sweep(study_file, how=how, **given)
    return prepared.run(executor=executor, address=address, observer=observer)


def run_recorded_sweep(
    spec: SweepSpec,
    ledger: Ledger,
    executor: str | None,
    address: str | None,
    observer: Observer | None,
    out: str | None = None,
) -> dict[str, Any]:
    """Runs a sweep, or the rest of it, and writes its table; see `sweep`."""
    observer = observer or Observer()
    with opened_executor(spec, (), executor, address, opened_engine, observer) as measuring:
        record = ledger.create_study(spec.name, spec.model_dump(mode="json"), measuring.version)
        path = claim_output(ledger, record, out) / TABLE_NAME
        table = study.run_sweep(spec, measuring, ledger, observer)
    write_table(path, table)
    return {"study": spec.name, "state": "finished", **summary_of_table(table), "table": path}


def write_recorded(names: Sequence[str], path: str | Path, *, ledger: str | None = None) -> dict[str, Any]:
    """Writes what studies or sweeps have measured so far, or tables have, as one table.

    Args:
        names: of studies, or tables' files, that were measured under equal conditions, such as the parts of a
            sweep.
        path: of the table, .csv or .parquet.
        ledger: URL or SQLite file; None for the user's own.

    Returns:
        What `rocktune.analysis.summary_of_table` says, and `table` (the path).

    Raises:
        UserError: there is no such study, it has no measurement yet, the conditions differ, or the file
            cannot be written.
    """
    tables = {name: recorded_table(name, ledger) for name in names}
    table = merged_tables(tables)
    write_table(Path(path), table)
    return summary_of_table(table) | {"table": Path(path)}


def recorded_table(study_or_table: str, ledger: str | None = None) -> Table:
    """Returns a table from its file (.csv or .parquet), or what a study of a ledger has measured so far.

    Raises:
        UserError: there is no such file or study, or it has no measurement yet.
    """
    if study_or_table.endswith((".csv", ".parquet")):
        return read_table(Path(study_or_table))
    with open_ledger(ledger, create=ledger is None) as opened:
        return study.table_of(opened, opened.study(study_or_table))
