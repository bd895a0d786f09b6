"""Measures which of the winner's options matter, and drops those that do not."""

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Literal

from rocktune.objective import Objective
from rocktune.study.proving.statistics import Interval
from rocktune.study.proving.verification import Runs, Stage, interleaved, keeps_constraints, paired_ratio
from rocktune.trial import Configuration, Value

TOLERATED_LOSS = 0.02
"""A pruned configuration is not kept if it measures worse than the winner by more than this share, even if
the
interval of a few pairs contains 1."""

MAX_TIED = 4
"""Maximum number of options that are searched for to be reverted together with one. An option that needs more
is reverted together with all options that differ; trying all subsets would take exponential time."""


@dataclass(frozen=True)
class Validity:
    """Says which configurations may be run.

    Attributes:
        may_run: returns whether a configuration may be run.
        completed: returns the configuration of those values whose knobs are active, with defaults for active
            knobs without a value (`Space.activated`).
    """

    may_run: Callable[[Configuration], bool]
    completed: Callable[[Mapping[str, Value]], Configuration] = Configuration


@dataclass(frozen=True)
class Effect:
    """The contribution of one or several options to the winner.

    Attributes:
        options: the options with this effect; several if none can be reverted without the others.
        reverted: the options that were reverted: `options` and those that rules require to be reverted too.
        ratio: how many times better the winner is than the winner with `reverted` set back.
    """

    options: tuple[str, ...]
    reverted: tuple[str, ...]
    ratio: Interval

    @property
    def matters(self) -> bool:
        """True if the whole interval is above 1: the winner is better with the options."""
        return self.ratio.low > 1

    @property
    def verdict(self) -> Literal["helps", "harms", "undecided", "not measurable"]:
        """The effect in words.

        "helps" or "harms" if the whole interval is above or below 1, "undecided" if it contains 1, and "not
        measurable" if the winner or its reverted form failed.
        """
        if self.ratio.repeats == 0:
            return "not measurable"
        if self.matters:
            return "helps"
        return "harms" if self.ratio.high < 1 else "undecided"


def differing(winner: Configuration, baseline: Configuration) -> list[str]:
    """Returns the sorted names of the options in which two configurations differ, missing ones included."""
    names = sorted({*winner, *baseline})
    return [name for name in names if winner.get(name) != baseline.get(name)]


def reverted(
    winner: Configuration, baseline: Configuration, options: Sequence[str], validity: Validity
) -> Configuration:
    """Returns the winner with some options as in the baseline.

    Options that are inactive in the baseline get their defaults. Options that a reverted one makes inactive
    are removed; those that it makes active are as in the baseline too.
    """
    kept = {name: value for name, value in winner.items() if name not in options}
    return validity.completed({**baseline, **kept})


def groups(
    winner: Configuration, baseline: Configuration, validity: Validity
) -> dict[tuple[str, ...], tuple[str, ...]]:
    """Returns sets of options to revert together so that no rule is broken.

    Args:
        winner: a valid configuration.
        baseline: a valid configuration.
        validity: which configurations may be run.

    Returns:
        For each set of options to revert, the options whose effect it measures. Each option that differs is
        measured by the smallest set with which it can be reverted. Sets may overlap. An option that differs
        only because another one makes it active or inactive is left out: that one's set reverts it.
    """

    def variant(options: Sequence[str]) -> Configuration:
        return reverted(winner, baseline, options, validity)

    names = [name for name in differing(winner, baseline) if variant([name]) != winner]
    result: dict[tuple[str, ...], tuple[str, ...]] = {}
    for name in names:
        group = _smallest_valid(name, names, lambda tried: validity.may_run(variant(tried)))
        result[group] = (*result.get(group, ()), name)
    return result


