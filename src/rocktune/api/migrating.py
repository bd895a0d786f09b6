"""Bringing the data of a closed database to new options."""

import time
from pathlib import Path

from rocktune.api.applying import Planned, planned
from rocktune.deploy import Migration, Way, migration_options, rewritten_families
from rocktune.engine import Progress, StoreMigration
from rocktune.errors import UserError
from rocktune.rocksdb_version import RocksDbVersion
from rocktune.space import OptionMaps
from rocktune.study import Observer
from rocktune.units import parse_bytes

_PHASE = "migrate"


def copy_with_options(
    database: str | Path,
    options_file: str | Path,
    target: str | Path,
    *,
    device: str | None = None,
    bandwidth: str | int = 0,
    observer: Observer | None = None,
) -> Migration:
    """Copies a closed database into a new directory, with new options, and compares both.

    The source is only read. A call after a kill, an interrupt or an error continues the copy.

    Args:
        database: the database's directory; no process may have it open.
        options_file: the new options: an OPTIONS file, or only what changes.
        target: directory of the copy: new, empty, or of the unfinished copy that is continued.
        device: see `plan_options`.
        bandwidth: bytes per second that may be read and written together, such as "50MiB"; 0 for no limit.
        observer: observer of progress.

    Raises:
        UserError: see `plan_options`; or the database is open, has data that cannot be copied, or changed
            since the copy began; the directory holds something else; the disk has too little space; no worker
            of its RocksDB or a newer one is installed; or copying failed.
    """
    _check_target(Path(target))
    with planned(database, options_file, device) as made:
        _check_version(made, newer_is_allowed=True)
        options = migration_options(made.store, made.wanted, made.linked, in_place=False)
    migration = _migration(made, options.present, options.wanted, bandwidth)
    families = migration.copied(Path(target), _reported(observer or Observer()))
    return Migration(
        plan=made.plan,
        directory=str(target),
        in_place=False,
        families=families,
        left_out=options.left_out,
    )


def rewrite_with_options(
    database: str | Path,
    options_file: str | Path,
    *,
    device: str | None = None,
    bandwidth: str | int = 0,
    observer: Observer | None = None,
) -> Migration:
    """Gives a closed database new options in its own directory, and rewrites the data that they need changed.

    A kill at any moment leaves a database that RocksDB opens; the same call then repeats what was not done.

    Args:
        database: the database's directory; no process may have it open.
        options_file: see `copy_with_options`.
        device: see `plan_options`.
        bandwidth: see `copy_with_options`.
        observer: observer of progress.

    Raises:
        UserError: see `plan_options`; or an option cannot be changed in this database at all; the database is
            open or has data that cannot be rewritten; the disk has too little space; no worker of its RocksDB
            is installed; or rewriting failed.
    """
    with planned(database, options_file, device) as made:
        _check_version(made, newer_is_allowed=False)
        options = migration_options(made.store, made.wanted, made.linked, in_place=True)
    impossible = made.plan.of_way(Way.IMPOSSIBLE)
    if impossible:
        first = impossible[0]
        raise UserError(
            f"options file {options_file}: {first.where} {first.name} cannot change from {first.before} to "
            f"{first.after}: {first.note}"
        )
    migration = _migration(made, options.present, options.wanted, bandwidth)
    families = migration.rewritten(rewritten_families(made.plan), _reported(observer or Observer()))
    return Migration(
        plan=made.plan,
        directory=str(database),
        in_place=True,
        families=families,
        left_out=options.left_out,
    )


def _check_target(target: Path) -> None:
    """Raises UserError if no directory can be made there, or if it is inside of a database."""
    try:
        str(target).encode()
        resolved = target.resolve()
        for directory in resolved.parents:
            if (directory / "CURRENT").is_file():
                raise UserError(f"{target}: is inside of the database {directory}; choose another directory")
        if (target.is_symlink() or target.exists()) and not target.is_dir():
            raise UserError(f"{target}: is no directory; choose another one")
        if not resolved.parent.is_dir():
            raise UserError(f"{target}: the directory {resolved.parent} is missing; make it first")
    except UnicodeEncodeError:
        raise UserError(f"{str(target)!r}: its name is no UTF-8 text; choose another directory") from None
    except (OSError, RuntimeError) as failure:  # no permission, a name that is too long; a loop of links
        raise UserError(f"{target}: cannot be read: {failure}") from None


def _migration(
    made: Planned, present: OptionMaps, wanted: OptionMaps, bandwidth: str | int
) -> StoreMigration:
    return StoreMigration(
        source=made.store.directory,
        present=present,
        wanted=wanted,
        bandwidth_bytes_s=parse_bytes(bandwidth, "bandwidth"),
        command=made.command,
    )


def _check_version(made: Planned, newer_is_allowed: bool) -> None:
    """Raises UserError if the worker's RocksDB is older than the database's, or newer.

    Args:
        made: the plan.
        newer_is_allowed: True for a copy, which leaves the database as it is.
    """
    own = RocksDbVersion.parse(made.plan.rocksdb_version)
    asked = RocksDbVersion.of(made.plan.asked_version)
    if own is None:
        return
    line = RocksDbVersion(own.parts[:2])
    if line.includes(asked) or (newer_is_allowed and asked > own):
        return
    or_newer = " or newer" if newer_is_allowed else ""
    raise UserError(
        f"{made.store.directory}: the database runs RocksDB {own}, and the nearest installed one is {asked}; "
        f"build a worker of RocksDB {line}{or_newer} (make rocksdb VERSION={own})"
    )


def _reported(observer: Observer) -> Progress:
    """Returns a function that gives progress to an observer, with the time that is left of each phase."""
    observer.phase_started(_PHASE, None)
    begun: dict[str, tuple[float, float]] = {}

    def report(phase: str, done: float, total: float) -> None:
        now = time.monotonic()
        since, at_first = begun.setdefault(phase, (now, done))
        if done > at_first and now > since:
            observer.estimated((total - done) * (now - since) / (done - at_first))
        observer.progress(phase, done, total)

    return report
