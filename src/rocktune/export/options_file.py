"""Exports to RocksDB's own OPTIONS file."""

from rocktune.export.target import Found, Target, one_line
from rocktune.space import options_file_text


def _write(found: Found) -> str:
    """Returns the OPTIONS file."""
    comment = [one_line(line) for line in found.comment]
    return options_file_text(found.options, found.rocksdb_version, comment, found.family)


TARGET = Target(
    "options-file",
    "RocksDB's own OPTIONS file, with the options that differ from its defaults",
    _write,
    holds_cache_settings=True,
    holds_families=True,
)
