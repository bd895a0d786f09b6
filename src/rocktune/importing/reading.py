"""Reading an OPTIONS file for measuring: one family's options, and what became of every option."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from rocktune.importing.checking import checked
from rocktune.importing.decisions import Decision, decisions_of
from rocktune.importing.document import Family, Option, OptionsDocument, SubOption
from rocktune.importing.examination import LinkedRocksDb
from rocktune.importing.families import chosen_family
from rocktune.importing.left_out import changed_defaults, note_of
from rocktune.importing.notes import notes_of
from rocktune.importing.syntax import read_options_document
from rocktune.importing.values import walked
from rocktune.options_account import AccountEntry, Fate, OptionsAccount
from rocktune.space import OptionMaps, family_section


@dataclass(frozen=True)
class ImportedOptions:
    """The result of reading an OPTIONS file for one column family.

    Attributes:
        options: every option of the tuned family with its value, at full size; `block_cache` only if the
            file has one. Other families have sections such as "cf:NAME": those that are loaded too with all
            their options, the rest with what the file says, as it stands.
        block_caches: the text of each family's block cache, by family; families without one are left out.
        account: the fate of each option of the file.
        shared_cache: True if the file's system gives all column families one block cache.
    """

    options: OptionMaps
    block_caches: Mapping[str, str]
    account: OptionsAccount
    shared_cache: bool = False

    @property
    def family(self) -> str:
        """The column family that is tuned; empty if all loaded ones are tuned together."""
        return self.account.family

    @property
    def other_families(self) -> tuple[str, ...]:
        """The column families of the file that are not measured."""
        return self.account.other_families


def import_options(
    path: Path,
    linked: LinkedRocksDb,
    family: str | None = None,
    application_measures: bool = False,
    loaded: Sequence[str] = (),
) -> ImportedOptions:
    """Reads an OPTIONS file of any RocksDB version, or one that a person wrote.

    Args:
        path: the file.
        linked: the RocksDB that will measure.
        family: the column family to tune; None if the file has only one, or to tune all of `loaded`.
        application_measures: the user's own program measures, with the classes that only it has.
        loaded: the column families that the workload loads; none for a workload on one family.

    Raises:
        OptionsFileError: the file cannot be read or is none, is cut short, has several families and no choice
            is made, or has a value that cannot be honoured safely.
    """
    return imported(read_options_document(path), linked, family, application_measures, loaded)


def imported(
    document: OptionsDocument,
    linked: LinkedRocksDb,
    family: str | None = None,
    application_measures: bool = False,
    loaded: Sequence[str] = (),
) -> ImportedOptions:
    """Returns what a parsed OPTIONS file comes to; see `import_options`.

    Raises:
        OptionsFileError: see `import_options`.
    """
    together = family is None and len(loaded) > 0
    tuned = chosen_family(document, loaded[0] if together else family)
    others = [chosen_family(document, name) for name in loaded if name != tuned.name]
    decisions: dict[str, list[Decision]] = {}
    options: OptionMaps = {}
    for each in (tuned, *others):
        decisions[each.name] = decisions_of(document, each, linked)
        read = checked(decisions[each.name], document, each, linked)
        options |= _own_sections(read, each.name) if together or each is not tuned else read
        # The database's options are in each family's answer; the first one's count.
        options.setdefault("db", read["db"])
    for other in _unread(document, decisions):
        options |= _own_sections(_as_it_stands(other), other.name)
    changed = changed_defaults(decisions[tuned.name], document, linked)
    account = OptionsAccount(
        file_version=document.rocksdb_version,
        rocksdb_version=linked.version,
        family="" if together else tuned.name,
        loaded_families=tuple(loaded),
        other_families=tuple(each.name for each in _unread(document, decisions)),
        notes=(
            *document.notes,
            *notes_of([each for _, each in _each_once(decisions)], application_measures),
            *note_of(changed, document.rocksdb_version, linked.version),
        ),
        changed_defaults=changed,
        entries=tuple(_entries_of(document, decisions)),
    )
    caches = {
        each.name: option.text
        for each in document.families
        for option in each.table
        if option.name == "block_cache"
    }
    return ImportedOptions(options, caches, account, document.shared_cache)


def _unread(document: OptionsDocument, decisions: Mapping[str, list[Decision]]) -> list[Family]:
    """Returns the column families of the file of which nothing was decided."""
    return [family for family in document.families if family.name not in decisions]


def _each_once(decisions: Mapping[str, list[Decision]]) -> Iterator[tuple[str, Decision]]:
    """Yields each decision with its family; those of the database, which are in each family's, once."""
    for number, (family, made) in enumerate(decisions.items()):
        for decision in made:
            if number == 0 or decision.section != "db":
                yield family, decision


