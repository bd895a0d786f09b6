"""Knobs and values that are left out of a space, because a library or a workload has no use for them."""

from collections.abc import Collection
from dataclasses import replace

from rocktune.space.catalogue import CATALOGUE
from rocktune.space.conditions import resolved
from rocktune.space.knob import Knob
from rocktune.space.space import Space


def without(space: Space, names: Collection[str]) -> Space:
    """Returns the space without some knobs and words, and without what has a meaning only with them.

    That is knobs that are active only with them, and rules that compare them.

    Args:
        space: the space of one column family.
        names: names of knobs, whose options then have RocksDB's defaults, and words that no knob may have as
            its value, such as a compression that a library lacks. Others are ignored.
    """
    gone = {knob.name: CATALOGUE.get(knob.name, knob).default for knob in space.knobs if knob.name in names}
    kept = (_without_words(knob, names) for knob in space.knobs if knob.name not in gone)
    rules = tuple(rule for rule in space.rules if not gone.keys() & set(rule.compares))
    return replace(space, knobs=resolved([knob for knob in kept if knob is not None], gone), rules=rules)


def _without_words(knob: Knob, words: Collection[str]) -> Knob | None:
    """Returns the knob without the choices that contain a word; None if nothing is left to choose."""
    left = tuple(each for each in knob.choices if not set(str(each).split(":")) & set(words))
    if left == knob.choices:
        return knob
    return knob.narrowed(choices=left) if left else None
