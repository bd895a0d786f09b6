"""Which of the winner's options matter, and the winner without those that do not."""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from rocktune.objective import Objective
from rocktune.study.statistics import Interval
from rocktune.study.verification import Stage, interleaved, paired_ratio
from rocktune.trial import Configuration

TOLERATED_LOSS = 0.02
"""A pruned configuration that measures worse than the winner by more than this share is not kept, even where
a few pairs cannot tell the two apart."""

IsValid = Callable[[Configuration], bool]


@dataclass(frozen=True)
class Effect:
    """What options contribute to the winner.

    Attributes:
        options: those that were reverted together; more than one where a rule ties them.
        ratio: how many times better the winner is than the winner with these options reverted.
    """

    options: tuple[str, ...]
    ratio: Interval

    @property
    def matters(self) -> bool:
        """Whether the winner is better with them, beyond noise."""
        return self.ratio.low > 1

    @property
    def verdict(self) -> str:
        """Returns how sure the effect is.

        "helps" or "harms" beyond noise; "undecided" where the pairs do not tell; "not measurable" where the
        winner or its reverted form failed.
        """
        if self.ratio.repeats == 0:
            return "not measurable"
        if self.matters:
            return "helps"
        return "harms" if self.ratio.high < 1 else "undecided"


def differing(winner: Configuration, baseline: Configuration) -> list[str]:
    """Returns the options in which two configurations differ, sorted; a missing one has no value."""
    names = sorted({*winner, *baseline})
    return [name for name in names if winner.get(name) != baseline.get(name)]


def reverted(winner: Configuration, baseline: Configuration, options: Sequence[str]) -> Configuration:
    """Returns the winner with some options as the baseline has them, which may be not at all."""
    kept = {name: value for name, value in winner.items() if name not in options}
    return Configuration(kept | {name: baseline[name] for name in options if name in baseline})


def groups(winner: Configuration, baseline: Configuration, is_valid: IsValid) -> list[tuple[str, ...]]:
    """Splits the options that differ into the smallest groups that can be reverted alone.

    An option whose reverting breaks a rule takes others with it, one at a time: such as makes the
    configuration valid if there is one, else the next in order. Groups that share an option become one.

    Args:
        winner: valid.
        baseline: valid.
        is_valid: whether a configuration may be run.
    """
    names = differing(winner, baseline)
    result: list[set[str]] = []
    for name in names:
        group = _smallest_valid(name, names, lambda tried: is_valid(reverted(winner, baseline, tried)))
        for other in [other for other in result if other & group]:
            result.remove(other)
            group |= other
        result.append(group)
    # Two valid groups may make an invalid one together; then the rest has to come along.
    valid = all(is_valid(reverted(winner, baseline, sorted(group))) for group in result)
    return [tuple(sorted(group)) for group in result] if valid else [tuple(names)]


def _smallest_valid(name: str, names: Sequence[str], is_valid: Callable[[Sequence[str]], bool]) -> set[str]:
    group = [name]
    while not is_valid(group):
        others = [other for other in names if other not in group]
        if not others:
            break
        group.append(next((other for other in others if is_valid([*group, other])), others[0]))
    return set(group)


def ablate(
    winner: Configuration,
    baseline: Configuration,
    objective: Objective,
    is_valid: IsValid,
    replicates: Sequence[int],
    age_s: float,
) -> Stage[list[Effect]]:
    """Measures what each option in which the winner differs from the baseline contributes.

    The winner runs once per replicate and is the other half of every pair of that replicate.

    Returns:
        The effects, largest first.
    """
    tied = groups(winner, baseline, is_valid)
    without = [reverted(winner, baseline, group) for group in tied]
    runs = yield from interleaved((winner, *without), replicates, age_s)
    effects = [
        Effect(group, paired_ratio(runs, objective, winner, variant))
        for group, variant in zip(tied, without, strict=True)
    ]
    return sorted(effects, key=_size, reverse=True)


def _size(effect: Effect) -> float:
    return effect.ratio.value if effect.ratio.repeats else math.inf


def pruned(
    winner: Configuration, baseline: Configuration, effects: Sequence[Effect], is_valid: IsValid
) -> Configuration:
    """Returns the winner with every option reverted that was measured and not found to help.

    Where that breaks a rule, options come back, those with the largest ratios first, until none is broken.
    """
    droppable = [effect for effect in effects if effect.verdict in ("harms", "undecided")]
    dropped = sorted(droppable, key=_size)
    while dropped:
        candidate = reverted(winner, baseline, [name for effect in dropped for name in effect.options])
        if is_valid(candidate):
            return candidate
        dropped.pop()
    return winner


def prune(
    winner: Configuration,
    candidate: Configuration,
    objective: Objective,
    replicates: Sequence[int],
    age_s: float,
) -> Stage[Configuration]:
    """Runs the winner against its pruned form and returns which of the two to keep.

    The pruned form is kept unless it is worse beyond noise, or by more than `TOLERATED_LOSS` as measured.
    """
    if candidate == winner:
        return winner
    runs = yield from interleaved((winner, candidate), replicates, age_s)
    ratio = paired_ratio(runs, objective, candidate, winner)
    worse = ratio.high < 1 or not ratio.value >= 1 - TOLERATED_LOSS
    return winner if worse else candidate