def _own_sections(options: OptionMaps, family: str) -> OptionMaps:
    """Returns the options of a column family, in sections of its own."""
    return {family_section(kind, family): dict(options.get(kind, {})) for kind in ("cf", "table")}


def _as_it_stands(family: Family) -> OptionMaps:
    """Returns what the file says of a family, before any RocksDB has read it."""
    return {
        "cf": {option.name: option.text for option in family.options},
        "table": {option.name: option.text for option in family.table},
    }


def _entries_of(document: OptionsDocument, decisions: Mapping[str, list[Decision]]) -> list[AccountEntry]:
    """Returns the entries of all options in the file's order."""
    entries = [entry for family, each in _each_once(decisions) for entry in _entries(each, family)]
    for other in _unread(document, decisions):
        entries += _unmeasured(other)
    for section in document.unknown_sections:
        for option in section.options:
            why = f"RocksDB has no section [{section.title}]"
            entries += _alike(section.title, "", option, Fate.UNKNOWN, why)
    for each in document.left_out:
        entries.append(
            AccountEntry(
                section="", name=each.name, line=each.line, given=each.text, fate=Fate.UNKNOWN, why=each.why
            )
        )
    return sorted(entries, key=lambda entry: entry.line)


def _entries(decision: Decision, family: str) -> Iterator[AccountEntry]:
    option = decision.option
    where = {"section": decision.section, "family": "" if decision.section == "db" else family}
    # Another system's setting is used as an option of RocksDB's, which has its own name and notation.
    translated = bool(option.spelling) and decision.fate is Fate.USED
    yield AccountEntry(
        **where,
        name=option.name,
        line=option.line,
        given=option.spelling or option.text,
        fate=Fate.TRANSLATED if translated else decision.fate,
        value=option.text if translated else decision.value,
        why=decision.why,
    )
    for path, part in walked(option.parts):
        fate, value, why = _part_fate(decision, path)
        yield AccountEntry(
            **where,
            name=_below(option, path),
            line=option.line,
            given=part.text,
            fate=fate,
            value=value,
            why=why,
        )


def _part_fate(decision: Decision, path: str) -> tuple[Fate, str, str]:
    """Returns the fate of a setting: its own, that of what it is inside of, or the option's."""
    inside = path
    while inside:
        if inside in decision.parts:
            return decision.parts[inside]
        inside = inside.rpartition(".")[0]
    # What RocksDB adjusts in an option is said of the settings that it adjusts.
    if decision.fate is Fate.ADJUSTED and decision.parts:
        return Fate.USED, "", ""
    return decision.fate, "", decision.why


def _below(option: Option, path: str) -> str:
    return option.name + path if path.startswith("[") else f"{option.name}.{path}"


def _unmeasured(family: Family) -> Iterator[AccountEntry]:
    why = f"column family '{family.name}' is not measured"
    for section, options in (("cf", family.options), ("table", family.table)):
        for option in options:
            yield from _alike(section, family.name, option, Fate.NOT_MEASURED, why)


def _alike(section: str, family: str, option: Option, fate: Fate, why: str) -> Iterator[AccountEntry]:
    """Yields the entries of an option and its settings, which share a fate."""
    settings: list[tuple[str, SubOption | Option]] = [(option.name, option)]
    settings += [(_below(option, path), part) for path, part in walked(option.parts)]
    for name, part in settings:
        yield AccountEntry(
            section=section,
            family=family,
            name=name,
            line=option.line,
            given=part.text,
            fate=fate,
            why=why,
        )
