"""Conditional knobs: which knobs of a space are active, given the values of others."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from graphlib import CycleError, TopologicalSorter
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rocktune.errors import UserError, unknown_name
from rocktune.space.configuration import Configuration, Value
from rocktune.space.knob import Condition, Knob

Columns = Mapping[str, NDArray[Any]]


class ConditionalKnobs:
    """The knobs of a space, of which some are active only with some values of others.

    Attributes:
        in_order: the knobs, each after its parents; otherwise in the order of the space.
        conditional: names of the knobs that have conditions.
    """

    def __init__(self, knobs: Sequence[Knob]) -> None:
        """Checks the knobs' conditions.

        Raises:
            UserError: a parent is not a knob of the space or cannot have a value, or a knob's condition
                depends on the knob itself.
        """
        known = {knob.name: knob for knob in knobs}
        for knob in knobs:
            for condition in knob.when:
                _check(knob, condition, known)
        self.in_order = tuple(known[name] for name in _parents_first(knobs))
        self.conditional = frozenset(knob.name for knob in knobs if knob.when)

    def active(self, values: Mapping[str, Value]) -> dict[str, Knob]:
        """Returns the active knobs by name, parents first. A parent without a value makes no knob active."""
        found: dict[str, Knob] = {}
        held: dict[str, Value] = {}
        for knob in self.in_order:
            if knob.is_active(held):
                found[knob.name] = knob
                if knob.name in values:
                    held[knob.name] = values[knob.name]
        return found

    def activated(self, values: Mapping[str, Value]) -> Configuration:
        """Returns the configuration of the active knobs.

        Args:
            values: values by knob name. Those of inactive knobs are dropped; an active knob without a value
                gets its default.
        """
        found: dict[str, Value] = {}
        for knob in self.in_order:
            if knob.is_active(found):
                found[knob.name] = values.get(knob.name, knob.default)
        return Configuration(found)

    def active_rows(self, columns: Columns) -> dict[str, NDArray[np.bool_]]:
        """Returns for each conditional knob in which of many configurations it is active.

        Args:
            columns: the values of all knobs by name, as arrays of equal length.
        """
        rows: dict[str, NDArray[np.bool_]] = {}
        for knob in self.in_order:
            if knob.when:
                fulfilled = [np.isin(columns[each.parent], each.values) != each.unless for each in knob.when]
                parents = [rows[each.parent] for each in knob.when if each.parent in rows]
                rows[knob.name] = np.logical_and.reduce([*fulfilled, *parents])
        return rows

    def configurations(self, columns: Columns, indices: NDArray[np.intp]) -> Iterator[Configuration]:
        """Yields the configurations at these indices of the columns, without their inactive knobs."""
        names = tuple(columns)
        active = {name: rows[indices].tolist() for name, rows in self.active_rows(columns).items()}
        # tolist() turns NumPy's scalars into Python's, which JSON and Configuration.key need.
        rows = zip(*(columns[name][indices].tolist() for name in names), strict=True)
        for number, row in enumerate(rows):
            values = dict(zip(names, row, strict=True))
            yield Configuration(
                {name: value for name, value in values.items() if name not in active or active[name][number]}
            )

    def combinations(self, max_count: int) -> list[Configuration]:
        """Returns all combinations of active knobs' values, in the order of nested loops.

        Raises:
            UserError: a knob takes real numbers, or there are more than `max_count` combinations.
        """
        rows: list[dict[str, Value]] = [{}]
        for knob in self.in_order:
            values = knob.values(max_count)
            longer: list[dict[str, Value]] = []
            for row in rows:
                if knob.is_active(row):
                    longer.extend({**row, knob.name: value} for value in values)
                else:
                    longer.append(row)
                if len(longer) > max_count:
                    raise UserError(
                        f"{len(longer):,} combinations or more exceed {max_count:,}; narrow its knobs or fix "
                        "some"
                    )
            rows = longer
        return [Configuration(row) for row in rows]

    def refuse_others(self, space: str, values: Mapping[str, Value]) -> None:
        """Refuses values of anything but active knobs.

        Args:
            space: name of the space, for the message.
            values: values by name.

        Raises:
            UserError: there is a value of an unknown knob, or of one whose condition does not hold.
        """
        active, known = self.active(values), {knob.name: knob for knob in self.in_order}
        for name in values:
            if name not in known:
                raise unknown_name(f"option of space '{space}':", name, known)
            if name not in active:
                broken = next(each for each in known[name].when if not _holds(each, active, values))
                here = f"it is {values[broken.parent]}" if broken.parent in values else "it is not set"
                raise UserError(f"{name}: has an effect only if {broken.shown}, but {here}; leave it out")


def _holds(condition: Condition, active: Mapping[str, Knob], values: Mapping[str, Value]) -> bool:
    """Returns whether a condition holds with the values of the active knobs."""
    parent = condition.parent
    return parent in active and parent in values and condition.holds(values[parent])


def _check(knob: Knob, condition: Condition, known: Mapping[str, Knob]) -> None:
    """Raises a UserError if a parent is not among `known` or cannot have a value of the condition."""
    if condition.parent not in known:
        raise UserError(f"{knob.name}: when: {unknown_name('knob', condition.parent, known)}")
    # A value that the parent cannot have needs no exception.
    for value in () if condition.unless else condition.values:
        try:
            known[condition.parent].check(value)
        except UserError as problem:
            raise UserError(f"{knob.name}: when: {problem}") from None


def _parents_first(knobs: Sequence[Knob]) -> list[str]:
    """Returns the names of the knobs, each after its parents.

    Raises:
        UserError: a knob's condition depends on the knob itself.
    """
    sorter = TopologicalSorter({knob.name: [each.parent for each in knob.when] for knob in knobs})
    try:
        sorter.prepare()
    except CycleError as cycle:
        path = " -> ".join(cycle.args[1])
        raise UserError(f"{cycle.args[1][0]}: when: depends on itself ({path}); remove a condition") from None
    # Not the sorter's own order, which begins with all knobs that have no parent.
    placed: dict[str, None] = {}
    left = list(knobs)
    while left:
        knob = next(each for each in left if all(parent.parent in placed for parent in each.when))
        placed[knob.name] = None
        left.remove(knob)
    return list(placed)


def resolved(knobs: Sequence[Knob], fixed: Mapping[str, Value]) -> tuple[Knob, ...]:
    """Returns knobs whose conditions name only other knobs and values that these can have.

    Args:
        knobs: knobs, whose conditions may name knobs that were fixed or narrowed afterwards.
        fixed: values of the fixed knobs by name. A condition on one of them is dropped if it holds.

    Returns:
        The knobs without those that can never be active.
    """
    left = {knob.name: knob for knob in knobs}
    while True:
        found = {name: knob for name, knob in left.items() if _possible(knob, left, fixed)}
        if len(found) == len(left):
            break
        left = found
    return tuple(
        replace(
            knob, when=tuple(_narrowed(each, left[each.parent]) for each in knob.when if each.parent in left)
        )
        for knob in left.values()
    )


def _possible(knob: Knob, knobs: Mapping[str, Knob], fixed: Mapping[str, Value]) -> bool:
    """Returns whether all conditions of a knob can hold."""
    return all(
        _can_hold(each, knobs[each.parent])
        if each.parent in knobs
        else each.parent in fixed and each.holds(fixed[each.parent])
        for each in knob.when
    )


def _can_hold(condition: Condition, parent: Knob) -> bool:
    """Returns whether a parent has a value with which a condition holds."""
    if not condition.unless:
        return any(_accepts(parent, value) for value in condition.values)
    # Of a range only the ends are tried: a condition that excludes both and more is not written by anyone.
    return any(map(condition.holds, parent.choices or (parent.low, parent.high)))


def _narrowed(condition: Condition, parent: Knob) -> Condition:
    """Returns the condition with those of its values that the parent can have."""
    if condition.unless:
        return condition
    return replace(condition, values=tuple(value for value in condition.values if _accepts(parent, value)))


def _accepts(knob: Knob, value: Value) -> bool:
    """Returns whether a knob can have a value."""
    try:
        knob.check(value)
    except UserError:
        return False
    return True
