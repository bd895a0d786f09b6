"""What the ledger gives back: plain, frozen data."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from rocktune.trial import Measurement, OptionMaps, Result, Status, Trial


@dataclass(frozen=True)
class StudyRecord:
    """One study as the ledger knows it when asked; a later change of state does not show here.

    Attributes:
        id: unique within the ledger, never used again.
        name: unique within the ledger.
        spec: what the study was created with, JSON.
        state: what `Ledger.set_state` said last; "created" at first.
        created_at: in UTC.
        host: the machine that created it.
        engine_version: what is measured ("RocksDB 7.8.3, assertions on"); "" if it was not said.
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
        phase: the study's phase in which it was planned.
        batch: the batch's number in the study, from 0.
        index: its place in the batch, from 0.
        trial: what was asked.
        status: how it ended.
        message: what a failed run last said.
        measured_s: seconds of measuring that it cost.
        repeated_s: seconds of load that were repeated because the run had been lost; overhead.
        options: what the store really used, full set; empty if it was never opened.
        measurement: the run's figures from age 0 to the trial's age; None unless the status is `ok`.
        window: what of these has been measured since the run's previous trial; None likewise.
        recorded_at: in UTC.
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
        """The trial's answer as a tuner sees it."""
        return Result(self.trial, self.status, self.measurement, self.message)


@dataclass(frozen=True)
class EventRecord:
    """Something that happened in a study and is no trial.

    Attributes:
        kind: what it is.
        payload: its data, JSON.
        recorded_at: in UTC.
    """

    kind: str
    payload: Mapping[str, Any]
    recorded_at: datetime
