"""Making a space's default configuration fit its memory budget."""

from collections.abc import Mapping
from dataclasses import replace

from rocktune.errors import UserError
from rocktune.lsm import level0_size_bytes
from rocktune.space.configuration import Value
from rocktune.space.rules import MIN_LEVEL0_TOLERANCE
from rocktune.space.space import Space
from rocktune.units import MIB

_MEMTABLE_KNOBS = ("write_buffer_size", "max_write_buffer_number", "min_write_buffer_number_to_merge")
_LEVEL1_KNOB = "max_bytes_for_level_base"


def with_fitting_default(space: Space) -> Space:
    """Returns the space with defaults that keep its rules; see `with_fitting_memory`.

    Raises:
        UserError: no configuration fits the budget, or the defaults break another rule.
    """
    space = with_fitting_memory(space)
    broken = space.broken_rules(space.default())
    if broken:
        raise UserError(f"space '{space.name}': its default values break a rule; {broken[0]}")
    return space


def with_fitting_memory(space: Space) -> Space:
    """Returns the space with defaults that fit its memory budget.

    Where the defaults exceed the budget, memtables become smaller, then fewer, and fewer are merged; level 1
    becomes as large as level 0 then is, if that is no longer within a factor of 2.

    Raises:
        UserError: no configuration fits the budget.
    """
    smaller = _smaller_memtables(space)
    if smaller:
        space = _with_defaults(space, smaller)
        space = _with_defaults(space, _matching_level1(space))
    if not space.budget.suffices(space.columns([space.default()])).all():
        raise space.budget_too_small()
    return space


def _with_defaults(space: Space, defaults: Mapping[str, Value]) -> Space:
    return replace(
        space,
        knobs=tuple(replace(knob, default=defaults.get(knob.name, knob.default)) for knob in space.knobs),
    )


def _smaller_memtables(space: Space) -> dict[str, Value]:
    """Returns new defaults for the memtable knobs; none where the present ones fit or their size is fixed."""
    knobs = {knob.name: knob for knob in space.knobs}
    if _MEMTABLE_KNOBS[0] not in knobs:
        return {}
    values = {name: column.item() for name, column in space.columns([space.default()]).items()}
    filter_bytes = float(space.budget.filter_bytes(values[space.budget.filter_bits]))
    available = int(space.memory_bytes - space.budget.min_cache_bytes - filter_bytes)
    size, number, merged = (values[name] for name in _MEMTABLE_KNOBS)
    if number * size <= available:
        return {}
    min_bytes, fewest, min_merged = (
        knobs[name].low if name in knobs else values[name] for name in _MEMTABLE_KNOBS
    )
    buffer_bytes = max(available // number // MIB * MIB, min_bytes)
    buffers = max(min(number, available // buffer_bytes), fewest)
    to_merge = max(min(merged, buffers - 1), min_merged)
    smaller = dict(zip(_MEMTABLE_KNOBS, (buffer_bytes, buffers, to_merge), strict=True))
    return {name: value for name, value in smaller.items() if name in knobs}


def _matching_level1(space: Space) -> dict[str, Value]:
    """Returns a new default for level 1's size; none where it is near level 0's or is not active."""
    knobs = {knob.name: knob for knob in space.knobs}
    if _LEVEL1_KNOB not in knobs:
        return {}
    values = {name: column.item() for name, column in space.columns([space.default()]).items()}
    level0_bytes = int(
        level0_size_bytes(
            values["level0_file_num_compaction_trigger"],
            values["min_write_buffer_number_to_merge"],
            values["write_buffer_size"],
        )
    )
    ratio = values[_LEVEL1_KNOB] / level0_bytes
    if 1 / MIN_LEVEL0_TOLERANCE <= ratio <= MIN_LEVEL0_TOLERANCE:
        return {}
    return {_LEVEL1_KNOB: knobs[_LEVEL1_KNOB].narrowed(default=level0_bytes).default}
