"""Making a space's default configuration fit its memory budget."""

from collections.abc import Mapping
from dataclasses import replace

from rocktune.errors import UserError
from rocktune.space.configuration import Value
from rocktune.space.knob import Knob
from rocktune.space.space import Space
from rocktune.units import MIB

_MEMTABLE_KNOBS = ("write_buffer_size", "max_write_buffer_number", "min_write_buffer_number_to_merge")


def with_fitting_default(space: Space) -> Space:
    """Returns the space with defaults that keep its rules.

    Where the defaults exceed the budget, memtables become smaller, then fewer, and fewer are merged.

    Raises:
        UserError: no configuration fits the budget, or the defaults break another rule.
    """
    knobs = {knob.name: knob for knob in space.knobs}
    default = space.default()
    if all(name in knobs for name in _MEMTABLE_KNOBS):
        changes = _smaller_memtables(space, knobs)
        space = replace(
            space,
            knobs=tuple(replace(knob, default=changes.get(knob.name, knob.default)) for knob in space.knobs),
        )
        default = space.default()
    values = space.columns([default])
    if not space.budget.suffices(values).all():
        raise space.budget_too_small()
    broken = space.broken_rules(default)
    if broken:
        raise UserError(f"space '{space.name}': its default values break a rule; {broken[0]}")
    return space


def _smaller_memtables(space: Space, knobs: Mapping[str, Knob]) -> dict[str, Value]:
    """Returns new defaults for the memtable knobs; empty where the present ones fit."""
    size, number, merged = (knobs[name] for name in _MEMTABLE_KNOBS)
    values = space.columns([space.default()])
    assert isinstance(size.default, int)
    assert isinstance(number.default, int)
    assert isinstance(merged.default, int)
    available = int(
        space.memory_bytes
        - space.budget.smallest_cache_bytes
        - float(space.budget.filter_bytes(float(values["bloom_bits"][0])))
    )
    if number.default * size.default <= available:
        return {}
    buffer_bytes = max(available // number.default // MIB * MIB, int(size.low))
    buffers = max(min(number.default, available // buffer_bytes), int(number.low))
    to_merge = max(min(merged.default, buffers - 1), int(merged.low))
    return dict(zip(_MEMTABLE_KNOBS, (buffer_bytes, buffers, to_merge), strict=True))
