"""Knobs as the tables of a space file describe them."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from pydantic import Field

from rocktune.errors import UserError, unknown_name
from rocktune.space.catalogue import CATALOGUE, DERIVED
from rocktune.space.catalogue_files import FILE_KNOBS
from rocktune.space.configuration import Value
from rocktune.space.knob import ActsOn, Condition, Knob, Section
from rocktune.spec_file import Spec, Switch
from rocktune.units import parse_bytes

_CATALOGUED_LATER = {knob.name for knob in FILE_KNOBS}


class KnobTable(Spec):
    """A file's table for one knob; the attributes are those of `rocktune.space.Knob`.

    `section`, `unit`, `effect` and `acts_on` are allowed only for options without a catalogue entry. `when`
    and `unless` replace the knob's conditions: the name of each parent with a value or a list of values.
    """

    low: int | float | str | None = None
    high: int | float | str | None = None
    choices: tuple[Value, ...] = ()
    default: Value | None = None
    log: Switch | None = None
    section: Section | None = None
    unit: str | None = None
    effect: str | None = None
    acts_on: ActsOn | None = None
    when: dict[str, Value | tuple[Value, ...]] = Field(default_factory=dict)
    unless: dict[str, Value | tuple[Value, ...]] = Field(default_factory=dict)


def conditions_of(name: str, table: KnobTable, known: Mapping[str, Knob]) -> tuple[Condition, ...]:
    """Returns the conditions that a file gives a knob.

    Args:
        name: name of the knob.
        table: the knob's table.
        known: the knobs that may be parents by name.

    Raises:
        UserError: a parent is unknown or cannot have a value.
    """
    found = []
    for word, conditions in (("when", table.when), ("unless", table.unless)):
        for parent, written in conditions.items():
            if parent not in known:
                raise UserError(f"knobs.{name}: {word}: {unknown_name('knob', parent, known)}")
            values = written if isinstance(written, tuple) else (written,)
            if not values:
                raise UserError(f"knobs.{name}: {word}: {parent} has no value; give one, or leave it out")
            limits = widest(parent, known[parent])
            try:
                accepted = tuple(value_of(each, limits) for each in values)
            except UserError as problem:
                raise UserError(f"knobs.{name}: {word}: {problem}") from None
            found.append(Condition(parent, accepted, unless=word == "unless"))
    return tuple(found)


def widest(name: str, present: Knob | None) -> Knob:
    """Returns the knob with the widest range of an option: its catalogue entry, or the base's knob.

    Args:
        name: name of the knob.
        present: the base's knob of this name, if it has one.

    Raises:
        UserError: the option is unknown, or rocktune derives it.
    """
    if present is not None:
        return CATALOGUE.get(name, present)
    if name in DERIVED:
        raise UserError(f"{name}: cannot be set, because {DERIVED[name]}; leave it out")
    if name not in CATALOGUE:
        raise unknown_name("option", name, [*CATALOGUE])
    return CATALOGUE[name]


def knob_of(name: str, table: KnobTable, present: Knob | None) -> Knob:
    """Returns a knob with a file's changes: the base's, the catalogue's, or a new one of the file's section.

    Raises:
        UserError: the option is unknown, or the file changes a known attribute or gives invalid values.
    """
    if table.section is not None and name not in CATALOGUE:
        return _new_knob(name, table.section, table)
    for field in ("section", "unit", "effect", "acts_on"):
        given = getattr(table, field)
        # A file from before an option was catalogued may repeat what is known now.
        repeats = name in _CATALOGUED_LATER and given == getattr(CATALOGUE[name], field)
        if given is not None and not repeats:
            if name in CATALOGUE:
                raise UserError(f"knobs.{name}: {field} is known and cannot be changed; leave it out")
            raise UserError(
                f"{unknown_name('option', name, [*CATALOGUE])} (for an option of your own, add section)"
            )
    limits = widest(name, present)
    return _with_range(present or limits, limits, table)


def _with_range(knob: Knob, limits: Knob, table: KnobTable) -> Knob:
    """Returns the knob with a file's bounds or choices and default.

    Raises:
        UserError: `limits` does not accept one of them, or the file gives both bounds and choices.
    """
    changes: dict[str, Any] = {} if table.log is None else {"log": table.log}
    bounds = {name: bound for name in ("low", "high") if (bound := getattr(table, name)) is not None}
    if table.choices and bounds:
        raise UserError(f"knobs.{knob.name}: give either choices or bounds")
    # `low` and `high` of a knob with choices mean nothing, so one new bound is not enough.
    if bounds and knob.choices and len(bounds) < 2:
        raise UserError(f"knobs.{knob.name}: it has choices so far; give both low and high, or other choices")
    changes |= {name: value_of(bound, limits) for name, bound in bounds.items()}
    changes["choices"] = (
        () if bounds else tuple(value_of(each, limits) for each in table.choices) or knob.choices
    )
    if table.default is not None:
        changes["default"] = value_of(table.default, limits)
        # `narrowed` would silently move a default that is out of bounds; the user's own is refused instead.
        replace(knob, **changes).check(changes["default"])
    return knob.narrowed(**changes)


def value_of(written: Value, limits: Knob) -> Value:
    """Returns the value that a file's text or number stands for.

    Raises:
        UserError: it has another type than the option, or is out of the option's widest range.
    """
    example = limits.choices[0] if limits.choices else limits.low
    value = limits.parse(written) if isinstance(written, str) and not isinstance(example, str) else written
    # TOML's 1 is an int even where the option takes real numbers.
    if isinstance(example, float) and type(value) is int:
        value = float(value)
    limits.check(value)
    return value


def _new_knob(name: str, section: Section, table: KnobTable) -> Knob:
    """Returns a knob for an option without a catalogue entry. Its value is never scaled.

    Raises:
        UserError: the table has neither bounds nor choices, or choices of different types.
    """
    if not table.choices and (table.low is None or table.high is None):
        raise UserError(f"knobs.{name}: give low and high, or choices")
    if len({type(choice) for choice in table.choices}) > 1:
        raise UserError(f"knobs.{name}: choices have different types; use one type, such as only numbers")
    low, high = (
        parse_bytes(bound, name) if isinstance(bound, str) else 0 if bound is None else bound
        for bound in (table.low, table.high)
    )
    knob = Knob(
        name,
        section,
        unit=table.unit or ("bytes" if isinstance(table.low, str) else ""),
        default=table.choices[0] if table.choices else low,
        effect=table.effect or "",
        low=low,
        high=high,
        choices=table.choices,
        log=bool(table.log),
        # The cautious answers for an option that rocktune knows nothing about.
        acts_on=table.acts_on or "all_files",
        live_change="reopen",
    )
    return knob.narrowed(**({} if table.default is None else {"default": value_of(table.default, knob)}))
