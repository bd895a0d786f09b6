"""The options that a watch sets: the live part of a study's winner, and the way back."""

import errno
import re
from collections.abc import Collection, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from pathlib import Path

from rocktune.api.applying import plan_options
from rocktune.deploy import (
    WATCHED_FILE,
    PlannedChange,
    Way,
    read_watched,
    running_store,
    watched_text,
    write_watched,
)
from rocktune.deploy.watch import Live
from rocktune.engine.local.locks import locked_directory
from rocktune.errors import UserError
from rocktune.space import family_section

_FLSM_FILE = "FLSM"
GOVERNOR_FILE = "ROCKTUNE_GOVERNOR"
"""File of a compaction governor in the directory of its database."""
_GOVERNORS = frozenset(
    {
        "disable_auto_compactions",
        "level0_slowdown_writes_trigger",
        "level0_stop_writes_trigger",
        "soft_pending_compaction_bytes_limit",
        "hard_pending_compaction_bytes_limit",
        "rate_limiter_bytes_per_sec",
    }
)
"""Options that a governor sets."""
_NO_LOCKS = (errno.EBADF, errno.ENOLCK, errno.EOPNOTSUPP)
_WANTED_NAME = "wanted.ini"


def watched_database(log: Path) -> Path:
    """Returns the directory of the database that a LOG file belongs to.

    Raises:
        UserError: there is no database, or it is an FLSM store, which tunes itself.
    """
    try:
        directory = (log if log.is_dir() else log.parent).resolve()
        is_log = log.exists() and (directory / "CURRENT").is_file()
        is_flsm = (directory / _FLSM_FILE).exists()
    except (OSError, RuntimeError) as failure:  # no permission, a name that is too long; a loop of links
        raise UserError(f"log: {log} cannot be read: {failure}") from None
    if not is_log:
        raise UserError(f"log: {log} is not the LOG in the directory of a RocksDB database")
    if is_flsm:
        raise UserError(
            f"{directory}: it is an FLSM store, whose controller sets its options; it is not watched"
        )
    return directory


def checked_file(path: Path) -> Path:
    """Returns the absolute path of a watched file that is to be written later.

    Raises:
        UserError: no watched file can be written there.
    """
    read_watched(path)
    try:
        directory = path.resolve().parent
    except (OSError, RuntimeError) as failure:
        raise UserError(f"{path}: cannot be written: {failure}") from None
    if not directory.is_dir():
        raise UserError(
            f"{path}: its directory is missing; name the file that the database's program watches"
        )
    return path.absolute()


@contextmanager
def watching_alone(database: Path, file: Path | None) -> Iterator[None]:
    """Refuses a second watch that writes the watched file of a database: each would take back the other's.

    Args:
        database: directory of the database.
        file: the watched file; None for a watch that writes nothing, which others do not harm.

    Raises:
        UserError: another process watches the database and applies options to it.
    """
    with ExitStack() as held:
        try:
            if file is not None:
                held.enter_context(locked_directory(database))
        except BlockingIOError:
            raise UserError(
                f"{database}: another watch applies options to it; end that one, or leave --apply out"
            ) from None
        except OSError as failure:
            # Some network file systems lock no directories.
            if failure.errno not in _NO_LOCKS:
                raise UserError(f"{database}: cannot be opened: {failure.strerror}") from None
        yield


def refuse_another(known: str, database: Path, journal: Path) -> None:
    """Raises UserError if a watch's journal is of another database, to which its options belong.

    Args:
        known: directory of the journal's database; empty if it is not known.
        database: directory of the watch's database.
        journal: directory of the journal.
    """
    if known not in ("", str(database)):
        raise UserError(
            f"log: {journal} has the watch of {known}; watch {database} with another study, or move that "
            "directory away"
        )


def proposed_options(database: Path, options_text: str, in_force: Live, directory: Path) -> Live:
    """Returns the options of a watched file that has a study's winner in it.

    Args:
        database: directory of the database.
        options_text: OPTIONS file with the winner.
        in_force: the options of the present watched file, which the new file has to repeat.
        directory: directory for a file with the text.

    Returns:
        The options; equal to `in_force` if nothing changes.

    Raises:
        UserError: the plan cannot be made.
    """
    changes = _changes(database, options_text, directory)
    return overlaid(in_force, {_place(each): each.after for each in changes})


