"""Which of the winner's options matter, and the winner without those that do not."""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Literal

from rocktune.objective import Objective
from rocktune.study.proving.statistics import Interval
from rocktune.study.proving.verification import Runs, Stage, interleaved, keeps_constraints, paired_ratio
from rocktune.trial import Configuration

TOLERATED_LOSS = 0.02
"""A pruned configuration that measures worse than the winner by more than this share is not kept, even where
a few pairs cannot tell the two apart."""

MAX_TIED = 4
"""With at most this many others an option is reverted; one that needs more goes with all that differ."""

IsValid = Callable[[Configuration], bool]


@dataclass(frozen=True)
class Effect:
    """What options contribute to the winner.

    Attributes:
        options: whose effect it is; more than one where none of them can be reverted without the others.
        reverted: what was reverted, `options` and whatever else a rule requires to come along.
        ratio: how many times better the winner is than the winner with these reverted.
    """

    options: tuple[str, ...]
    reverted: tuple[str, ...]
    ratio: Interval

    @property
    def matters(self) -> bool:
        """Whether the winner is better with them, beyond noise."""
        return self.ratio.low > 1

    @property
    def verdict(self) -> Literal["helps", "harms", "undecided", "not measurable"]:
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


def groups(
    winner: Configuration, baseline: Configuration, is_valid: IsValid
) -> dict[tuple[str, ...], tuple[str, ...]]:
    """Returns what to revert together so that no rule is broken.

    Args:
        winner: valid.
        baseline: valid.
        is_valid: whether a configuration may be run.

    Returns:
        For each set of options to be reverted the options whose effect that shows. Every option that differs
        is in the smallest set with which it can be reverted; sets may overlap.
    """
    names = differing(winner, baseline)
    result: dict[tuple[str, ...], tuple[str, ...]] = {}
    for name in names:
        group = _smallest_valid(name, names, lambda tried: is_valid(reverted(winner, baseline, tried)))
        result[group] = (*result.get(group, ()), name)
    return result


def _smallest_valid(
    name: str, names: Sequence[str], is_valid: Callable[[Sequence[str]], bool]
) -> tuple[str, ...]:
    others = [other for other in names if other != name]
    for count in range(MAX_TIED + 1):
        for company in combinations(others, count):
            group = tuple(sorted((name, *company)))
            if is_valid(group):
                return group
    return tuple(names)


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
        Effect(options, group, paired_ratio(runs, objective, winner, variant))
        for (group, options), variant in zip(tied.items(), without, strict=True)
    ]
    return sorted(effects, key=_size, reverse=True)


def _size(effect: Effect) -> float:
    return effect.ratio.value if effect.ratio.repeats else math.inf


def droppable(effects: Sequence[Effect]) -> list[Effect]:
    """Returns the effects that were measured and not found to help, smallest first."""
    return sorted((effect for effect in effects if effect.verdict in ("harms", "undecided")), key=_size)


def pruned(
    winner: Configuration,
    baseline: Configuration,
    effects: Sequence[Effect],
    dropped: Sequence[Effect],
    is_valid: IsValid,
) -> Configuration:
    """Returns the winner without the options of some effects, as far as no rule is broken.

    Args:
        winner: valid.
        baseline: what dropped options go back to.
        effects: all of them; an option whose own effect is not dropped stays.
        dropped: those of the effects to drop.
        is_valid: whether a configuration may be run.
    """
    kept = {name for effect in effects if effect not in dropped for name in effect.options}
    gone: set[str] = set()
    left = [set(effect.reverted) - kept for effect in dropped]
    while True:
        fitting = next(
            (
                names
                for names in left
                if not names <= gone and is_valid(reverted(winner, baseline, sorted(gone | names)))
            ),
            None,
        )
        if fitting is None:
            return reverted(winner, baseline, sorted(gone))
        gone |= fitting


def prune(
    winner: Configuration,
    baseline: Configuration,
    effects: Sequence[Effect],
    objective: Objective,
    is_valid: IsValid,
    attempts: Sequence[Sequence[int]],
    age_s: float,
) -> Stage[Configuration]:
    """Drops options without effect together, and keeps the result if it runs as well as the winner.

    Where it does not, the half of them with the smallest effects is tried, and so on. It does not where it
    breaks a constraint, or is worse in any field of the objective: beyond noise, or by more than
    `TOLERATED_LOSS` as measured.

    Args:
        winner: the search's.
        baseline: what dropped options go back to.
        effects: as `ablate` found them.
        objective: its fields are compared.
        is_valid: whether a configuration may be run.
        attempts: for each attempt the replicates of its pairs.
        age_s: at which each run ends.
    """
    dropped = droppable(effects)
    for replicates in attempts:
        candidate = pruned(winner, baseline, effects, dropped, is_valid)
        if candidate == winner:
            return winner
        runs = yield from interleaved((winner, candidate), replicates, age_s)
        if _as_good(runs, objective, candidate, winner):
            return candidate
        dropped = dropped[: len(dropped) // 2]
    return winner


def _as_good(runs: Runs, objective: Objective, candidate: Configuration, winner: Configuration) -> bool:
    ratios = [paired_ratio(runs, objective, candidate, winner, field) for field in objective.fields]
    return keeps_constraints(runs, objective, candidate) and all(
        ratio.high >= 1 and ratio.value >= 1 - TOLERATED_LOSS for ratio in ratios
    )
