"""Reads the trials of a study as its phases received them, without the runs that repeats replaced."""

import math
from collections.abc import Hashable, Sequence
from dataclasses import dataclass, replace

from rocktune.ledger import Ledger, StudyRecord, TrialRecord
from rocktune.study import seeds
from rocktune.study.measuring.disturbance import SharedRuns
from rocktune.trial import Result

_Attempt = list[TrialRecord]


@dataclass(frozen=True)
class KeptTrial(TrialRecord):
    """A trial that a phase asked for, with the figures of the least disturbed attempt at it.

    `batch`, `index`, `trial` and `measured_s` are those of the request. So the sum of `measured_s` in a
    search is what its tuner paid. Status, figures, options and time are those of the attempt that counts.

    Attributes:
        disturbed: see `Result.disturbed`.
    """

    disturbed: bool = False

    @property
    def result(self) -> Result:
        """The trial's result as its phase received it."""
        return replace(super().result, disturbed=self.disturbed)


def kept_trials(ledger: Ledger, study: StudyRecord) -> list[KeptTrial]:
    """Returns the trials that the phases of a study asked for, in the order of batches and their trials.

    The choice among a disturbed run and its repeats is that of `rocktune.study.measuring.repeats`. A repeat
    that is recorded only in part, because the study was interrupted, is left out.
    """
    disturbance = SharedRuns(ledger, study).disturbance

    def worst(attempt: _Attempt) -> float:
        return max(disturbance(record.result) for record in attempt)

    kept: list[KeptTrial] = []
    for attempts in _requests(ledger.trials(study)):
        first = attempts[0]
        chosen = min((each for each in attempts if len(each) == len(first)), key=worst)
        kept += (
            _kept(asked, counted, disturbance(counted.result) > 0)
            for asked, counted in zip(first, chosen, strict=True)
        )
    return sorted(kept, key=lambda record: (record.batch, record.index))


def disturbed_s(ledger: Ledger, study: StudyRecord) -> float:
    """Returns the seconds of measuring that a study spent on repeats of disturbed runs."""
    attempts = (attempt for request in _requests(ledger.trials(study)) for attempt in request[1:])
    return math.fsum(record.measured_s for attempt in attempts for record in attempt)


def _requests(records: Sequence[TrialRecord]) -> list[list[_Attempt]]:
    """Returns for each request its attempts: the records of the request itself, then those of its repeats.

    A request is the trials of a batch that are repeated together.
    """
    found: dict[tuple[int, Hashable, int], _Attempt] = {}
    for record in records:
        unit = seeds.compared_with(record.trial.run)
        found.setdefault((record.batch, unit, record.trial.replicate), []).append(record)
    latest: dict[Hashable, list[_Attempt]] = {}
    requests: list[list[_Attempt]] = []
    for (_, unit, _), attempt in found.items():
        before = latest.get(unit)
        if before is not None and _repeats(attempt, before):
            before.append(attempt)
        else:
            latest[unit] = [attempt]
            requests.append(latest[unit])
    return requests


def _repeats(attempt: _Attempt, request: Sequence[_Attempt]) -> bool:
    """Returns whether an attempt repeats a request: the same trials under a new replicate."""
    is_new = all(attempt[0].trial.replicate > each[0].trial.replicate for each in request)
    asked = {(record.trial.configuration, record.trial.until_s) for record in request[0]}
    return is_new and asked.issuperset((each.trial.configuration, each.trial.until_s) for each in attempt)


def _kept(asked: TrialRecord, counted: TrialRecord, disturbed: bool) -> KeptTrial:
    """Returns a requested trial with the figures of the attempt that counts."""
    original = seeds.original_of(asked.trial.replicate)
    request = {
        "batch": asked.batch,
        "index": asked.index,
        "trial": replace(asked.trial, replicate=original),
        "measured_s": asked.measured_s,
    }
    return KeptTrial(**(vars(counted) | request), disturbed=disturbed)
