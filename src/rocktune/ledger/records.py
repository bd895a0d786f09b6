"""Records that the ledger returns, as frozen data."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from rocktune.trial import Measurement, OptionMaps, Result, Status, Trial


@dataclass(frozen=True)
class StudyRecord:
    """A study at the moment of reading; later changes do not show in the record.

    Attributes:
        id: key of the study, unique in the ledger and never reused.
        name: name of the study, unique in the ledger.
        spec: the study's specification, JSON.
        state: the last value of `Ledger.set_state`; "created" at first.
        created_at: time of creation in UTC.
        host: name of the machine that created the study.
        engine_version: the system under test, such as "RocksDB 7.8.3, assertions on"; "" if unknown.
    """

    id: int
    name: str
    spec: Mapping[str, Any] = field(repr=False)
    state: str
    created_at: datetime
    host: str
    engine_version: str


@dataclass(frozen=True)
class TrialRecord:
    """One recorded trial.

    Attributes:
        phase: phase of the study that asked for the trial.
        batch: number of the batch in the study, from 0.
        index: index of the trial in the batch, from 0.
        trial: the request.
        status: how the trial ended.
        message: message of a failed run; else "".
        measured_s: cost of the trial in seconds of measuring.
        repeated_s: seconds of load that were repeated because the run had been lost. They are overhead, not
            cost.
        options: all options in effect in the store; empty if it was never opened.
        measurement: the run's figures from age 0 to the trial's age; None unless the status is `ok`.
        window: the part of `measurement` since the run's previous trial; None unless the status is `ok`.
        recorded_at: time of recording in UTC.
    """

    phase: str
    batch: int
    index: int
    trial: Trial
    status: Status
    message: str
    measured_s: float
    repeated_s: float
    options: OptionMaps = field(repr=False)
    measurement: Measurement | None
    window: Measurement | None
    recorded_at: datetime

    @property
    def result(self) -> Result:
        """The trial's result as its tuner receives it."""
        return Result(self.trial, self.status, self.measurement, self.message)


@dataclass(frozen=True)
class EventRecord:
    """An event of a study.

    Attributes:
        kind: kind of the event, such as "time".
        payload: data of the event, JSON.
        recorded_at: time of recording in UTC.
    """

    kind: str
    payload: Mapping[str, Any]
    recorded_at: datetime
