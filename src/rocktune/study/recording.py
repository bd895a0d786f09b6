"""Exports the recorded runs of a study or sweep as a table."""

from collections.abc import Sequence

from rocktune.errors import UserError
from rocktune.ledger import Ledger, StudyRecord
from rocktune.ledger.records import TrialRecord
from rocktune.study.comparison import ComparisonSpec
from rocktune.study.kinds import recorded_spec
from rocktune.study.measuring.kept import kept_trials
from rocktune.study.measuring.surroundings import file_systems_of
from rocktune.study.specs.spec import ExperimentSpec, ScaleCheckSpec, StudySpec, SweepSpec, UpgradeSpec
from rocktune.table import Conditions, Table, TableRow, knob_types
from rocktune.trial import Configuration

_OTHER_STORES = ("tails", "prove", "offer")
"""Phases of the steady protocol whose runs begin on aged stores or at an offered rate."""


def table_of(ledger: Ledger, study: StudyRecord) -> Table:
    """Returns the recorded runs of a study or sweep that reached the maximum age.

    They are those under the conditions of the search: neither verifications at other scales nor, in the
    steady protocol, runs on aged stores or at an offered rate. A sweep's figures are those after the warm-up;
    a study's are those from age 0. If a disturbed run was repeated, the table has only the least disturbed
    attempt.

    Raises:
        UserError: nothing has been measured yet, or the name belongs to a comparison, an upgrade or a
            scale check.
    """
    spec = recorded_spec(study.spec)
    if isinstance(spec, ComparisonSpec):
        raise UserError(
            f"study '{study.name}': is a comparison and has no runs of its own; name one of its studies"
        )
    if isinstance(spec, UpgradeSpec):
        raise UserError(
            f"study '{study.name}': is an upgrade, whose runs differ in their RocksDB and in no knob; name a "
            "study or a sweep"
        )
    if isinstance(spec, ScaleCheckSpec):
        raise UserError(
            f"study '{study.name}': is a scale check, whose runs differ in their model; name a study or a "
            "sweep"
        )
    # RocksDB's bare defaults have no knobs, so a table has no row for them.
    records = [
        record
        for record in kept_trials(ledger, study)
        if record.trial.configuration and _is_searched(spec, record.phase)
    ]
    if not records:
        raise UserError(f"study '{study.name}' has no measurement yet")
    last_s = max(record.trial.until_s for record in records)
    whole = [record for record in records if record.trial.until_s == last_s]
    warm_up_s = spec.warm_up_s if isinstance(spec, SweepSpec) else 0.0
    return Table(
        _conditions(spec, study, whole, warm_up_s, last_s - warm_up_s, file_systems_of(ledger, study)),
        tuple(_row(record, bool(warm_up_s)) for record in whole),
    )


def _is_searched(spec: ExperimentSpec, phase: str) -> bool:
    """Returns whether the runs of a phase have the conditions of the search."""
    # The phase of a later verification is called "verify 1/S".
    other = _OTHER_STORES if isinstance(spec, StudySpec) and spec.protocol == "steady" else ()
    return phase.partition(" ")[0] not in ("verify", *other)


def _conditions(
    spec: ExperimentSpec,
    study: StudyRecord,
    records: Sequence[TrialRecord],
    warm_up_s: float,
    measured_s: float,
    file_systems: str,
) -> Conditions:
    """Returns the conditions of the table."""
    return Conditions(
        knobs=knob_types(record.trial.configuration for record in records),
        workload=spec.workload,
        device=spec.device,
        space=spec.space,
        memory_bytes=spec.memory_bytes,
        base_options=spec.base_options,
        scale=spec.scale,
        seed=spec.seed,
        warm_up_s=warm_up_s,
        measured_s=measured_s,
        engine=study.engine_version,
        file_system=file_systems,
        host=study.host,
        date=max(record.recorded_at for record in records).date().isoformat(),
    )


def _row(record: TrialRecord, of_window: bool) -> TableRow:
    """Returns the table's row of a trial, with the figures of its window or from age 0."""
    measured = record.window if of_window else record.measurement
    figures = {} if measured is None else measured.figures
    return TableRow(
        Configuration(record.trial.configuration),
        record.trial.replicate,
        record.status,
        record.message,
        figures,
    )
