"""What a ledger has recorded, as a plain table."""

import math
from collections.abc import Sequence

from rocktune.errors import UserError
from rocktune.ledger import Ledger, StudyRecord
from rocktune.ledger.records import TrialRecord
from rocktune.study import seeds
from rocktune.study.comparison import ComparisonSpec
from rocktune.study.kinds import recorded_spec
from rocktune.study.specs.spec import ExperimentSpec, SweepSpec
from rocktune.table import Conditions, Table, TableRow, knob_types
from rocktune.trial import Configuration


def table_of(ledger: Ledger, study: StudyRecord) -> Table:
    """Returns the runs of a study or sweep that went to the largest age, as far as it has got.

    Of a sweep's runs the figures are those after the warm-up, of a study's those from age 0. Where a sweep
    has measured a run again because it was disturbed, the one that was disturbed least stands for all.

    Raises:
        UserError: nothing has been measured yet.
    """
    spec = recorded_spec(study.spec)
    if isinstance(spec, ComparisonSpec):
        raise UserError(f"study '{study.name}': a comparison has no runs of its own; name one of its studies")
    records = [record for record in ledger.trials(study) if record.trial.configuration]
    if not records:
        raise UserError(f"study '{study.name}' has no measurement yet")
    last_s = max(record.trial.until_s for record in records)
    whole = _least_disturbed([record for record in records if record.trial.until_s == last_s])
    warm_up_s = spec.warm_up_s if isinstance(spec, SweepSpec) else 0.0
    return Table(
        _conditions(spec, study, whole, warm_up_s, last_s - warm_up_s),
        tuple(_row(record, bool(warm_up_s)) for record in whole),
    )


def _least_disturbed(records: Sequence[TrialRecord]) -> list[TrialRecord]:
    chosen: dict[tuple[Configuration, int], TrialRecord] = {}
    for record in records:
        key = (record.trial.configuration, seeds.intended(record.trial.replicate))
        if key not in chosen or _disturbance(record) < _disturbance(chosen[key]):
            chosen[key] = record
    return list(chosen.values())


def _disturbance(record: TrialRecord) -> float:
    return math.inf if record.measurement is None else record.measurement.figures["others_cpu_share"]


def _conditions(
    spec: ExperimentSpec,
    study: StudyRecord,
    records: Sequence[TrialRecord],
    warm_up_s: float,
    measured_s: float,
) -> Conditions:
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
        host=study.host,
        date=max(record.recorded_at for record in records).date().isoformat(),
    )


def _row(record: TrialRecord, of_window: bool) -> TableRow:
    measured = record.window if of_window else record.measurement
    figures = {} if measured is None else measured.figures
    return TableRow(
        Configuration(record.trial.configuration),
        seeds.intended(record.trial.replicate),
        record.status,
        record.message,
        figures,
    )
