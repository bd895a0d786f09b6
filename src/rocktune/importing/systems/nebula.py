"""NebulaGraph's flag file: flags such as --rocksdb_db_options={"max_subcompactions":"4"}."""

import json
import re

from rocktune.importing.systems.lines import unquoted
from rocktune.importing.systems.settings import Collected, Reading, Setting, unmapped
from rocktune.systems.values import choice, whole_mebibytes

_JSON = ("rocksdb_db_options", "rocksdb_column_family_options", "rocksdb_block_based_table_options")
_COMPRESSIONS = {
    "kNoCompression": "no",
    "kSnappyCompression": "snappy",
    "kLZ4Compression": "lz4",
    "kLZ4HCCompression": "lz4hc",
    "kZlibCompression": "zlib",
    "kBZip2Compression": "bzip2",
    "kZSTD": "zstd",
}
_FLAG = re.compile(r"^\s*--([A-Za-z0-9_-]+)=(.*?)\s*$", re.MULTILINE)


def recognises(text: str) -> bool:
    """Returns whether a file has one of NebulaGraph's flags for RocksDB."""
    return any(each.name in _JSON or each.name == "rocksdb_block_cache" for each in _flags(text))


def read(path: str, text: str) -> Collected:
    """Returns the options of a flag file; see `Collected.read` for what is refused."""
    file = Collected("NebulaGraph", path, shared_cache=True)
    flags = file.once(_flags(text))
    file.own = sum(not name.startswith("rocksdb_") for name in flags)
    for name in _JSON:
        if name in flags:
            file.db += _options(file, flags[name])
    special = {
        "rocksdb_block_cache": lambda value: {"block_cache": whole_mebibytes(0).read(value)},
        "rocksdb_compression": lambda value: {"compression": choice(_COMPRESSIONS).read(value)},
    }
    plain = {name: flag for name, flag in flags.items() if name in special}
    file.db += file.read(plain, {}, special)
    for name, flag in flags.items():
        if name.startswith("rocksdb_") and name not in (*_JSON, *special):
            file.leave_out(flag, unmapped(name, special))
    return file


def _flags(text: str) -> list[Setting]:
    return [
        Setting(found[1], unquoted(found[2]), text.count("\n", 0, found.start(1)) + 1)
        for found in _FLAG.finditer(text)
    ]


def _options(file: Collected, flag: Setting) -> list[Reading]:
    """Returns the options in a flag's JSON object, whose values are RocksDB's own texts."""
    try:
        options = json.loads(flag.text or "{}")
    except json.JSONDecodeError as error:
        raise file.refused(flag, f"is no JSON: {error}") from None
    if not isinstance(options, dict) or not all(isinstance(value, str) for value in options.values()):
        raise file.refused(flag, "must be a JSON object of texts")
    return [Reading(name, value, (Setting(name, value, flag.line),)) for name, value in options.items()]
