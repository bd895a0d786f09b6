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

[knobs.min_write_buffer_number_to_merge]
when = { max_write_buffer_number = [4, 6, 8] }  # a knob only with these values of another

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
from rocktune.space.conditions import resolved
from rocktune.space.configuration import OptionMaps, Value
from rocktune.space.dremel import DREMEL_MEMORY_BYTES, dremel_space
from rocktune.space.file_knobs import KnobTable, conditions_of, knob_of, value_of, widest
from rocktune.space.fitting import fitted
from rocktune.space.flsm import FLSM_MEMORY_BYTES, flsm_space
from rocktune.space.full import FULL_MEMORY_BYTES, full_space
from rocktune.space.jia_chen import JIA_CHEN_MEMORY_BYTES, jia_chen_space
from rocktune.space.knob import Knob
from rocktune.space.left_out import without
from rocktune.space.memory import FamilyEntries
from rocktune.space.options import SECTIONS, knob_values, merged_options
from rocktune.space.rules import MemoryBudgetKept
from rocktune.space.space import Space
from rocktune.spec_file import Spec, is_file_name, read_toml, validated
from rocktune.units import parse_bytes


@dataclass(frozen=True)
class _Preset:
    """A space preset: its constructor, and the memory budget of its paper in bytes."""

    make: Callable[..., Space]
    memory_bytes: int


_PRESETS = {
    "dremel": _Preset(dremel_space, DREMEL_MEMORY_BYTES),
    "jia-chen": _Preset(jia_chen_space, JIA_CHEN_MEMORY_BYTES),
    "full": _Preset(full_space, FULL_MEMORY_BYTES),
    "alabed": _Preset(alabed_space, ALABED_MEMORY_BYTES),
    "flsm": _Preset(flsm_space, FLSM_MEMORY_BYTES),
    **{
        f"flsm-{policies}": _Preset(partial(flsm_space, policies=policies), FLSM_MEMORY_BYTES)
        for policies in STATIC_POLICIES[1:]
    },
}


_DELETES = "deletes"
"""Field of a document whose space is that of a workload that deletes."""


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


def with_deletes(document: Mapping[str, Any]) -> dict[str, Any]:
    """Returns the document of the same space for a workload that deletes; `full` then has further knobs."""
    base = validated(SpaceFile, document["file"], str(document["name"])).base if "file" in document else None
    return {**document, _DELETES: True} if (base or document["name"]) == "full" else dict(document)


def _preset(name: str, deletes: bool) -> _Preset:
    """Returns a preset, for a workload that deletes or for one that does not."""
    preset = _PRESETS[name]
    return replace(preset, make=partial(preset.make, deletes=True)) if deletes else preset


def space_from_document(
    document: Mapping[str, Any],
    memory_bytes: int | None,
    expected_entries: float,
    base_options: OptionMaps | None = None,
    families: tuple[FamilyEntries, ...] = (),
) -> Space:
    """Returns the space that a document describes.

    Args:
        document: a document that `space_document` or `with_deletes` returned. It may name knobs and words to
            leave out, by "left_out" (`rocktune.space.left_out`).
        memory_bytes: the memory budget at full size; None as in `load_space`.
        expected_entries: distinct keys in the store by the end of a full-length run, at full size.
        base_options: the user's own options, which replace fixed ones (`Space.with_base_options`). The
            space's default then fits the memory budget, but may break another rule together with these.
        families: the column families that get knobs of their own; none for a space of one family.

    Raises:
        UserError: the file's contents are invalid, the budget is too small, or the space cannot be that of
            several families.
    """
    where, left_out = str(document["name"]), document.get("left_out", {})
    deletes = bool(document.get(_DELETES))
    if "file" not in document:
        preset = _preset(where, deletes)
        memory_bytes = preset.memory_bytes if memory_bytes is None else memory_bytes
        space = without(preset.make(memory_bytes, expected_entries), left_out)
        return fitted(space, base_options, families)
    file = validated(SpaceFile, document["file"], where)
    try:
        changed = _changed(_base(file, memory_bytes, expected_entries, deletes), file, Path(where).stem)
        return fitted(without(changed, left_out), base_options, families)
    except UserError as error:
        raise UserError(f"{where}: {error}") from None


def _base(file: SpaceFile, memory_bytes: int | None, expected_entries: float, deletes: bool) -> Space:
    """Returns the preset that a file is based on, with the file's memory budget and tolerance."""
    if file.base not in _PRESETS:
        raise unknown_name("base space", file.base, _PRESETS)
    preset = _preset(file.base, deletes)
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
    present = {knob.name: knob for knob in base.knobs}
    knobs = present | {name: knob_of(name, table, present.get(name)) for name, table in file.knobs.items()}
    for knob_name, table in file.knobs.items():
        if table.when or table.unless:
            conditions = conditions_of(knob_name, table, knobs)
            knobs[knob_name] = replace(knobs[knob_name], when=conditions)
    fixed = _fixed_options(file.fixed, present, base.fixed_options)
    gone = [knob for knob in knobs.values() if _is_fixed(knob, file.fixed)]
    active = resolved([knob for knob in knobs.values() if knob not in gone], knob_values(fixed, gone))
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


def _is_fixed(knob: Knob, fixed: Mapping[str, Value | dict[str, Value]]) -> bool:
    """Returns whether a file fixes a knob, by the knob's name or by that of its option."""
    section = fixed.get(knob.section)
    if not isinstance(section, dict) or knob.option_name not in section:
        return knob.name in fixed
    return knob.decides(_text(section[knob.option_name]))


def _fixed_options(
    fixed: Mapping[str, Value | dict[str, Value]], base: Mapping[str, Knob], base_fixed: OptionMaps
) -> OptionMaps:
    """Returns the options that a file fixes, by section.

    Args:
        fixed: values by knob name, and tables of any options by section.
        base: knobs of the base by name.
        base_fixed: fixed options of the base. What a knob's value shares an option with is kept of them.

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
            knob = widest(name, base.get(name))
            if knob.section == "workload":
                raise UserError(
                    f"{name}: belongs to the workload; write [knobs.{name}] choices = [{value}] instead"
                )
            section, option = result.setdefault(knob.section, {}), knob.option_name
            present = section.get(option, base_fixed.get(knob.section, {}).get(option))
            section[option] = base.get(name, knob).text(value_of(value, knob), present)
    return result


def _text(value: Value) -> str:
    """Returns a TOML value as the text that RocksDB parses."""
    return str(value).lower() if isinstance(value, bool) else str(value)
