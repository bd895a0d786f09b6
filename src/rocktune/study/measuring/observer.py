"""Who watches a study: the command line's progress display, or nobody."""

from collections.abc import Sequence

from rocktune.trial import Configuration, Result, Trial


class Observer:
    """Is told what a study does, as it does it. Every method may be left as it is, and then does nothing."""

    def estimated(self, total_s: float) -> None:
        """It will take about this many seconds from now."""

    def phase_started(self, name: str, total_s: float | None) -> None:
        """A phase begins.

        Args:
            name: "baseline", "search", "pick", "ablate", "prune" or "prove".
            total_s: seconds of measuring that it will take at most; None when not known.
        """

    def trial_started(self, trial: Trial, index: int, of: int) -> None:
        """A trial is about to be measured, the `index`-th (from 0) of the `of` trials in its batch."""

    def progress(self, phase: str, done: float, total: float) -> None:
        """The present trial gets on; see `rocktune.engine.base.Progress`. Not where there are several."""

    def at_work(self, machines: Sequence[str]) -> None:
        """These workers are measuring now; called when that changes, where there is more than one."""

    def trial_finished(self, result: Result) -> None:
        """A trial was measured and recorded. Not called for results that a resumed study finds recorded.

        Where several are measured at once they come in the order in which they end.
        """

    def best_changed(self, configuration: Configuration, ratio: float | None) -> None:
        """The search has a new best configuration; `ratio` is against the baseline, above 1 when better."""

    def note(self, text: str) -> None:
        """Something that the user should read: one or two sentences."""
