"""Compares a database's present options with what a new file makes of them."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace

from rocktune.deploy.plan import PlanNote
from rocktune.errors import unknown_name
from rocktune.importing import (
    AccountEntry,
    Fate,
    ImportedOptions,
    LinkedRocksDb,
    OptionsDocument,
    OptionsFileError,
    imported,
)
from rocktune.importing.document import Family, Option
from rocktune.space import OptionMaps, family_section
from rocktune.space.options import SECTIONS

Place = tuple[str, str, str]
"""Section ("db", "cf" or "table"), column family ("" in "db") and name of an option."""
_NOT_READ = (Fate.OVERRIDDEN, Fate.FOREIGN)
"""Fates of options that the database has and that no RocksDB has parsed for us: their texts are compared."""
_LOST = (Fate.UNKNOWN, Fate.WITHOUT_EFFECT)


@dataclass(frozen=True)
class Differences:
    """What a new file changes.

    Attributes:
        values: value before (empty if not known) and after, of each option that differs.
        wanted: value of each option that the new file names or changes, as RocksDB writes it; without those
            that only the application can read, such as its own filter policy.
        present: all present options of the database and of the families that the new file names, by section;
            without those whose classes only the application has.
        why: what RocksDB or rocktune says of a value, where it is another one than the file's.
        left_out: options of the new file that have no effect on this RocksDB.
    """

    values: Mapping[Place, tuple[str, str]]
    wanted: Mapping[Place, str]
    present: OptionMaps
    why: Mapping[Place, str]
    left_out: tuple[PlanNote, ...]


def merged_document(present: OptionsDocument, wanted: OptionsDocument) -> OptionsDocument:
    """Returns the present options with those of a new file in their place.

    Raises:
        OptionsFileError: the new file has a column family that the database lacks.
    """
    families = {family.name: family for family in present.families}
    for family in wanted.families:
        if family.name not in families:
            unknown = unknown_name("column family", family.name, families)
            raise OptionsFileError(f"options file {wanted.path}, line {family.line}: {unknown}")
        families[family.name] = _merged_family(families[family.name], family)
    return replace(
        present,
        path=wanted.path,
        by_rocksdb=False,
        db=_merged(present.db, wanted.db),
        families=tuple(families.values()),
        unknown_sections=wanted.unknown_sections,
        left_out=wanted.left_out,
        notes=wanted.notes,
    )


def _merged_family(present: Family, wanted: Family) -> Family:
    return replace(
        present,
        options=_merged(present.options, wanted.options),
        table=_merged(present.table, wanted.table),
        table_format=wanted.table_format or present.table_format,
    )


def _merged(present: tuple[Option, ...], wanted: tuple[Option, ...]) -> tuple[Option, ...]:
    """Returns the new options, and the present ones that they leave out."""
    named = {option.name for option in wanted}
    return wanted + tuple(option for option in present if option.name not in named)


def differences_of(
    present: OptionsDocument, merged: OptionsDocument, wanted: OptionsDocument, linked: LinkedRocksDb
) -> Differences:
    """Returns what a new file changes.

    Args:
        present: the database's OPTIONS file.
        merged: the result of `merged_document`.
        wanted: the new file.
        linked: the RocksDB that reads both.

    Raises:
        OptionsFileError: a value of the new file cannot be honoured.
    """
    found = _Found()
    present_maps: OptionMaps = {}
    for family in wanted.families or present.families[:1]:
        before = imported(present, linked, family.name, application_measures=True)
        after = imported(merged, linked, family.name, application_measures=True)
        # RocksDB alone cannot open a database with classes that only the application has.
        foreign = {(entry.section, entry.name) for entry in before.account.with_fate(Fate.FOREIGN)}
        for section in SECTIONS:  # other families have sections of their own
            present_maps[section if section == "db" else family_section(section, family.name)] = {
                name: text
                for name, text in before.options.get(section, {}).items()
                if (section, name) not in foreign
            }
        changed = dict(_changed_values(before, after, family.name))
        found.values |= changed
        found.wanted |= {place: value for place, (_, value) in changed.items()}
        texts, named = _texts(present, family.name), _texts(wanted, family.name)
        for entry in after.account.entries:
            if entry.section not in SECTIONS:
                found.leave_out((entry.section, "", entry.name), entry)
                continue
            if entry.section != "db" and entry.family != family.name:
                continue  # it comes with its own family
            place = (entry.section, "" if entry.section == "db" else family.name, entry.name)
            if place in named:
                found.add(place, entry, after, texts.get(place, ""))
            elif entry.fate in _LOST and (*place[:2], entry.name.partition(".")[0]) in named:
                found.leave_out(place, entry)  # a setting inside an option's braces
            elif entry.fate is Fate.ADJUSTED and place in texts and entry not in before.account.entries:
                # A present option that RocksDB corrects because of the new ones.
                found.values[place] = (texts[place], entry.value)
                found.why[place] = _reason(entry)
    values = {place: (old, new) for place, (old, new) in found.values.items() if old != new}
    return Differences(values, found.wanted, present_maps, found.why, tuple(found.left_out.values()))


@dataclass
class _Found:
    """The parts of `Differences` that were found so far."""

    values: dict[Place, tuple[str, str]] = field(default_factory=dict)
    wanted: dict[Place, str] = field(default_factory=dict)
    why: dict[Place, str] = field(default_factory=dict)
    left_out: dict[Place, PlanNote] = field(default_factory=dict)

    def add(self, place: Place, entry: AccountEntry, after: ImportedOptions, present: str) -> None:
        """Takes an entry of the new file.

        Args:
            place: its place.
            entry: what became of it.
            after: the options with the new file's in place.
            present: the option's text in the database's OPTIONS file; empty if it has none.
        """
        if entry.fate in _LOST:
            self.leave_out(place, entry)
        elif entry.fate in _NOT_READ:
            self.wanted.pop(place, None)  # what stands in for it is not the application's
            if present != entry.given:
                self.values[place] = (present, entry.given)
        else:
            target, value = _read(entry, after, place)
            self.wanted[target] = value
            if entry.fate is not Fate.USED:
                self.why[target] = _reason(entry)
            if entry.fate is Fate.ADJUSTED and target in self.values:
                self.values[target] = (self.values[target][0], value)

    def leave_out(self, place: Place, entry: AccountEntry) -> None:
        """Notes an entry of the new file that has no effect."""
        where = " ".join(filter(None, place[:2]))
        self.left_out[place] = PlanNote(where=where, name=entry.name, given=entry.given, why=entry.why)


def _texts(document: OptionsDocument, family: str) -> dict[Place, str]:
    """Returns the texts of a file's options."""
    found = {("db", "", option.name): option.text for option in document.db}
    for each in document.families:
        if each.name == family:
            found |= {("cf", family, option.name): option.text for option in each.options}
            found |= {("table", family, option.name): option.text for option in each.table}
    return found


def _changed_values(
    before: ImportedOptions, after: ImportedOptions, family: str
) -> Iterator[tuple[Place, tuple[str, str]]]:
    """Yields the options of the database and of one family that RocksDB reads as other values."""
    for section in SECTIONS:  # other families have sections of their own
        for name, text in after.options[section].items():
            old = before.options.get(section, {}).get(name, "")
            if old != text:
                yield (section, "" if section == "db" else family, name), (old, text)


def _read(entry: AccountEntry, after: ImportedOptions, place: Place) -> tuple[Place, str]:
    """Returns the option that an entry of the file sets, and its value as RocksDB has it."""
    section, family, name = place
    renamed, equals, _ = entry.value.partition("=")
    if entry.fate is Fate.TRANSLATED and equals and renamed in after.options.get(section, {}):
        name = renamed
    value = after.options.get(section, {}).get(name, entry.given)
    if entry.fate is Fate.ADJUSTED and entry.value and name == entry.name:
        value = entry.value
    return (section, family, name), value


def _reason(entry: AccountEntry) -> str:
    """Returns why an option has another value than the file's."""
    return entry.why or f"RocksDB makes {entry.value} of {entry.given}"
