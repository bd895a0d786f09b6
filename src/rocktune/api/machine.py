"""Checks this machine for what rocktune needs, and removes what rocktune left on it."""

import os
from collections.abc import Callable
from contextlib import closing
from typing import Any

from rocktune.engine import DataDirectory, OptionsChecker, default_data_directory
from rocktune.engine.local.bases import BaseCache
from rocktune.errors import UserError
from rocktune.ledger import open_ledger
from rocktune.units import format_bytes


def clean() -> dict[str, Any]:
    """Removes cached bases, and the runs of dead processes, from the data directory.

    Returns:
        `data_directory` and `removed_bytes`.

    Raises:
        UserError: the directory is not rocktune's.
    """
    path = default_data_directory()
    removed_bytes = 0
    if path.exists():
        with closing(DataDirectory(path)) as data:
            # Opening the directory already removes dead runs; a cache with a quota of 0 bytes evicts all
            # bases.
            removed_bytes = data.tidied_bytes + BaseCache(data, 0).evict()
    return {"data_directory": str(path), "removed_bytes": removed_bytes}


def doctor() -> list[dict[str, Any]]:
    """Checks that this machine has what rocktune needs.

    Returns:
        For each `check`: whether it is `ok`, and in `detail` what was found or how to fix it.
    """
    checks = (
        ("rocksdb", _rocksdb),
        ("data directory", _data_directory),
        ("ledger", _ledger),
        ("cores", _cores),
    )
    return [_checked(name, check) for name, check in checks]


def _checked(name: str, check: Callable[[], str]) -> dict[str, Any]:
    """Returns a check's name, whether it passed, and what it found or why it failed."""
    try:
        return {"check": name, "ok": True, "detail": check()}
    except UserError as error:
        return {"check": name, "ok": False, "detail": str(error)}


def _rocksdb() -> str:
    """Returns the version of RocksDB and the worker's command."""
    with closing(OptionsChecker()) as checker:
        found = f"RocksDB {checker.rocksdb_version} by {' '.join(checker.command)}"
        if checker.assertions:
            found += "; a debug build with assertions on, 10 to 30% slower: 'make rocksdb' builds a release"
        return found


def _data_directory() -> str:
    """Returns the data directory and its free space."""
    with closing(DataDirectory(default_data_directory())) as data:
        return f"{data.path}, {format_bytes(data.free_bytes())} free"


def _ledger() -> str:
    """Returns the ledger's URL and its number of studies."""
    with open_ledger() as ledger:
        return f"{ledger.url}, {len(ledger.studies())} studies"


def _cores() -> str:
    """Returns the number of cores and the memory, with a warning for a single core."""
    # A container may be limited to fewer cores than the machine has.
    cores = len(os.sched_getaffinity(0))
    memory_bytes = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    found = f"{cores} cores, {format_bytes(memory_bytes)} of memory"
    if cores < 2:
        found += "; on one core the load and RocksDB's background work disturb each other: use at least two"
    return found
