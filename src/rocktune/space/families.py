"""Spaces in which several column families of one store have knobs of their own."""

from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rocktune.errors import UserError
from rocktune.lsm.arrays import Numbers
from rocktune.space.configuration import OptionMaps, family_section
from rocktune.space.knob import Knob
from rocktune.space.memory import FamilyEntries
from rocktune.space.options import BLOCK_CACHE
from rocktune.space.rules import MemoryBudgetKept, Rule
from rocktune.space.space import Space

_FAMILY_SECTIONS = ("cf", "table")


@dataclass(frozen=True)
class FamilyRule(Rule):
    """A rule on one column family's own knobs.

    Attributes:
        family: the family.
        rule: the rule, in which knobs have their plain names.
        number: number of the rule in its paper.
        statement: the condition in words.
        compares: names of the knobs that the rule compares: the family's own and those of the database.
    """

    family: FamilyEntries
    rule: Rule
    number: int
    statement: str
    compares: tuple[str, ...]

    @classmethod
    def of(cls, family: FamilyEntries, rule: Rule) -> "FamilyRule":
        """Returns a rule for a family's own knobs."""
        compares = (*rule.compares, *map(family.own, rule.compares))
        return cls(family, rule, rule.number, f"{family.name}: {rule.statement}", compares)

    def holds(self, values: Mapping[str, Numbers]) -> NDArray[np.bool_]:
        """Returns whether each configuration keeps the rule; see `Rule.holds`."""
        return self.rule.holds(_OwnValues(self.family, values))

    def numbers(self, values: Mapping[str, float]) -> str:
        """Returns the numbers that the rule compares, as text; see `Rule.numbers`."""
        return self.rule.numbers(_OwnValues(self.family, values))


class _OwnValues(Mapping[str, Any]):
    """The values of a family's own knobs by their plain names, and all others by theirs."""

    def __init__(self, family: FamilyEntries, values: Mapping[str, Any]) -> None:
        self._family, self._values = family, values

    def __getitem__(self, name: str) -> Any:
        own = self._family.own(name)
        return self._values[own] if own in self._values else self._values[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._values)

    def __len__(self) -> int:
        return len(self._values)


def space_of_families(space: Space, families: tuple[FamilyEntries, ...]) -> Space:
    """Returns a space in which each column family has the space's knobs of families as knobs of its own.

    Knobs of the database stay. All families share the memory budget and one block cache.

    Args:
        space: the space of one family.
        families: the families, at least one.

    Raises:
        UserError: the space is that of an FLSM store or of a governor, or tunes the block cache.
    """
    for knob in space.knobs:
        if knob.section in ("flsm", "governor") or knob.name == BLOCK_CACHE:
            raise UserError(
                f"space '{space.name}': {knob.name} cannot be tuned for several column families together; "
                "choose one with --column-family, or another space"
            )
    knobs: list[Knob] = [knob for knob in space.knobs if knob.section not in _FAMILY_SECTIONS]
    own = [knob for knob in space.knobs if knob.section in _FAMILY_SECTIONS]
    for family in families:
        knobs += [_own_knob(knob, family, {each.name for each in own}) for knob in own]
    combined = replace(
        space,
        knobs=tuple(knobs),
        fixed_options=_own_options(space.fixed_options, families),
        expected_entries=sum(family.expected_entries for family in families),
        families=families,
        rules=(),
    )
    rules: list[Rule] = []
    for rule in space.rules:
        if isinstance(rule, MemoryBudgetKept):
            rules.append(MemoryBudgetKept(combined.budget))
        else:
            rules += [FamilyRule.of(family, rule) for family in families]
    return replace(combined, rules=tuple(rules))


def _own_knob(knob: Knob, family: FamilyEntries, own: Collection[str]) -> Knob:
    """Returns a family's own knob, whose conditions on knobs named in `own` are on the family's."""
    when = tuple(
        replace(each, parent=family.own(each.parent)) if each.parent in own else each for each in knob.when
    )
    return replace(
        knob,
        name=family.own(knob.name),
        option=knob.option_name,
        section=family_section(knob.section, family.name),
        family=family.name,
        when=when,
    )


def _own_options(options: OptionMaps, families: tuple[FamilyEntries, ...]) -> OptionMaps:
    """Returns options in which those of column families are each family's own, but for the shared cache."""
    own: OptionMaps = {
        section: texts for section, texts in options.items() if section not in _FAMILY_SECTIONS
    }
    cache = options.get("table", {}).get(BLOCK_CACHE)
    own |= {"cf": {}, "table": {} if cache is None else {BLOCK_CACHE: cache}}
    for family in families:
        for section in _FAMILY_SECTIONS:
            texts = options.get(section, {})
            own[family_section(section, family.name)] = {
                name: text for name, text in texts.items() if name != BLOCK_CACHE
            }
    return own
