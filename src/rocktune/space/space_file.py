"""Spaces as users write them: a preset, narrowed or widened by a TOML file.

base = "dremel"                     # the preset whose knobs, fixed options and rules are the start
memory = "2GiB"                     # unless the command line says otherwise
level0_size_tolerance = 3.0         # rule 8's

[knobs.write_buffer_size]           # other bounds for a knob of the base, or a knob that is added
low = "16MiB"
high = "256MiB"

[knobs.max_subcompactions]
choices = [1, 2, 4]

[knobs.bottommost_compression]      # an option that rocktune has no catalogue entry for
section = "cf"
choices = ["kLZ4Compression", "kZSTD"]

[fixed]                             # no longer tuned, or pinned by the user
num_levels = 7
cf.periodic_compaction_seconds = 0  # any RocksDB option, by section
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

from pydantic import Field

from rocktune.errors import UserError, unknown_name
from rocktune.lsm import STATIC_POLICIES
from rocktune.space.alabed import ALABED_MEMORY_BYTES, alabed_space
from rocktune.space.catalogue import CATALOGUE, DERIVED
from rocktune.space.configuration import OptionMaps, Value
from rocktune.space.dremel import DREMEL_MEMORY_BYTES, dremel_space
from rocktune.space.fitting import with_fitting_default, with_fitting_memory
from rocktune.space.flsm import FLSM_MEMORY_BYTES, flsm_space
from rocktune.space.jia_chen import JIA_CHEN_MEMORY_BYTES, jia_chen_space
from rocktune.space.knob import ActsOn, Knob, Section
from rocktune.space.options import SECTIONS, merged_options
from rocktune.space.rules import MemoryBudgetKept
from rocktune.space.space import Space
from rocktune.spec_file import Spec, Switch, is_file_name, read_toml, validated
from rocktune.units import parse_bytes


@dataclass(frozen=True)
class _Preset:
    make: Callable[..., Space]
    memory_bytes: int


_PRESETS = {
    "dremel": _Preset(dremel_space, DREMEL_MEMORY_BYTES),
    "jia-chen": _Preset(jia_chen_space, JIA_CHEN_MEMORY_BYTES),
    "alabed": _Preset(alabed_space, ALABED_MEMORY_BYTES),
    "flsm": _Preset(flsm_space, FLSM_MEMORY_BYTES),
    **{
        f"flsm-{policies}": _Preset(partial(flsm_space, policies=policies), FLSM_MEMORY_BYTES)
        for policies in STATIC_POLICIES[1:]
    },
}


class KnobTable(Spec):
    """What a file says of one knob; section, unit, effect and acts_on are for uncatalogued options."""

    low: int | float | str | None = None
    high: int | float | str | None = None
    choices: tuple[Value, ...] = ()
    default: Value | None = None
    log: Switch | None = None
    section: Section | None = None
    unit: str | None = None
    effect: str | None = None
    acts_on: ActsOn | None = None


class SpaceFile(Spec):
    """A space file; see the module."""

    base: str = "dremel"
    summary: str = ""
    memory: int | str | None = None
    level0_size_tolerance: float | None = None
    knobs: dict[str, KnobTable] = Field(default_factory=dict)
    fixed: dict[str, Value | dict[str, Value]] = Field(default_factory=dict)


def space_names() -> dict[str, str]:
    """Returns the presets' names, each with what it is in one line."""
    return {name: preset.make(preset.memory_bytes, 0).summary for name, preset in _PRESETS.items()}


def load_space(name_or_path: str, memory_bytes: int | None, expected_entries: float) -> Space:
    """Returns a preset by its name, or the space that a TOML file describes.

    Args:
        name_or_path: a preset's name, or a file (it ends in .toml or has a directory in it).
        memory_bytes: the memory budget at full size; None takes the file's, or that of the preset's paper.
        expected_entries: distinct keys in the store by the end of a full-length run, at full size.

    Returns:
        A space whose default configuration is valid.

    Raises:
        UserError: there is no such preset; the file is missing, malformed or wrong; the budget is too small.
    """
    return space_from_document(space_document(name_or_path), memory_bytes, expected_entries)


def space_document(name_or_path: str) -> dict[str, Any]:
    """Returns what `load_space` would make the space from, as plain data that a study can keep.

    Raises:
        UserError: as `load_space`.
    """
    if name_or_path in _PRESETS:
        return {"name": name_or_path}
    if not is_file_name(name_or_path):
        raise unknown_name("space", name_or_path, _PRESETS)
    path = Path(name_or_path)
    return {"name": name_or_path, "file": read_toml(path)}


def space_from_document(
    document: Mapping[str, Any],
    memory_bytes: int | None,
    expected_entries: float,
    base_options: OptionMaps | None = None,
) -> Space:
    """Makes a space from what `space_document` returned.

    Args:
        document: see there.
        memory_bytes: see `load_space`.
        expected_entries: see `load_space`.
        base_options: the user's own options, over which the space is laid; see `Space.over`. Its defaults
            then fit the memory budget, and may break another rule because of what the user's options are.

    Raises:
        UserError: as `load_space`.
    """
    where = str(document["name"])
    if "file" not in document:
        preset = _PRESETS[where]
        memory_bytes = preset.memory_bytes if memory_bytes is None else memory_bytes
        return _fitted(preset.make(memory_bytes, expected_entries), base_options)
    file = validated(SpaceFile, document["file"], where)
    try:
        changed = _changed(_base(file, memory_bytes, expected_entries), file, Path(where).stem)
        return _fitted(changed, base_options)
    except UserError as error:
        raise UserError(f"{where}: {error}") from None


