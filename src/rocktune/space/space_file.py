"""Space presets, and spaces from TOML files that change a preset.

base = "dremel"                     # the preset whose knobs, fixed options and rules are changed
memory = "2GiB"                     # the memory budget; the command line's takes precedence
level0_size_tolerance = 3.0         # the tolerance of rule 8

[knobs.write_buffer_size]           # new bounds for a knob of the base, or a new knob of the catalogue
low = "16MiB"
high = "256MiB"

[knobs.max_subcompactions]
choices = [1, 2, 4]

[knobs.bottommost_compression]      # an option without a catalogue entry
section = "cf"
choices = ["kLZ4Compression", "kZSTD"]

[fixed]                             # options with one value, which are not tuned
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
from rocktune.space.fitting import fitted
from rocktune.space.flsm import FLSM_MEMORY_BYTES, flsm_space
from rocktune.space.jia_chen import JIA_CHEN_MEMORY_BYTES, jia_chen_space
from rocktune.space.knob import ActsOn, Knob, Section
from rocktune.space.memory import FamilyEntries
from rocktune.space.options import SECTIONS, merged_options
from rocktune.space.rules import MemoryBudgetKept
from rocktune.space.space import Space
from rocktune.spec_file import Spec, Switch, is_file_name, read_toml, validated
from rocktune.units import parse_bytes


@dataclass(frozen=True)
class _Preset:
    """A space preset: its constructor, and the memory budget of its paper in bytes."""

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
    """A file's table for one knob; the attributes are those of `rocktune.space.Knob`.

    `section`, `unit`, `effect` and `acts_on` are allowed only for options without a catalogue entry.
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


class SpaceFile(Spec):
    """A space file. The module's docstring shows an example."""

    base: str = "dremel"
    summary: str = ""
    memory: int | str | None = None
    level0_size_tolerance: float | None = None
    knobs: dict[str, KnobTable] = Field(default_factory=dict)
    fixed: dict[str, Value | dict[str, Value]] = Field(default_factory=dict)


def space_names() -> dict[str, str]:
    """Returns the presets' names, each with a description in one line."""
    return {name: preset.make(preset.memory_bytes, 0).summary for name, preset in _PRESETS.items()}


def load_space(name_or_path: str, memory_bytes: int | None, expected_entries: float) -> Space:
    """Returns a preset by its name, or the space that a TOML file describes.

    Args:
        name_or_path: a preset's name, or a file name, which ends in .toml or contains a slash.
        memory_bytes: the memory budget at full size. None means the file's budget, or that of the preset's
            paper if the file has none.
        expected_entries: distinct keys in the store by the end of a full-length run, at full size.

    Returns:
        A space whose default configuration is valid.

    Raises:
        UserError: there is no such preset; the file is missing or invalid; or the budget is too small.
    """
    return space_from_document(space_document(name_or_path), memory_bytes, expected_entries)


def space_document(name_or_path: str) -> dict[str, Any]:
    """Returns the preset's name or the file's contents as plain data, which a study stores in the ledger.

    Raises:
        UserError: there is no such preset, or the file is missing or not TOML.
    """
    if name_or_path in _PRESETS:
        return {"name": name_or_path}
    if not is_file_name(name_or_path):
        raise unknown_name("space", name_or_path, _PRESETS)
    # The contents, not only the path: a study that is resumed must not depend on a file that has changed.
    path = Path(name_or_path)
    return {"name": name_or_path, "file": read_toml(path)}


def space_from_document(
    document: Mapping[str, Any],
    memory_bytes: int | None,
    expected_entries: float,
    base_options: OptionMaps | None = None,
    families: tuple[FamilyEntries, ...] = (),
) -> Space:
    """Returns the space that a document describes.

    Args:
        document: a document that `space_document` returned.
        memory_bytes: the memory budget at full size; None as in `load_space`.
        expected_entries: distinct keys in the store by the end of a full-length run, at full size.
        base_options: the user's own options, which replace fixed ones (`Space.with_base_options`). The
            space's default then fits the memory budget, but may break another rule together with these.
        families: the column families that get knobs of their own; none for a space of one family.

    Raises:
        UserError: the file's contents are invalid, the budget is too small, or the space cannot be that of
            several families.
    """
    where = str(document["name"])
    if "file" not in document:
        preset = _PRESETS[where]
        memory_bytes = preset.memory_bytes if memory_bytes is None else memory_bytes
        return fitted(preset.make(memory_bytes, expected_entries), base_options, families)
    file = validated(SpaceFile, document["file"], where)
    try:
        changed = _changed(_base(file, memory_bytes, expected_entries), file, Path(where).stem)
        return fitted(changed, base_options, families)
    except UserError as error:
        raise UserError(f"{where}: {error}") from None


