"""Flink's config.yaml and flink-conf.yaml: keys such as state.backend.rocksdb.writebuffer.size."""

import re

from rocktune.importing.systems.lines import unquoted
from rocktune.importing.systems.settings import Collected, Setting, bloom_filter
from rocktune.systems.flink import PREFIX, RULES

_FILTER = (PREFIX + "use-bloom-filter", PREFIX + "bloom-filter.bits-per-key")


def recognises(text: str) -> bool:
    """Returns whether a file has a key of Flink's RocksDB state backend."""
    return any(each.name.startswith(PREFIX) for each in _keys(text))


def read(path: str, text: str) -> Collected:
    """Returns the options of a Flink configuration; see `Collected.read` for what is refused."""
    file = Collected("Flink", path)
    keys = _keys(text)
    named = file.once(each for each in keys if each.name.startswith(PREFIX))
    file.own = len(keys) - len(named)
    filters = [named.pop(name, None) for name in _FILTER]
    file.db = file.read(named, RULES, {})
    if any(filters):
        file.db.append(bloom_filter(file, filters[0], filters[1], on_by_default=False))
    return file


def _keys(text: str) -> list[Setting]:
    """Returns the keys of a YAML file with their parents' names in front; lists are left out."""
    found: list[Setting] = []
    parents: list[tuple[int, str]] = []
    for number, raw in enumerate(text.split("\n"), 1):
        match = re.fullmatch(r"(\s*)([\w.\-]+)\s*:(?:\s+(.*?))?\s*", re.sub(r"\s#.*|^#.*", "", raw))
        if match is None:
            continue
        depth = len(match[1])
        parents = [(indent, name) for indent, name in parents if indent < depth]
        name = ".".join([*(name for _, name in parents), match[2]])
        if match[3]:
            found.append(Setting(name, unquoted(match[3]), number))
        else:
            parents.append((depth, match[2]))
    return found
