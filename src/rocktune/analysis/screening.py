"""Narrows a space to the knobs that explain the variance of a sample."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from rocktune.errors import UserError
from rocktune.space import Space, Value, space_from_document
from rocktune.table import Table


@dataclass(frozen=True)
class Screening:
    """A narrowed space.

    Attributes:
        kept: names of the knobs that stay, in the order of the space.
        document: contents of a space file in which all other knobs are fixed.
    """

    kept: tuple[str, ...]
    document: dict[str, Any]


def screened(
    table: Table, importance: Mapping[str, Sequence[Mapping[str, Any]]], min_share: float
) -> Screening:
    """Returns the space of a table, narrowed to the knobs that matter for one of the figures.

    A knob matters if functional ANOVA gives it a share of the variance. Its parents stay too, because it is
    active with some of their values alone. All others are fixed at the values of the space's default. A knob
    that is inactive there and shares an option with another one cannot be fixed; it stays if its parents do.

    Args:
        table: a sample of the space.
        importance: see `rocktune.analysis.importance_of`.
        min_share: the smallest share of a knob that stays, above 0 and at most 1.

    Raises:
        UserError: the share is out of range, no knob has it, or the knobs are those of several families.
    """
    if not 0 < min_share <= 1:
        raise UserError(f"min_share: {min_share} must be above 0 and at most 1")
    source = table.conditions.space
    # The number of entries bounds the cache only, which is no knob.
    space = space_from_document(source, table.conditions.memory_bytes, 1.0, table.conditions.base_options)
    if any(knob.family for knob in space.knobs):
        raise UserError("importance: a space file has knobs of one column family; leave --out out")
    shares = [(each["knob"], each["fanova"]) for rows in importance.values() for each in rows]
    kept = _with_parents(space, {knob for knob, share in shares if share >= min_share})
    if not kept:
        largest = max(share for _, share in shares)
        raise UserError(
            f"min_share: no knob explains {min_share:.0%} of the variance; give at most {largest:.2f}"
        )
    usual, options = space.default(), Counter((knob.section, knob.option_name) for knob in space.knobs)
    fixed = {
        knob.name: usual.get(knob.name, knob.default)
        for knob in space.knobs
        if knob.name not in kept and (knob.name in usual or options[knob.section, knob.option_name] == 1)
    }
    document = _with_fixed(space, dict(source.get("file", {"base": source["name"]})), fixed)
    narrow = space_from_document({"name": source["name"], "file": document}, space.memory_bytes, 1.0)
    return Screening(tuple(knob.name for knob in narrow.knobs), document)


def _with_fixed(space: Space, file: dict[str, Any], fixed: Mapping[str, Value]) -> dict[str, Any]:
    """Returns the contents of a space file with further knobs of its space fixed."""
    knobs, options = dict(file.get("knobs", {})), dict(file.get("fixed", {}))
    known = {knob.name: knob for knob in space.knobs}
    for name, value in fixed.items():
        if "section" in knobs.pop(name, {}):
            # Without its table in the file, nothing else knows a knob that no preset has.
            knob = known[name]
            options[knob.section] = {**options.get(knob.section, {}), knob.option_name: knob.text(value)}
        else:
            options[name] = value
    return file | {"knobs": knobs, "fixed": options}


def _with_parents(space: Space, names: set[str]) -> set[str]:
    """Returns the knobs of these names with all knobs on whose values they depend."""
    knobs = {knob.name: knob for knob in space.knobs}
    kept, left = set[str](), [name for name in names if name in knobs]
    while left:
        name = left.pop()
        if name not in kept:
            kept.add(name)
            left += [condition.parent for condition in knobs[name].when]
    return kept
