"""Finds the workers that are linked with other versions of RocksDB (docs/install.md)."""

import contextlib
import os
from pathlib import Path

from rocktune.engine.base import RunFailed
from rocktune.engine.worker import WORKER_NAME, WorkerProcess, find_worker
from rocktune.errors import UserError
from rocktune.rocksdb_version import RocksDbVersion

SOURCE_TREE = Path(__file__).parents[3]
"""Directory of the source, if rocktune is run from it; `make rocksdb` installs below its `build`."""
_VERSIONS = "rocksdb/versions.csv"


def buildable_versions() -> list[RocksDbVersion]:
    """Returns the versions that `make rocksdb` builds, oldest first; none without a source tree."""
    table = SOURCE_TREE / _VERSIONS
    if not table.is_file():
        return []
    versions = [RocksDbVersion.parse(line.partition(",")[0]) for line in table.read_text().splitlines()[1:]]
    return sorted(version for version in versions if version is not None)


def installed_workers() -> dict[RocksDbVersion, tuple[str, ...]]:
    """Returns the command of each worker that can be started, by the version of its RocksDB, oldest first.

    These are the default worker and those that `make rocksdb` has built in the source tree. The default
    worker is preferred to another one with the same version. Each is started once, which takes about 10 ms.
    """
    commands: list[tuple[str, ...]] = [
        (str(path),) for path in sorted(SOURCE_TREE.glob(f"build/rocksdb*/bin/{WORKER_NAME}"))
    ]
    with contextlib.suppress(UserError):  # a machine may have only workers of chosen versions
        commands.insert(0, find_worker())
    found: dict[RocksDbVersion, tuple[str, ...]] = {}
    for command in commands:
        version = _version_of(command)
        if version is not None:
            found.setdefault(version, command)
    return dict(sorted(found.items()))


def worker_with(rocksdb: str | None) -> tuple[str, ...]:
    """Returns the command of the worker that is linked with a RocksDB.

    Args:
        rocksdb: a version ("9.9.3", or "9.9" for the newest 9.9), or the path of a worker or of an
            installation with `bin/rocktune-worker`; None for the default worker.

    Raises:
        UserError: there is no such worker; the message says which versions there are and how to build one.
    """
    if rocksdb is None:
        return find_worker()
    wanted = RocksDbVersion.parse(rocksdb)
    if wanted is None or Path(rocksdb).exists():
        return (_worker_at(Path(rocksdb)),)
    installed = installed_workers()
    for version in reversed(installed):
        if wanted.includes(version):
            return installed[version]
    raise UserError(f"--rocksdb: RocksDB {rocksdb} is not installed; {_mend(wanted, list(installed))}")


def nearest(wanted: RocksDbVersion, versions: list[RocksDbVersion]) -> RocksDbVersion:
    """Returns the version that is nearest to another one: the same line first, then the next older one.

    Args:
        wanted: the version looked for.
        versions: those to choose from, at least one.
    """
    same = [version for version in versions if wanted.includes(version)]
    older = [version for version in versions if version <= wanted]
    return max(same) if same else max(older) if older else min(versions)


def _worker_at(path: Path) -> str:
    worker = path / "bin" / WORKER_NAME if path.is_dir() else path
    if not (worker.is_file() and os.access(worker, os.X_OK)):
        raise UserError(
            f"--rocksdb: '{path}' is neither a version nor an installation with bin/{WORKER_NAME}; "
            "tools/build-rocksdb makes one"
        )
    return str(worker.absolute())


def _mend(wanted: RocksDbVersion, installed: list[RocksDbVersion]) -> str:
    there = ", ".join(map(str, installed)) or "none"
    buildable = buildable_versions()
    if not buildable:
        return f"installed: {there}. Give the path of a worker that is linked with it"
    return f"installed: {there}. Build it: make rocksdb VERSION={nearest(wanted, buildable)}"


def _version_of(command: tuple[str, ...]) -> RocksDbVersion | None:
    try:
        worker = WorkerProcess(command)
    except (RunFailed, UserError):
        return None  # of another protocol or without its libraries; 'rocktune doctor' says so
    version = RocksDbVersion.parse(worker.hello["rocksdb_version"])
    worker.close()
    return version