def _smallest_valid(
    name: str, names: Sequence[str], is_valid: Callable[[Sequence[str]], bool]
) -> tuple[str, ...]:
    """Returns the smallest set of options with `name` that may be reverted."""
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
    validity: Validity,
    replicates: Sequence[int],
    age_s: float,
) -> Stage[list[Effect]]:
    """Measures the effect of each option in which the winner differs from the baseline.

    The winner's run of a replicate is paired with each reverted form's run of that replicate.

    Args:
        winner: a valid configuration.
        baseline: a valid configuration.
        objective: its first field is compared.
        validity: which configurations may be run.
        replicates: one replicate for each pair.
        age_s: age at which each run ends, seconds.

    Returns:
        The effects, largest ratio first.
    """
    tied = groups(winner, baseline, validity)
    without = [reverted(winner, baseline, group, validity) for group in tied]
    runs = yield from interleaved((winner, *without), replicates, age_s)
    effects = [
        Effect(options, group, paired_ratio(runs, objective, winner, variant))
        for (group, options), variant in zip(tied.items(), without, strict=True)
    ]
    return sorted(effects, key=_size, reverse=True)


def _size(effect: Effect) -> float:
    """Returns the ratio by which effects are ordered; unmeasurable effects come first."""
    return effect.ratio.value if effect.ratio.repeats else math.inf


def droppable(effects: Sequence[Effect]) -> list[Effect]:
    """Returns the effects with verdict "harms" or "undecided", smallest ratio first."""
    return sorted((effect for effect in effects if effect.verdict in ("harms", "undecided")), key=_size)


def pruned(
    winner: Configuration,
    baseline: Configuration,
    effects: Sequence[Effect],
    dropped: Sequence[Effect],
    validity: Validity,
) -> Configuration:
    """Returns the winner without the options of some effects, unless dropping them breaks a rule.

    Args:
        winner: a valid configuration.
        baseline: gives the values of dropped options.
        effects: all effects; an option whose own effect is not dropped stays.
        dropped: the effects to drop.
        validity: which configurations may be run.
    """
    kept = {name for effect in effects if effect not in dropped for name in effect.options}
    gone: set[str] = set()
    left = [set(effect.reverted) - kept for effect in dropped]
    # Dropping one set can make another one valid, so all are tried again after each success.
    while True:
        fitting = next(
            (
                names
                for names in left
                if not names <= gone
                and validity.may_run(reverted(winner, baseline, sorted(gone | names), validity))
            ),
            None,
        )
        if fitting is None:
            return reverted(winner, baseline, sorted(gone), validity)
        gone |= fitting


def prune(
    winner: Configuration,
    baseline: Configuration,
    effects: Sequence[Effect],
    objective: Objective,
    validity: Validity,
    attempts: Sequence[Sequence[int]],
    age_s: float,
) -> Stage[Configuration]:
    """Drops all options without effect together, and keeps the result if it runs as well as the winner.

    If it does not, the half of them with the smaller effects is tried, and so on. The result runs as well if
    it keeps the constraints and is not worse in any field of the objective: neither the whole interval nor,
    by more than `TOLERATED_LOSS`, the estimate.

    Args:
        winner: the winner of the phase `pick`.
        baseline: gives the values of dropped options.
        effects: the effects that `ablate` measured.
        objective: its fields are compared.
        validity: which configurations may be run.
        attempts: the replicates of the pairs of each attempt.
        age_s: age at which each run ends, seconds.

    Returns:
        The configuration to export; the winner itself if no attempt succeeds.
    """
    dropped = droppable(effects)
    for replicates in attempts:
        candidate = pruned(winner, baseline, effects, dropped, validity)
        if candidate == winner:
            return winner
        runs = yield from interleaved((winner, candidate), replicates, age_s)
        if _as_good(runs, objective, candidate, winner):
            return candidate
        dropped = dropped[: len(dropped) // 2]
    return winner


def _as_good(runs: Runs, objective: Objective, candidate: Configuration, winner: Configuration) -> bool:
    """Returns whether a pruned configuration runs as well as the winner; see `prune`."""
    ratios = [paired_ratio(runs, objective, candidate, winner, field) for field in objective.fields]
    return keeps_constraints(runs, objective, candidate) and all(
        ratio.high >= 1 and ratio.value >= 1 - TOLERATED_LOSS for ratio in ratios
    )
