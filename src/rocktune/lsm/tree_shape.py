"""The options and the data that decide how an LSM-tree is compacted."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal, Self

from rocktune.lsm.distinct_keys import DistinctKeys

MAX_WIDTH = (1 << 32) - 1
"""RocksDB's default of `max_merge_width`: no limit."""


@dataclass(frozen=True)
class TreeShape:
    """The options of RocksDB that decide which sorted runs are merged when.

    Attributes:
        style: "leveled" or "universal".
        trigger: files in level 0 (leveled) or sorted runs (universal) at which compaction starts.
        slowdown: the same at which writes are delayed.
        stop: the same at which writes stop.
        flush_bytes: bytes of user writes that are flushed together.
        level_base_bytes: size of level 1, in bytes of files.
        level_ratio: ratio of a level's size to the one above, above 1.
        file_bytes: size of a file of level 1.
        file_ratio: ratio of a file's size to that of the level above.
        levels: number of levels, level 0 included.
        dynamic_levels: whether level sizes follow from that of the last level.
        size_ratio: per cent by which the next run may be larger than those before it together (universal).
        max_size_amplification: per cent of the last run that all newer runs may have together (universal).
        min_merge_width: minimum number of runs of a merge, other than for size amplification (universal).
        max_merge_width: maximum number of these runs (universal).
        max_runs: sorted runs above which their number is brought down; 0 for RocksDB's own choice by sizes,
            -1 for `trigger` (universal, `max_read_amp`).
        buffer_bytes: size of a write buffer, from which RocksDB chooses `max_runs` (universal).
        similar_sizes: whether a merge for sizes ends at a run that differs from the one before it, not at one
            that exceeds all before it together (universal, `stop_style`).
    """

    style: Literal["leveled", "universal"]
    trigger: int
    slowdown: int
    stop: int
    flush_bytes: float
    level_base_bytes: float
    level_ratio: float
    file_bytes: float
    file_ratio: float
    levels: int
    dynamic_levels: bool = False
    size_ratio: int = 1
    max_size_amplification: int = 200
    min_merge_width: int = 2
    max_merge_width: int = MAX_WIDTH
    max_runs: int = -1
    buffer_bytes: float = 0.0
    similar_sizes: bool = False

    @classmethod
    def of_values(cls, values: Mapping[str, Any]) -> Self:
        """Returns the shape of a store with certain values of options, without the memory of entries' links.

        Args:
            values: values by option name at full size, as one row of `Space.columns` has them. All options of
                the shape are needed but those of newer versions of RocksDB.
        """
        universal = values["compaction_style"] == "kCompactionStyleUniversal"
        return cls(
            style="universal" if universal else "leveled",
            trigger=values["level0_file_num_compaction_trigger"],
            slowdown=values["level0_slowdown_writes_trigger"],
            stop=values["level0_stop_writes_trigger"],
            flush_bytes=values["write_buffer_size"] * values["min_write_buffer_number_to_merge"],
            level_base_bytes=values["max_bytes_for_level_base"],
            level_ratio=values["max_bytes_for_level_multiplier"],
            file_bytes=values["target_file_size_base"],
            file_ratio=values["target_file_size_multiplier"],
            levels=values["num_levels"],
            dynamic_levels=values["level_compaction_dynamic_level_bytes"],
            size_ratio=values["universal_size_ratio"],
            max_size_amplification=values["universal_max_size_amplification_percent"],
            min_merge_width=values["universal_min_merge_width"],
            max_merge_width=values["universal_max_merge_width"],
            max_runs=values.get("universal_max_read_amp", -1),
            buffer_bytes=values["write_buffer_size"],
        )


@dataclass(frozen=True)
class TreeData:
    """The entries of a tree.

    Attributes:
        distinct: the number of distinct keys among a number of writes.
        entry_bytes: bytes of a key and its value as the user writes them.
        file_entry_bytes: bytes that an entry takes in a file, compressed.
    """

    distinct: DistinctKeys
    entry_bytes: float
    file_entry_bytes: float

    @property
    def stored_bytes(self) -> float:
        """The bytes of files with one entry for each key."""
        return self.distinct.keys * self.file_entry_bytes


@dataclass(frozen=True)
class Amplification:
    """The bytes that flushes and compactions read and write for each byte that the user writes.

    Attributes:
        flush: bytes written by flushes.
        compaction_read: bytes read by compactions.
        compaction_write: bytes written by compactions.
        last_level: part of `compaction_write` that goes to the last level, or replaces the oldest run.
    """

    flush: float
    compaction_read: float
    compaction_write: float
    last_level: float = 0.0

    @property
    def total(self) -> float:
        """The sum of all bytes."""
        return self.flush + self.compaction_read + self.compaction_write
