"""Which RocksDB release each option came with, what changed in it since, and what is gone. Data, not code."""

import tomllib
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import Any

from rocktune.rocksdb_version import RocksDbVersion

# RocksDB reads them and does not write them, or writes them only if they are set.
_NOT_ALWAYS_WRITTEN = frozenset(
    {
        "blob_cache",
        "blob_direct_write_partition_strategy",
        "block_cache",
        "block_cache_compressed",
        "compression_per_level",
        "daily_offpeak_time_utc",
        "db_log_dir",
        "env",
        "listeners",
        "memtable_veirfy_per_key_checksum_on_seek",
        "rate_limiter",
        "rate_limiter_bytes_per_sec",
        "statistics",
        "table_properties_collectors",
        "wal_dir",
    }
)


@dataclass(frozen=True)
class Gone:
    """An option that newer RocksDB releases no longer have.

    Attributes:
        since: release line from which it has no effect, such as "4.12".
        now: section and name of the option that its value can be carried over to, such as
            "cf.max_compaction_bytes"; empty if there is none.
        note: what holds instead; may be empty.
        source: where RocksDB says so.
    """

    since: str
    now: str
    note: str
    source: str


@dataclass(frozen=True)
class DefaultChange:
    """A change of an option's default.

    Attributes:
        section: "db", "cf" or "table".
        name: the option's; a setting inside the option follows after a dot.
        since: first release line with the new default, such as "8.4".
        before: the old default, as OPTIONS files write it.
        after: the new default.
        note: what the change means; may be empty.
        source: where RocksDB says so.
    """

    section: str
    name: str
    since: str
    before: str
    after: str
    note: str
    source: str

    @property
    def path(self) -> str:
        """Section and name, such as "cf.compression"."""
        return f"{self.section}.{self.name}"


@dataclass(frozen=True)
class MeaningChange:
    """A change of what an option's value means; see `DefaultChange` for the attributes."""

    section: str
    name: str
    since: str
    note: str
    source: str

    @property
    def path(self) -> str:
        """Section and name, such as "cf.compression"."""
        return f"{self.section}.{self.name}"


@cache
def default_changes() -> tuple[DefaultChange, ...]:
    """Returns the changes of defaults by section and name, those of an option from old to new."""
    return tuple(DefaultChange(*where, **fields) for where, fields in _changes("defaults.toml"))


@cache
def meaning_changes() -> tuple[MeaningChange, ...]:
    """Returns the changes of meanings by section and name, those of an option from old to new."""
    return tuple(MeaningChange(*where, **fields) for where, fields in _changes("meanings.toml"))


def _changes(file: str) -> Iterator[tuple[tuple[str, str], dict[str, str]]]:
    """Yields section and name, and the fields of a change."""
    for path, entry in sorted(_document(file).items()):
        section, _, name = path.partition(".")
        for fields in sorted(entry["changes"], key=lambda fields: RocksDbVersion.of(fields["since"])):
            yield (section, name), fields


@cache
def gone_options() -> dict[str, Gone]:
    """Returns the gone options by section and name, such as "cf.soft_rate_limit"."""
    gone: dict[str, Gone] = {}
    for section, options in _document("gone.toml").items():
        for name, fields in options.items():
            now = fields.get("now", "")
            full = now if "." in now or not now else f"{section}.{now}"
            gone[f"{section}.{name}"] = Gone(fields["since"], full, fields["note"], fields["source"])
    return gone


@cache
def introductions() -> dict[str, str]:
    """Returns the release line in which each option first had a place in OPTIONS files, by section and name.

    Settings of an option follow its name after a dot: "cf.compression_opts.checksum".
    """
    return {name: release for release, names in _document("introduced.toml").items() for name in names}


def introduced_in(path: str) -> str | None:
    """Returns the release line an option came with; None for a name that no release up to 11.8 has.

    Args:
        path: section, name and settings, such as "cf.bottommost_compression_opts.checksum".
    """
    for alias in ("cf.bottommost_compression_opts.", "cf.blob_compression_opts."):
        if path.startswith(alias):
            path = "cf.compression_opts." + path.removeprefix(alias)
    return introductions().get(path)


def written_options(section: str, version: str) -> frozenset[str]:
    """Returns the options that a release writes into a section of every OPTIONS file.

    Args:
        section: "db", "cf" or "table".
        version: such as "5.14.0"; of a release newer than 11.8 only those that 11.8 has are known, and of a
            text that is no version none.
    """
    release = RocksDbVersion.parse(version)
    names: set[str] = set()
    if release is None:
        return frozenset()
    for path, first in introductions().items():
        of, _, name = path.partition(".")
        gone = gone_options().get(path)
        there = gone is None or release < RocksDbVersion.of(gone.since)
        if of == section and "." not in name and there and RocksDbVersion.of(first) <= release:
            names.add(name)
    return frozenset(names - _NOT_ALWAYS_WRITTEN)


def _document(name: str) -> dict[str, Any]:
    with files(__name__).joinpath(name).open("rb") as file:
        return tomllib.load(file)
