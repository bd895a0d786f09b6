"""Writing RocksDB's OPTIONS files. Reading them is the worker's work, through RocksDB's own parser."""

from collections.abc import Sequence
from types import MappingProxyType

from rocktune.errors import UserError
from rocktune.space.configuration import OptionMaps

NOT_ROCKSDBS = MappingProxyType(
    {"rate_limiter_auto_tuned": "your program has to pass it to rocksdb::NewGenericRateLimiter"}
)
"""Names of rocktune's own among RocksDB's options, each with what an application does instead."""


def options_file_text(options: OptionMaps, rocksdb_version: str, comment: Sequence[str] = ()) -> str:
    """Returns the text of an OPTIONS file that `LoadOptionsFromFile` of that version reads.

    It holds the given options alone; RocksDB takes its defaults for the others. `block_cache` is written
    with the table's options: RocksDB itself never writes it, but reads it, as a cache for each column family.
    What rocktune alone understands stands in the file as a comment.

    Args:
        options: at full size.
        rocksdb_version: of the RocksDB that the options are for, such as "7.8.3".
        comment: lines for the head of the file.

    Raises:
        UserError: an option's text holds # or a line break, which the file cannot carry.
    """
    lines = [f"# {line}".rstrip() for text in comment for line in text.splitlines() or [""]]
    sections = (
        ("[Version]", {"rocksdb_version": rocksdb_version, "options_file_version": "1.1"}),
        ("[DBOptions]", options.get("db", {})),
        ('[CFOptions "default"]', options.get("cf", {})),
        ('[TableOptions/BlockBasedTable "default"]', options.get("table", {})),
    )
    for title, values in sections:
        lines += ["", title, *(_line(name, _checked(name, value)) for name, value in values.items())]
    return "\n".join(lines).lstrip("\n") + "\n"


def _line(name: str, value: str) -> str:
    if name in NOT_ROCKSDBS:
        return f"  # {name}={value}: {NOT_ROCKSDBS[name]}"
    return f"  {name}={value}"


def _checked(name: str, value: str) -> str:
    if any(sign in value for sign in "#\n\r"):
        raise UserError(f"{name}: '{value}' cannot be written to an OPTIONS file")
    return value