def _base(file: SpaceFile, memory_bytes: int | None, expected_entries: float) -> Space:
    """Returns the preset that a file is based on, with the file's memory budget and tolerance."""
    if file.base not in _PRESETS:
        raise unknown_name("base space", file.base, _PRESETS)
    preset = _PRESETS[file.base]
    if memory_bytes is None:
        memory_bytes = preset.memory_bytes if file.memory is None else parse_bytes(file.memory, "memory")
    if file.level0_size_tolerance is None:
        return preset.make(memory_bytes, expected_entries)
    if file.base != "dremel":
        raise UserError(
            f"level0_size_tolerance: belongs to a rule of space 'dremel', not of '{file.base}'; leave it out"
        )
    return dremel_space(memory_bytes, expected_entries, file.level0_size_tolerance)


def _changed(base: Space, file: SpaceFile, name: str) -> Space:
    """Returns the base with a file's knobs and fixed options, under a new name."""
    knobs = {knob.name: knob for knob in base.knobs}
    for knob_name, table in file.knobs.items():
        knobs[knob_name] = _knob(knob_name, table, knobs.get(knob_name))
    fixed = _fixed_options(file.fixed, {knob.name: knob for knob in base.knobs})
    active = tuple(knob for knob in knobs.values() if knob.option_name not in fixed.get(knob.section, {}))
    if not active:
        raise UserError("every knob is fixed, so there is nothing to tune; remove some from [fixed]")
    space = replace(
        base,
        name=name,
        summary=file.summary or f"{file.base}, changed by a file ({len(active)} knobs)",
        knobs=active,
        fixed_options=merged_options(base.fixed_options, fixed),
    )
    # The file may have made this the space of an FLSM store, whose filters have another knob.
    memory = MemoryBudgetKept(space.budget)
    return replace(
        space, rules=tuple(memory if rule.number == memory.number else rule for rule in base.rules)
    )


def _limits(name: str, present: Knob | None) -> Knob:
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


def _knob(name: str, table: KnobTable, present: Knob | None) -> Knob:
    """Returns a knob with a file's changes: the base's, the catalogue's, or a new one of the file's section.

    Raises:
        UserError: the option is unknown, or the file changes a known attribute or gives invalid values.
    """
    if table.section is not None and name not in CATALOGUE:
        return _new_knob(name, table.section, table)
    for field in ("section", "unit", "effect", "acts_on"):
        if getattr(table, field) is not None:
            if name in CATALOGUE:
                raise UserError(f"knobs.{name}: {field} is known and cannot be changed; leave it out")
            raise UserError(
                f"{unknown_name('option', name, [*CATALOGUE])} (for an option of your own, add section)"
            )
    limits = _limits(name, present)
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
    changes |= {name: _value(bound, limits) for name, bound in bounds.items()}
    changes["choices"] = (
        () if bounds else tuple(_value(each, limits) for each in table.choices) or knob.choices
    )
    if table.default is not None:
        changes["default"] = _value(table.default, limits)
        # `narrowed` would silently move a default that is out of bounds; the user's own is refused instead.
        replace(knob, **changes).check(changes["default"])
    return knob.narrowed(**changes)


def _value(written: Value, limits: Knob) -> Value:
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
        # The cautious answers for an option that rocktune knows nothing about.
        acts_on=table.acts_on or "all_files",
        live_change="reopen",
    )
    return knob.narrowed(**({} if table.default is None else {"default": _value(table.default, knob)}))


def _fixed_options(fixed: Mapping[str, Value | dict[str, Value]], base: Mapping[str, Knob]) -> OptionMaps:
    """Returns the options that a file fixes, by section.

    Args:
        fixed: values by knob name, and tables of any options by section.
        base: knobs of the base by name.

    Raises:
        UserError: a name is unknown, a value is invalid, or an option belongs to the workload.
    """
    result: OptionMaps = {section: {} for section in SECTIONS}
    for name, value in fixed.items():
        if isinstance(value, dict):
            if name not in SECTIONS:
                raise unknown_name("section of options", name, SECTIONS)
            result[name] |= {option: _text(written) for option, written in value.items()}
        else:
            knob = _limits(name, base.get(name))
            if knob.section == "workload":
                raise UserError(
                    f"{name}: belongs to the workload; write [knobs.{name}] choices = [{value}] instead"
                )
            result.setdefault(knob.section, {})[knob.option_name] = knob.text(_value(value, knob))
    return result


def _text(value: Value) -> str:
    """Returns a TOML value as the text that RocksDB parses."""
    return str(value).lower() if isinstance(value, bool) else str(value)
