"""Which RocksDB release each option came with, what changed in it since, and what is gone. Data, not code."""

from dataclasses import dataclass
from functools import cache

from rocktune.importing.history.changes import (
    DefaultChange,
    DefaultDifference,
    MeaningChange,
    default_changes,
    default_differences,
    meaning_changes,
)
from rocktune.importing.history.data import toml_data
from rocktune.rocksdb_version import RocksDbVersion

__all__ = [
    "DefaultChange",
    "DefaultDifference",
    "Gone",
    "MeaningChange",
    "default_changes",
    "default_differences",
    "gone_options",
    "introduced_in",
    "introductions",
    "meaning_changes",
    "written_options",
]

# RocksDB reads them and does not write them, or writes them only if they are set.
_NOT_ALWAYS_WRITTEN = frozenset(
    {
        "blob_cache",
        "blob_direct_write_partition_strategy",
        "block_cache",
        "block_cache_compressed",
        "bottommost_compression_opts",
        "compression_opts",
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
        "user_defined_index_factory",
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


@cache
def gone_options() -> dict[str, Gone]:
    """Returns the gone options by section and name, such as "cf.soft_rate_limit"."""
    gone: dict[str, Gone] = {}
    for section, options in toml_data("gone.toml").items():
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
    return {name: release for release, names in toml_data("introduced.toml").items() for name in names}


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
