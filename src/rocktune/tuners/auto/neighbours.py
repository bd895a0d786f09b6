"""Candidates near the best results of a search."""

from collections.abc import Sequence

import numpy as np

from rocktune.space import Configuration, Space
from rocktune.tuners.unit_cube import Points, UnitCube

_PARENTS = 5
_MIN_DIFFERENCES = 5
"""Minimum number of knobs in which two parents differ, so that not all are forms of the best result."""
_CHANGED_EACH = 30
_CROSSED_EACH = 10
_DRAWN = 100
_MAX_CHANGES = 3
_STEP = 0.2
"""Standard deviation of a small step, as a share of a knob's range."""
_CROSSED_SHARE = 0.3
"""Share of the knobs that come from the other parent."""


def neighbours(
    space: Space, cube: UnitCube, ranked: Sequence[Configuration], rng: np.random.Generator
) -> list[Configuration]:
    """Returns distinct valid configurations: changed and crossed forms of the best, and random draws.

    The parents are the five best that differ from each other in some knobs. A changed form differs from a
    parent in one to three active knobs; each makes a small step or takes any value. A crossed form has three
    tenths of its knobs from another of the ten best. Forms that break a rule are dropped, because repairing
    them takes longer than making more.

    Args:
        space: the space.
        cube: its unit cube.
        ranked: measured configurations, the best first; at least one.
        rng: draws them.
    """
    found: list[Configuration] = []
    for parent in apart(ranked):
        point, active = cube.point(parent), np.flatnonzero(cube.active(parent))
        found += [cube.configuration(_changed(point, active, rng)) for _ in range(_CHANGED_EACH)]
        others = [cube.point(ranked[index]) for index in rng.integers(len(ranked[:10]), size=_CROSSED_EACH)]
        found += [cube.configuration(_crossed(point, other, rng)) for other in others]
    valid = [each for each in dict.fromkeys(found) if not space.broken_rules(each)]
    return list(dict.fromkeys([*valid, *space.sample(_DRAWN, rng)]))


def apart(ranked: Sequence[Configuration]) -> list[Configuration]:
    """Returns the first five configurations that differ from each other in some knobs, or fewer."""
    chosen: list[Configuration] = []
    for each in ranked:
        if all(_differences(each, other) >= _MIN_DIFFERENCES for other in chosen):
            chosen.append(each)
        if len(chosen) == _PARENTS:
            break
    return chosen


def _differences(first: Configuration, second: Configuration) -> int:
    """Returns the number of knobs that differ; one that only one of them has counts."""
    return len(dict(first.items() ^ second.items()))


def _changed(point: Points, active: np.ndarray, rng: np.random.Generator) -> Points:
    """Returns a point of which one to three active coordinates are changed."""
    count = min(1 + int(rng.integers(_MAX_CHANGES)), len(active))
    changed = point.copy()
    for index in rng.choice(active, count, replace=False):
        step = changed[index] + rng.normal(0.0, _STEP)
        changed[index] = rng.random() if rng.random() < 0.5 else np.clip(step, 0.0, 1.0)
    return changed


def _crossed(point: Points, other: Points, rng: np.random.Generator) -> Points:
    """Returns a point with some of its coordinates from another."""
    return np.where(rng.random(len(point)) < _CROSSED_SHARE, other, point)
