"""Configurations of which RocksDB makes one and the same store, by changing what it is given."""

from collections.abc import Callable, Iterable

from rocktune.ledger import TrialRecord
from rocktune.study.executors.runs import store_digest
from rocktune.trial import Configuration, Experiment, Status

Place = tuple[int, int]
"""Of a trial: its batch, and its place in it."""


class Twins:
    """The stores that a study's search has measured from age 0 so far, each by the first trial that did."""

    def __init__(
        self,
        records: Iterable[TrialRecord],
        opening: Callable[[Configuration, int], tuple[Experiment, Configuration, int]],
    ) -> None:
        """Takes in what is recorded.

        Args:
            records: of one phase.
            opening: see `rocktune.study.measuring.evaluation.Opening`.
        """
        self._places: dict[tuple[str, float], Place] = {}
        for record in records:
            window, trial = record.window, record.trial
            if record.status is Status.OK and window is not None and window.from_s == 0 and record.options:
                experiment, _, seed = opening(*trial.run)
                digest = store_digest(record.options, experiment, seed)
                self.add(digest, trial.until_s, (record.batch, record.index))

    def add(self, digest: str, until_s: float, place: Place) -> None:
        """Remembers that a trial has measured a store from age 0 until another, unless one had before."""
        self._places.setdefault((digest, until_s), place)

    def before(self, batch: int, until_s: float) -> frozenset[str]:
        """Returns the stores that trials of earlier batches have measured until an age.

        Trials of one batch do not answer each other: which of them is first depends on the executor.
        """
        return frozenset(
            digest
            for (digest, measured_s), (number, _) in self._places.items()
            if measured_s == until_s and number < batch
        )

    def first(self, digest: str, until_s: float) -> Place:
        """Returns the trial that measured a store until an age.

        Raises:
            KeyError: none did.
        """
        return self._places[digest, until_s]