def undo_options(database: Path, wanted: Live, in_force: Live, directory: Path) -> Live:
    """Returns the options of a watched file that takes another one back.

    It states the present value of each option that the other one changes, so that it also restores a program
    that has been started again meanwhile. A value that the OPTIONS file does not say, such as that of a block
    cache, is left to the watcher, which has it from its start.

    Args:
        database: directory of the database.
        wanted: the options to be taken back.
        in_force: the options of the present watched file.
        directory: directory for a file with the options.
    """
    found = {}
    for change in _changes_to(database, wanted, directory):
        section, name = _place(change)
        # What the present file states already may not have been taken yet, and stays.
        if change.before and in_force.get(section, {}).get(name) != change.after:
            found[section, name] = change.before
    return overlaid(in_force, found)


def missing_options(database: Path, wanted: Live, directory: Path) -> tuple[str, ...]:
    """Returns the options of a watched file that are not in force, as far as the OPTIONS file shows it.

    Args:
        database: directory of the database.
        wanted: the options of the watched file.
        directory: directory for a file with the options.
    """
    changes = _changes_to(database, wanted, directory)
    return tuple(f"{each.where} {each.name}" for each in changes if each.before)


def write_options(database: Path, path: Path, live: Live) -> None:
    """Replaces a watched file. Options of column families that were dropped meanwhile are left out.

    Raises:
        UserError: the file cannot be written.
    """
    store = running_store(database)
    families = {family.name for family in store.options.families}
    write_watched(path, watched_text(_of_families(live, families), store.identity))


def states(database: Path, path: Path, *expected: Live) -> tuple[Live, bool]:
    """Returns the options of a watched file, and whether they are among those that are expected.

    Options of column families that were dropped do not count.

    Args:
        database: directory of the database.
        path: the watched file.
        expected: the options that are expected, one or several times.

    Raises:
        UserError: the file or the database cannot be read.
    """
    present = read_watched(path)
    if present in expected:
        return present, True
    families = {family.name for family in running_store(database).options.families}
    known = [_of_families(each, families) for each in expected]
    return present, _of_families(present, families) in known


def options_path(database: Path, file: Path | None) -> Path:
    """Returns the watched file, by default that in the database's directory."""
    return database / WATCHED_FILE if file is None else file.absolute()


def listed(live: Live) -> str:
    """Returns options in one line."""
    return "; ".join(
        f"{section} {', '.join(f'{name}={value}' for name, value in options.items())}"
        for section, options in live.items()
    )


def overlaid(live: Live, changed: Mapping[tuple[str, str], str]) -> Live:
    """Returns options with some values changed.

    Args:
        live: the options by section.
        changed: values by section and name.
    """
    found = {section: dict(options) for section, options in live.items()}
    for (section, name), value in changed.items():
        found.setdefault(section, {})[name] = value
    return found


def _of_families(live: Live, families: Collection[str]) -> Live:
    """Returns options without those of families that were dropped, for which a watcher refuses the file."""
    return {
        section: options
        for section, options in live.items()
        if section == "db" or section.partition(":")[2] in families
    }


def _changes_to(database: Path, live: Live, directory: Path) -> tuple[PlannedChange, ...]:
    """Returns the changes that a watched file makes, without those of families that were dropped."""
    families = {family.name for family in running_store(database).options.families}
    return _changes(database, watched_text(_of_families(live, families)), directory)


def _changes(database: Path, text: str, directory: Path) -> tuple[PlannedChange, ...]:
    """Returns the live changes of an OPTIONS file's text; those of a governor are its own."""
    path = directory / _WANTED_NAME
    # The watched file's id is no section of an OPTIONS file.
    path.write_text(re.sub(r"\[Database\]\n  id=.*\n", "", text), encoding="utf-8")
    governed = (database / GOVERNOR_FILE).exists()
    return tuple(
        change
        for change in plan_options(database, path).of_way(Way.LIVE)
        if not (governed and change.name in _GOVERNORS)
    )


def _place(change: PlannedChange) -> tuple[str, str]:
    section = change.section if change.section == "db" else family_section(change.section, change.family)
    return section, change.name
