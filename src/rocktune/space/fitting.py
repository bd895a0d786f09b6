"""Functions that change a space's default configuration so that it fits the memory budget."""

from collections.abc import Mapping
from dataclasses import replace

from rocktune.errors import UserError
from rocktune.lsm import level0_size_bytes
from rocktune.space.configuration import Configuration, OptionMaps, Value
from rocktune.space.families import space_of_families
from rocktune.space.memory import FamilyEntries
from rocktune.space.rules import MIN_LEVEL0_TOLERANCE
from rocktune.space.space import Space
from rocktune.units import MIB

_MEMTABLE_KNOBS = ("write_buffer_size", "max_write_buffer_number", "min_write_buffer_number_to_merge")
_LEVEL1_KNOB = "max_bytes_for_level_base"


def fitted(space: Space, base_options: OptionMaps | None, families: tuple[FamilyEntries, ...]) -> Space:
    """Returns the space of the families, on the user's own options, with a default that fits the budget.

    Args:
        space: the space of one column family.
        base_options: the user's own options; None without them.
        families: the column families that get knobs of their own; none for a space of one.

    Raises:
        UserError: no configuration fits the budget, or the space cannot be that of several families.
    """
    if families:
        space = space_of_families(space, families)
    if base_options is None:
        return with_fitting_default(space)
    return with_fitting_memory(space.with_base_options(base_options))


def with_fitting_default(space: Space) -> Space:
    """Returns the space with defaults that fit its memory budget and keep its rules.

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

    If the defaults exceed the budget, memtables become smaller first and fewer next; the number that a flush
    merges is kept below the number of memtables. If level 0 is then not within a factor of 2 of level 1,
    level 1 gets the size of level 0, as rule 8 asks.

    Raises:
        UserError: no configuration fits the budget.
    """
    smaller = _smaller_memtables(space)
    # Defaults that fit stay untouched, even where level 1 differs from level 0 by the space's own choice.
    if smaller:
        space = _with_defaults(space, smaller)
        space = _with_defaults(space, _matching_level1(space))
    if not space.budget.suffices(space.columns([space.default()])).all():
        raise space.budget_too_small()
    return space


def fitting_configuration(space: Space, values: Mapping[str, Value]) -> Configuration:
    """Returns a configuration with these values that fits the memory budget and keeps the rules.

    Args:
        space: the space.
        values: values by knob name, which may exceed the memory budget but not the knobs' bounds; the other
            knobs have their defaults. What exceeds the budget is changed as `with_fitting_memory` does.

    Raises:
        UserError: nothing near the values fits the budget, or they break another rule.
    """
    return with_fitting_default(_with_defaults(space, values)).default()


def _with_defaults(space: Space, defaults: Mapping[str, Value]) -> Space:
    """Returns the space with other defaults for the knobs that `defaults` names."""
    return replace(
        space,
        knobs=tuple(replace(knob, default=defaults.get(knob.name, knob.default)) for knob in space.knobs),
    )


def _smaller_memtables(space: Space) -> dict[str, Value]:
    """Returns smaller defaults for the memtable knobs; empty if the present ones fit or the size is fixed.

    Column families with knobs of their own get equal parts of the budget.
    """
    values = {name: column.item() for name, column in space.columns([space.default()]).items()}
    budget = space.budget
    available = int(space.memory_bytes - budget.min_cache_bytes - float(budget.all_filter_bytes(values)))
    if float(budget.memtable_bytes(values)) <= available:
        return {}
    smaller: dict[str, Value] = {}
    for prefix, _ in budget.parts():
        smaller |= _smaller_memtables_of(space, prefix, values, available // len(budget.parts()))
    return smaller


def _smaller_memtables_of(
    space: Space, prefix: str, values: Mapping[str, Value], available: int
) -> dict[str, Value]:
    """Returns smaller defaults for the memtable knobs whose names begin with a prefix."""
    knobs = {knob.name: knob for knob in space.knobs}
    names = [prefix + name for name in _MEMTABLE_KNOBS]
    if names[0] not in knobs:
        return {}
    size, number, merged = (int(values[name]) for name in names)
    if number * size <= available:
        return {}
    min_bytes, min_number, min_merged = (
        int(knobs[name].low if name in knobs else values[name]) for name in names
    )
    # Whole MiB, because the spaces sample write buffers in such steps.
    buffer_bytes = max(available // number // MIB * MIB, min_bytes)
    buffers = max(min(number, available // buffer_bytes), min_number)
    # Rule 7: a flush must wait for fewer memtables than there may be.
    to_merge = max(min(merged, buffers - 1), min_merged)
    smaller = dict(zip(names, (buffer_bytes, buffers, to_merge), strict=True))
    return {name: value for name, value in smaller.items() if name in knobs}


def _matching_level1(space: Space) -> dict[str, Value]:
    """Returns level 0's size as level 1's default where they differ by more than rule 8 allows."""
    values = {name: column.item() for name, column in space.columns([space.default()]).items()}
    matching: dict[str, Value] = {}
    for knob in space.knobs:
        if knob.plain_name != _LEVEL1_KNOB:
            continue
        prefix = knob.name.removesuffix(_LEVEL1_KNOB)
        level0_bytes = int(
            level0_size_bytes(
                values[f"{prefix}level0_file_num_compaction_trigger"],
                values[f"{prefix}min_write_buffer_number_to_merge"],
                values[f"{prefix}write_buffer_size"],
            )
        )
        # Rule 8 accepts this ratio, so a default within it need not change.
        ratio = values[knob.name] / level0_bytes
        if not 1 / MIN_LEVEL0_TOLERANCE <= ratio <= MIN_LEVEL0_TOLERANCE:
            matching[knob.name] = knob.narrowed(default=level0_bytes).default
    return matching
