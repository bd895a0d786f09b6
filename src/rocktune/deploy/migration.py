"""The options that a migration gives to the worker: enough of the present ones, and all of the new ones."""

from dataclasses import dataclass
from pathlib import Path

from rocktune.deploy.merging import merged_document
from rocktune.deploy.plan import PlanNote, RolloutPlan, Way
from rocktune.deploy.running import RunningStore
from rocktune.engine import FamilyContent
from rocktune.errors import UserError
from rocktune.importing import AccountEntry, Fate, LinkedRocksDb, OptionsDocument, imported
from rocktune.importing.document import Family, Option
from rocktune.space import OptionMaps, family_section
from rocktune.spec_file import Spec

_READING = ("comparator", "merge_operator", "compaction_style", "num_levels")
"""Options of a family without which its data cannot be read."""
_DIRECTORIES = ("wal_dir", "db_log_dir")
_OWN_CLASS = "only your program has it"
_OWN_DIRECTORY = "a copy has its WAL and its LOG in its own directory"


class Migration(Spec):
    """A finished migration.

    Attributes:
        plan: the way to the new options.
        directory: the database with the new options.
        in_place: True if it is the database itself, and False if it is a copy.
        families: their content, which was compared before and after.
        left_out: options without which the files were written: those whose classes only the application has,
            and the directories of a copied database.
    """

    plan: RolloutPlan
    directory: str
    in_place: bool
    families: tuple[FamilyContent, ...]
    left_out: tuple[PlanNote, ...]


@dataclass(frozen=True)
class MigrationOptions:
    """The options of a migration.

    Attributes:
        present: what reading the database needs, by section.
        wanted: all new options, by section.
        left_out: as in `Migration`.
    """

    present: OptionMaps
    wanted: OptionMaps
    left_out: tuple[PlanNote, ...]


def migration_options(
    store: RunningStore, wanted: OptionsDocument, linked: LinkedRocksDb, in_place: bool
) -> MigrationOptions:
    """Returns the options of a migration. Reads and writes no file but looks where the WAL lies.

    Args:
        store: the database.
        wanted: the new options: a whole OPTIONS file, or only what changes.
        linked: the RocksDB that migrates.
        in_place: True if the database keeps its directories; a copy has its WAL and LOG in its own.

    Raises:
        OptionsFileError: a value cannot be honoured, or the file has a column family that the database lacks.
        UserError: a comparator is of the application, so that the order of keys is not known here.
    """
    merged = merged_document(store.options, wanted)
    after: OptionMaps = {}
    left_out: dict[tuple[str, str], PlanNote] = {}
    for family in merged.families:
        read = imported(merged, linked, family.name, application_measures=True)
        after.setdefault("db", dict(read.options["db"]))
        for section in ("cf", "table"):
            after[family_section(section, family.name)] = dict(read.options[section])
        for entry in read.account.entries:
            # Those of other families have another fate: they are not measured.
            if entry.fate is Fate.FOREIGN:
                note = _foreign(entry)
                left_out[note.where, note.name] = note
    for name in _DIRECTORIES:
        after["db"].pop(name, None)
        given = _text(merged.db, name)
        if given and in_place:
            after["db"][name] = given
        elif given and Path(given) != store.directory.absolute():
            left_out["db", name] = PlanNote(where="db", name=name, given=given, why=_OWN_DIRECTORY)
    return MigrationOptions(_present(store), after, tuple(left_out.values()))


def _foreign(entry: AccountEntry) -> PlanNote:
    """Returns the note on an option whose class only the application has.

    Raises:
        UserError: it is a comparator.
    """
    if entry.name == "comparator":
        raise UserError(
            f"column family '{entry.family}': only your program has the comparator '{entry.given}', and its "
            "order of keys; copy the entries there"
        )
    where = " ".join(filter(None, (entry.section, entry.family)))
    return PlanNote(where=where, name=entry.name, given=entry.given, why=_OWN_CLASS)


def rewritten_families(plan: RolloutPlan) -> tuple[str, ...]:
    """Returns the families of a plan whose data has to be rewritten for their new options, in order."""
    changes = [change for change in plan.changes if change.rewrite is not None or change.way is Way.REWRITE]
    return tuple(dict.fromkeys(change.family for change in changes))


def _present(store: RunningStore) -> OptionMaps:
    """Returns what reading a database needs."""
    present: OptionMaps = {"db": {}}
    for family in store.options.families:
        present[family_section("cf", family.name)] = _reading(family)
    wal = _text(store.options.db, "wal_dir")
    # A database that was moved or copied has its WAL with it, and the directory that its OPTIONS file names
    # may be another database's.
    if wal and not any(store.directory.glob("*.log")):
        present["db"]["wal_dir"] = wal
    return present


def _reading(family: Family) -> dict[str, str]:
    return {option.name: option.text for option in family.options if option.name in _READING}


def _text(options: tuple[Option, ...], name: str) -> str:
    """Returns the text of an option; empty if it is missing."""
    return next((option.text for option in options if option.name == name), "")
