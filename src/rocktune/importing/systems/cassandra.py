"""Cassandra's cassandra.yaml and table properties, by the correspondence of Dremel's table 6."""

import re

from rocktune.importing.systems.lines import assignments
from rocktune.importing.systems.settings import Collected, Reading, Setting
from rocktune.systems.cassandra import COMPRESSORS, bits_per_key
from rocktune.systems.values import choice, size, whole, whole_mebibytes

_KEYS = (
    "memtable_heap_space",
    "memtable_cleanup_threshold",
    "memtable_flush_writers",
    "concurrent_compactors",
    "file_cache_size",
    "file_cache_enabled",
)
_MARKS = ("memtable_heap_space:", "concurrent_compactors:", "sstable_size_in_mb", "cluster_name:")
_PROPERTY = re.compile(r"'(sstable_size_in_mb|fanout_size|chunk_length_in_kb|class|enabled)'\s*:\s*'([^']*)'")
_FALSE_POSITIVES = re.compile(r"bloom_filter_fp_chance\s*=\s*([0-9.eE+-]+)")


def recognises(text: str) -> bool:
    """Returns whether a file has settings of Cassandra that correspond to RocksDB's."""
    return any(mark in text for mark in _MARKS)


def read(path: str, text: str) -> Collected:
    """Returns the options that a node's and a table's settings correspond to; see `Collected.read`.

    The two memtable settings give the number of memtables and their size, as the export computes them.
    """
    file = Collected("Cassandra", path)
    settings = [Setting(each.name.strip(), each.text, each.line) for each in assignments(text, r":(?=\s|$)")]
    named = file.once(each for each in settings if each.name in _KEYS)
    file.own = len(settings) - len(named)
    heap, threshold = named.pop("memtable_heap_space", None), named.pop("memtable_cleanup_threshold", None)
    enabled = named.pop("file_cache_enabled", None)
    if enabled is not None and enabled.text.lower() != "true" and "file_cache_size" in named:
        file.leave_out(named.pop("file_cache_size"), f"file_cache_enabled is {enabled.text}")
    special = {
        "memtable_flush_writers": lambda value: {"max_background_flushes": whole(1).read(value)},
        "concurrent_compactors": lambda value: {"max_background_compactions": whole(1).read(value)},
        "file_cache_size": lambda value: {"block_cache": size((("", 1),)).read(value)},
    }
    file.db = file.read(named, {}, special)
    if heap is not None:
        file.db += _memtables(file, heap, threshold)
    file.db += _properties(file, text)
    file.notes.append("Cassandra has no RocksDB: its settings stand for the options that correspond to them.")
    return file


def _memtables(file: Collected, heap: Setting, threshold: Setting | None) -> list[Reading]:
    """Returns the memtables' number, the inverse of the cleanup threshold, and their size."""
    buffers = 2
    if threshold is not None and re.fullmatch(r"0?\.\d+", threshold.text) and float(threshold.text) > 0:
        buffers = max(1, round(1 / float(threshold.text)))
    given = (heap,) if threshold is None else (heap, threshold)
    total = file.read({"heap": heap}, {}, {"heap": lambda value: {"bytes": size((("", 1),)).read(value)}})
    return [
        Reading("write_buffer_size", str(int(total[0].text) // buffers), given),
        Reading("max_write_buffer_number", str(buffers), given),
    ]


def _properties(file: Collected, text: str) -> list[Reading]:
    """Returns the options of table properties, which may be comments beside cassandra.yaml."""
    special = {
        "sstable_size_in_mb": lambda value: {"target_file_size_base": whole_mebibytes().read(value)},
        "fanout_size": lambda value: {"max_bytes_for_level_multiplier": whole(1).read(value)},
        "chunk_length_in_kb": lambda value: {"block_size": str(1024 * int(whole(1).read(value)))},
        "class": lambda value: {"compression": choice(COMPRESSORS).read(value)},
    }
    found: list[Reading] = []
    for match in _PROPERTY.finditer(text):
        setting = Setting(match[1], match[2], text.count("\n", 0, match.start()) + 1)
        if setting.spelling == "enabled=false":
            found.append(Reading("compression", "kNoCompression", (setting,)))
        elif setting.name != "enabled" and not setting.text.endswith("Strategy"):
            found += file.read({setting.name: setting}, {}, special)
    if chance := _FALSE_POSITIVES.search(text):
        setting = Setting("bloom_filter_fp_chance", chance[1], text.count("\n", 0, chance.start()) + 1)
        found.append(_filter(setting))
    return found


def _filter(setting: Setting) -> Reading:
    """Returns the Bloom filter with a share of false positives; none for a share of 1."""
    share = float(setting.text) if re.fullmatch(r"[0-9.]+(e-?\d+)?", setting.text) else 1.0
    if not 0 < share < 1:
        return Reading("filter_policy", "nullptr", (setting,))
    return Reading("filter_policy", f"bloomfilter:{bits_per_key(share):.3g}:false", (setting,))
