"""The interface of observers, such as the command line's progress display."""

from collections.abc import Sequence

from rocktune.trial import Configuration, Result, Trial


class Observer:
    """Receives the events of a study as they happen. Methods do nothing unless overridden."""

    def estimated(self, total_s: float) -> None:
        """The study will take about `total_s` more wall seconds."""

    def delayed(self, seconds: float) -> None:
        """The study will take `seconds` of measuring longer, because disturbed runs are measured again."""

    def phase_started(self, name: str, total_s: float | None) -> None:
        """A phase begins.

        Args:
            name: "baseline", "search", "pick", "tails", "ablate", "prune", "prove" or "offer".
            total_s: maximum seconds of measuring in the phase; None if unknown.
        """

    def trial_started(self, trial: Trial, index: int, of: int) -> None:
        """A trial is about to be measured.

        Args:
            trial: the trial.
            index: its index in its batch, from 0.
            of: number of trials in the batch.
        """

    def progress(self, phase: str, done: float, total: float) -> None:
        """The trial that is being measured progresses; see `rocktune.engine.base.Progress`.

        Is not called if several trials are measured at once.
        """

    def at_work(self, machines: Sequence[str]) -> None:
        """The lanes with these names are measuring now.

        Is called at each change if there are several lanes.
        """

    def trial_finished(self, result: Result) -> None:
        """A trial was measured and recorded. Is not called for trials that a resumed study finds recorded.

        Trials that are measured at once are reported in the order in which they end.
        """

    def best_changed(self, configuration: Configuration, ratio: float | None) -> None:
        """The search has a new best configuration.

        Args:
            configuration: the best configuration.
            ratio: how many times better it is than the baseline, above 1 if better; None if unknown.
        """

    def note(self, text: str) -> None:
        """A message for the user, one or two sentences."""
