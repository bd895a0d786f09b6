"""Bringing new options to a database that exists."""

from collections.abc import Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass
from pathlib import Path

from rocktune.deploy import (
    WATCHED_FILE,
    RolloutPlan,
    RunningRocksDb,
    RunningStore,
    Way,
    plan_of,
    running_store,
    watched_text,
    write_watched,
)
from rocktune.device import load_device
from rocktune.engine import OptionsChecker
from rocktune.engine.base import RunFailed
from rocktune.engine.libraries import installed_workers
from rocktune.engine.local.locks import is_locked_by_another
from rocktune.engine.stand_ins import known_version, stand_in
from rocktune.errors import UserError
from rocktune.importing import LinkedRocksDb, OptionsDocument, read_options_document


def plan_options(database: str | Path, options_file: str | Path, *, device: str | None = None) -> RolloutPlan:
    """Returns the way from a database's present options to new ones. Opens and writes nothing.

    Args:
        database: the database's directory; a process may have it open.
        options_file: the new options: an OPTIONS file, or only what changes.
        device: name or file of the database's device, for the time that rewriting takes; None for no time.

    Raises:
        UserError: the directory holds no database, a file cannot be read or honoured, or no worker is
            installed.
    """
    with planned(database, options_file, device) as made:
        return made.plan


def apply_options(
    database: str | Path,
    options_file: str | Path,
    *,
    device: str | None = None,
    watched_file: str | Path | None = None,
) -> RolloutPlan:
    """Writes the part of new options that a running program can take into the file that it watches.

    Args:
        database: see `plan_options`.
        options_file: see `plan_options`.
        device: see `plan_options`.
        watched_file: the watched file; None for `ROCKTUNE_OPTIONS` in the database's directory.

    Returns:
        The plan.

    Raises:
        UserError: see `plan_options`; or an option cannot be changed in this database at all, no option of
            the file can be changed while a program runs, a program would refuse the file, or the watched file
            cannot be written.
    """
    with planned(database, options_file, device) as made:
        plan, store = made.plan, made.store
    impossible = plan.of_way(Way.IMPOSSIBLE)
    if impossible:
        first = impossible[0]
        raise UserError(
            f"options file {options_file}: {first.where} {first.name} cannot change from {first.before} to "
            f"{first.after}: {first.note}; leave it out (--plan shows the rest)"
        )
    if not plan.live:
        raise UserError(
            f"options file {options_file}: it has no option that can be changed while the database is open; "
            "--plan shows how its options take effect"
        )
    if plan.refused:
        raise UserError(
            f"options file {options_file}: a running program would refuse it: {plan.refused} "
            "(--plan shows how each option takes effect)"
        )
    path = Path(watched_file) if watched_file is not None else store.directory / WATCHED_FILE
    write_watched(path, watched_text(plan.live, store.identity))
    return plan


@dataclass(frozen=True)
class Planned:
    """A plan with what it was made of.

    Attributes:
        plan: the plan.
        store: the database.
        wanted: the file with the new options.
        linked: the RocksDB that was asked.
        command: program and arguments that start its worker.
    """

    plan: RolloutPlan
    store: RunningStore
    wanted: OptionsDocument
    linked: LinkedRocksDb
    command: tuple[str, ...]


@contextmanager
def planned(database: str | Path, options_file: str | Path, device: str | None) -> Iterator[Planned]:
    """Plans for a database; see `plan_options`. The worker that answers for RocksDB lives in the context."""
    store = running_store(Path(database))
    wanted = read_options_document(Path(options_file))
    spec = None if device is None else load_device(device)
    version = store.options.rocksdb_version
    with closing(OptionsChecker(_worker(version, store.options.path))) as checker:
        try:
            rocksdb = RunningRocksDb(checker.linked(), checker.mutable(), checker.watched_refusal)
        except RunFailed as failure:
            raise UserError(f"the worker for RocksDB {checker.rocksdb_version} failed: {failure}") from None
        is_open = is_locked_by_another(store.directory / "LOCK")
        plan = plan_of(store, wanted, rocksdb, is_open, spec)
        yield Planned(plan, store, wanted, rocksdb.linked, checker.command)


def _worker(version: str, path: str) -> tuple[str, ...] | None:
    """Returns the command of the worker whose RocksDB is nearest to a version; None for the default one."""
    if not version:
        return None
    installed = installed_workers()
    nearest = stand_in(known_version(version, f"options file {path}"), list(installed), ())
    return None if nearest is None else installed[nearest]
