"""Decides which runs were disturbed: other programs took the processors while they were measured."""

import math

from rocktune.ledger import Ledger, StudyRecord
from rocktune.study.specs.spec import DISTURBED_SHARE
from rocktune.trial import Result, RunKey, Trial

MAX_REPEATS = 3
"""Maximum number of times that a disturbed run is measured again."""

PLACED = "placed"
"""Kind of the event that names the lane which measured a trial, recorded if there are several lanes: batch,
index, machine."""


class SharedRuns:
    """The runs that were measured while other lanes of the study might measure too.

    Lanes on one machine always disturb each other, so such runs never count as disturbed. The ledger says
    which runs these are, because a study may be resumed with another number of lanes, and its replay has to
    come to the same decisions.

    Attributes:
        max_others_share: share of the processors above which a run is disturbed.
    """

    def __init__(self, ledger: Ledger, study: StudyRecord) -> None:
        """Reads the runs of a study that were shared so far."""
        settings = study.spec.get("verification") or {}
        self.max_others_share = float(settings.get("max_others_share", DISTURBED_SHARE))
        self._since_s: dict[RunKey, float] = {}
        indexes: dict[int, list[int]] = {}
        for event in ledger.events(study, PLACED):
            indexes.setdefault(int(event.payload["batch"]), []).append(int(event.payload["index"]))
        for number, placed in indexes.items():
            batch = ledger.planned_batch(study, number)
            assert batch is not None, "a batch is recorded before its trials are placed"
            for index in placed:
                self.add(batch.trials[index])

    def add(self, trial: Trial) -> None:
        """Adds the run of a trial, which is shared from the trial's window on."""
        self._since_s[trial.run] = min(trial.until_s, self._since_s.get(trial.run, trial.until_s))

    def disturbance(self, result: Result) -> float:
        """Returns the share of the processors that other programs used, if that disturbs.

        The share is that from age 0 on, like the figures that a phase receives. It is 0 for an undisturbed
        run, a failed trial, a shared run, and an engine that does not count the share.

        Args:
            result: the result of a trial, under the replicate with which it was measured.
        """
        trial = result.trial
        if result.measurement is None or trial.until_s >= self._since_s.get(trial.run, math.inf):
            return 0.0
        share = result.measurement.others_share
        return share if share > self.max_others_share else 0.0
