"""Tables of measurements: sweeps of a space, and tables of recorded studies."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Unpack

from rocktune import study
from rocktune.analysis import summary_of_table
from rocktune.api.engines import opened_engine
from rocktune.api.executors import opened_executor
from rocktune.api.files import TABLE_NAME, claim_output
from rocktune.api.requests import Given, resolved
from rocktune.ledger import Ledger, open_ledger
from rocktune.options_account import account_json
from rocktune.study import Observer, StudyRequest, SweepSpec, resolve_sweep
from rocktune.study.specs.resolving import OwnOptions
from rocktune.study.specs.sweeping import EVERYTHING, HowToSweep
from rocktune.table import Table, merged_tables, read_table, write_table
from rocktune.units import format_scale


@dataclass(frozen=True)
class PreparedSweep:
    """A checked sweep that has not measured or written anything yet.

    Attributes:
        spec: the sweep.
        request: request that it was made from.
    """

    spec: SweepSpec
    request: StudyRequest

    def estimate(self) -> dict[str, Any]:
        """Returns the estimated size and time; see `rocktune.api.estimate_sweep`."""
        spec = self.spec
        runs = study.runs_of(spec, study.space_of(spec))
        return {
            "study": spec.name,
            "scale": format_scale(spec.scale),
            "runs": len(runs),
            **_own_options(spec),
            "total_s": study.sweep_s(spec, len(runs)),
        }

    def run(
        self,
        *,
        executor: str | None = None,
        address: str | None = None,
        observer: Observer | None = None,
    ) -> dict[str, Any]:
        """Runs or continues the sweep and writes its table; see `rocktune.api.sweep`."""
        with open_ledger(self.request.ledger) as ledger:
            return run_recorded_sweep(self.spec, ledger, executor, address, observer, self.request.out)


def prepare_sweep(
    study_file: str | Path | None = None,
    *,
    how: HowToSweep = EVERYTHING,
    **given: Unpack[Given],
) -> PreparedSweep:
    """Returns a checked sweep.

    Args:
        study_file: see `sweep`.
        how: see `sweep`.
        **given: see `sweep`.

    Raises:
        UserError: a part of the request is invalid.
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
    """Returns the estimated size and time of a sweep, without measuring or writing anything.

    Args:
        study_file: see `sweep`.
        how: see `sweep`.
        **given: see `sweep`.

    Returns:
        `study` (the name), `scale`, `runs`, `own_options_notes` and `options_account` (how the OPTIONS file
        is used) and `total_s`.

    Raises:
        UserError: a part of the request is invalid.
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
    """Measures all configurations of a space, or a random sample, and writes a table.

    An existing sweep with this name and equal settings is continued. The space's default is measured
    repeatedly among the others, so that the table shows its own noise.

    Args:
        study_file: a study's TOML file; `given` overrides it.
        how: configurations to measure, and how long; all configurations by default.
        executor: see `rocktune.api.tune`.
        address: see `rocktune.api.tune`.
        observer: observer of phases, trials and progress.
        **given: fields of `rocktune.study.StudyRequest`; tuner, objective and budget have no effect.

    Returns:
        The summary of `rocktune.analysis.summary_of_table`, with `study`, `state`, `own_options_notes` and
        `options_account` (how the OPTIONS file is used) and `table` (the table's path).

    Raises:
        UserError: a part of the request is invalid, or this machine lacks something that is needed.
        StudyInterrupted: Ctrl-C was pressed; `resume` continues.
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
    """Runs or continues a sweep and writes its table; see `sweep`."""
    observer = observer or Observer()
    with opened_executor(spec, (), executor, address, opened_engine, observer) as measuring:
        record = ledger.create_study(spec.name, spec.model_dump(mode="json"), measuring.version)
        path = claim_output(ledger, record, out) / TABLE_NAME
        table = study.run_sweep(spec, measuring, ledger, observer)
    write_table(path, table)
    summary = {**summary_of_table(table), **_own_options(spec), "table": path}
    return {"study": spec.name, "state": "finished", **summary}


def _own_options(spec: SweepSpec) -> dict[str, Any]:
    """Returns how the OPTIONS file is used, and what became of its options."""
    return {
        "own_options_notes": study.own_notes(spec),
        "options_account": account_json(study.own_account(spec)),
    }


def write_recorded(names: Sequence[str], path: str | Path, *, ledger: str | None = None) -> dict[str, Any]:
    """Writes the measurements of studies, sweeps or tables as one table.

    Args:
        names: names of studies or files of tables with equal conditions, such as the parts of a sweep.
        path: table to write, .csv or .parquet.
        ledger: URL or SQLite file; None for the user's own.

    Returns:
        The summary of `rocktune.analysis.summary_of_table`, with `table` (the path).

    Raises:
        UserError: a study does not exist or has no measurement yet, the conditions differ, or the file cannot
            be written.
    """
    # The name goes along so that an error about differing conditions can say which tables differ.
    tables = {name: recorded_table(name, ledger) for name in names}
    table = merged_tables(tables)
    write_table(Path(path), table)
    return summary_of_table(table) | {"table": Path(path)}


def recorded_table(study_or_table: str, ledger: str | None = None) -> Table:
    """Returns the table in a file (.csv or .parquet), or of the recorded measurements of a study.

    Raises:
        UserError: the file or study does not exist, or the study has no measurement yet.
    """
    if study_or_table.endswith((".csv", ".parquet")):
        return read_table(Path(study_or_table))
    with open_ledger(ledger, create=ledger is None) as opened:
        return study.table_of(opened, opened.study(study_or_table))