def _fitted(space: Space, base_options: OptionMaps | None) -> Space:
    if base_options is None:
        return with_fitting_default(space)
    return with_fitting_memory(space.over(base_options))


def _base(file: SpaceFile, memory_bytes: int | None, expected_entries: float) -> Space:
    if file.base not in _PRESETS:
        raise unknown_name("base space", file.base, _PRESETS)
    preset = _PRESETS[file.base]
    if memory_bytes is None:
        memory_bytes = preset.memory_bytes if file.memory is None else parse_bytes(file.memory, "memory")
    if file.level0_size_tolerance is None:
        return preset.make(memory_bytes, expected_entries)
    if file.base != "dremel":
        raise UserError(
            f"level0_size_tolerance: is a rule of space 'dremel', not of '{file.base}'; leave it out"
        )
    return dremel_space(memory_bytes, expected_entries, file.level0_size_tolerance)


def _changed(base: Space, file: SpaceFile, name: str) -> Space:
    knobs = {knob.name: knob for knob in base.knobs}
    for knob_name, table in file.knobs.items():
        knobs[knob_name] = _knob(knob_name, table, knobs.get(knob_name))
    fixed = _fixed_options(file.fixed, {knob.name: knob for knob in base.knobs})
    active = tuple(knob for knob in knobs.values() if knob.option_name not in fixed.get(knob.section, {}))
    if not active:
        raise UserError("every knob is fixed: nothing is left to tune")
    space = replace(
        base,
        name=name,
        summary=file.summary or f"{file.base}, changed by a file ({len(active)} knobs)",
        knobs=active,
        fixed_options=merged_options(base.fixed_options, fixed),
    )
    # What filters take is said elsewhere where the file has made it the space of an FLSM store.
    memory = MemoryBudgetKept(space.budget)
    return replace(
        space, rules=tuple(memory if rule.number == memory.number else rule for rule in base.rules)
    )


def _known(name: str, present: Knob | None) -> Knob:
    """Returns what an option takes at all: its catalogue entry, or a knob of the base that has none."""
    if present is not None:
        return CATALOGUE.get(name, present)
    if name in DERIVED:
        raise UserError(f"{name} cannot be set: {DERIVED[name]}")
    if name not in CATALOGUE:
        raise unknown_name("option", name, [*CATALOGUE])
    return CATALOGUE[name]


def _knob(name: str, table: KnobTable, present: Knob | None) -> Knob:
    """Returns a knob with a file's changes: of the base, of the catalogue, or new by its section."""
    if table.section is not None and name not in CATALOGUE:
        return _new_knob(name, table.section, table)
    for field in ("section", "unit", "effect", "acts_on"):
        if getattr(table, field) is not None:
            if name in CATALOGUE:
                raise UserError(f"knobs.{name}: {field} is known and cannot be changed")
            raise UserError(
                f"{unknown_name('option', name, [*CATALOGUE])} (for an option of your own, add section)"
            )
    known = _known(name, present)
    return _with_range(present or known, known, table)


def _with_range(knob: Knob, known: Knob, table: KnobTable) -> Knob:
    """Applies a file's bounds or choices and default, all of which `known` must accept."""
    changes: dict[str, Any] = {} if table.log is None else {"log": table.log}
    bounds = {name: given for name in ("low", "high") if (given := getattr(table, name)) is not None}
    if table.choices and bounds:
        raise UserError(f"knobs.{knob.name}: give either choices or bounds")
    if bounds and knob.choices and len(bounds) < 2:
        raise UserError(f"knobs.{knob.name}: it has choices so far; give both low and high, or other choices")
    changes |= {name: _value(given, known) for name, given in bounds.items()}
    changes["choices"] = (
        () if bounds else tuple(_value(each, known) for each in table.choices) or knob.choices
    )
    if table.default is not None:
        changes["default"] = _value(table.default, known)
        replace(knob, **changes).check(changes["default"])
    return knob.narrowed(**changes)


def _value(given: Value, known: Knob) -> Value:
    """Reads a value that a file gives and checks it against what the option takes at all."""
    example = known.choices[0] if known.choices else known.low
    value = known.parse(given) if isinstance(given, str) and not isinstance(example, str) else given
    if isinstance(example, float) and type(value) is int:
        value = float(value)
    known.check(value)
    return value


def _new_knob(name: str, section: Section, table: KnobTable) -> Knob:
    """Returns a knob for an option without a catalogue entry; a size among them does not scale."""
    if not table.choices and (table.low is None or table.high is None):
        raise UserError(f"knobs.{name}: give low and high, or choices")
    if len({type(choice) for choice in table.choices}) > 1:
        raise UserError(f"knobs.{name}: choices are of different types")
    low, high = (
        parse_bytes(bound, name) if isinstance(bound, str) else bound or 0
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
        acts_on=table.acts_on or "all_files",
        live_change="reopen",
    )
    return knob.narrowed(**({} if table.default is None else {"default": _value(table.default, knob)}))


def _fixed_options(fixed: Mapping[str, Value | dict[str, Value]], base: Mapping[str, Knob]) -> OptionMaps:
    """Returns the options that a file pins: catalogue names, and any option under its section."""
    result: OptionMaps = {section: {} for section in SECTIONS}
    for name, value in fixed.items():
        if isinstance(value, dict):
            if name not in SECTIONS:
                raise unknown_name("section of options", name, SECTIONS)
            result[name] |= {option: _text(given) for option, given in value.items()}
        else:
            knob = _known(name, base.get(name))
            if knob.section == "workload":
                raise UserError(f"{name} is the {knob.section}'s: write [knobs.{name}] choices = [{value}]")
            result.setdefault(knob.section, {})[knob.option_name] = knob.text(_value(value, knob))
    return result


def _text(value: Value) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)
