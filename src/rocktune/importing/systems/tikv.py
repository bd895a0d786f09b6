"""TiKV's tikv.toml: tables such as [rocksdb.defaultcf], and the block cache that all families share."""

import re
import tomllib
from typing import Any

from rocktune.importing.document import OptionsFileError
from rocktune.importing.systems.lines import line_of
from rocktune.importing.systems.settings import Collected, Reading, Setting, bloom_filter, unmapped
from rocktune.systems.tikv import CACHE, COMPRESSIONS, DATABASE, FAMILIES, FAMILY, FIXED
from rocktune.systems.values import choice


def recognises(text: str) -> bool:
    """Returns whether a file has a table of TiKV's for RocksDB."""
    return re.search(r"^\s*\[(rocksdb[\].]|storage\.block-cache\])", text, re.MULTILINE) is not None


def read(path: str, text: str) -> Collected:
    """Returns the options of a tikv.toml; see `Collected.read` for what is refused.

    Raises:
        OptionsFileError: also if the text is no TOML.
    """
    try:
        tables = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise OptionsFileError(f"options file {path}: malformed TOML: {error}") from None
    file = Collected("TiKV", path, fixed=FIXED, shared_cache=True)
    rocksdb = _table(tables, "rocksdb")
    database = {name: value for name, value in rocksdb.items() if not isinstance(value, dict)}
    cache = _table(_table(tables, "storage"), "block-cache")
    file.db = file.read(_settings(file, text, cache), CACHE, {})
    file.db += file.read(_settings(file, text, database), DATABASE, {})
    for family, table in FAMILIES.items():
        if table in rocksdb:
            file.families[family] = _family(file, text, _table(rocksdb, table))
    others = {name: value for name, value in tables.items() if name not in ("rocksdb", "storage")}
    storage = {name: value for name, value in _table(tables, "storage").items() if name != "block-cache"}
    file.own = _count(others) + _count(storage)
    return file


def _family(file: Collected, text: str, table: dict[str, Any]) -> list[Reading]:
    settings = _settings(file, text, table)
    filters = [settings.pop(name, None) for name in ("use-bloom-filter", "bloom-filter-bits-per-key")]
    special = {
        "compression-per-level": _compression,
        "bottommost-level-compression": lambda value: {
            "bottommost_compression": choice(COMPRESSIONS).read(value)
        },
    }
    found = file.read(settings, FAMILY, special)
    if any(filters):
        found.append(bloom_filter(file, filters[0], filters[1], on_by_default=True))
    return found


def _compression(text: str) -> dict[str, str]:
    types = [choice(COMPRESSIONS).read(each) for each in text.split(",")]
    if len(set(types)) == 1:
        return {"compression": types[0]}
    return {"compression_per_level": ":".join(types)}


def _count(table: dict[str, Any]) -> int:
    """Returns the number of settings in a table and the tables inside it."""
    return sum(_count(value) if isinstance(value, dict) else 1 for value in table.values())


def _table(tables: dict[str, Any], name: str) -> dict[str, Any]:
    found = tables.get(name, {})
    return found if isinstance(found, dict) else {}


def _settings(file: Collected, text: str, table: dict[str, Any]) -> dict[str, Setting]:
    settings = {}
    for name, value in table.items():
        line = line_of(text, name)
        if isinstance(value, dict):
            file.leave_out(Setting(name, "a table", line), unmapped(name, ()))
        else:
            settings[name] = Setting(name, _text(value), line)
    return settings


def _text(value: Any) -> str:
    if isinstance(value, list):
        return ",".join(map(_text, value))
    return str(value).lower() if isinstance(value, bool) else str(value)
