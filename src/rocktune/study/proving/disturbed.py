"""Says what disturbed runs mean for a proof."""

from collections.abc import Iterable

from rocktune.trial import Result

BUSY = "undecided: the machine was busy"
"""The reason for a recommendation if too many pairs stayed disturbed."""


def disturbed_pairs(results: Iterable[Result]) -> int:
    """Returns the number of pairs with a disturbed run; all runs of a replicate form a pair."""
    return len({result.trial.replicate for result in results if result.disturbed})


def is_undecided(disturbed: int, pairs: int) -> bool:
    """Returns whether a proof decides nothing, because most of its pairs stayed disturbed.

    Its interval covers noise that is independent from pair to pair. Other programs that run during a few
    pairs add such noise and widen the interval. If they run during most pairs, they can shift all ratios
    alike, because the configurations differ in the processors that they need. No interval shows that.

    Args:
        disturbed: number of pairs that stayed disturbed.
        pairs: number of all pairs.
    """
    return 2 * disturbed > pairs
