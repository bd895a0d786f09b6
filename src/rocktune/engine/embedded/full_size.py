"""Calculates what a store on a model takes at full size."""

from collections.abc import Mapping
from typing import Any

import numpy as np

FIXED_TABLE_BYTES = 1850
"""Bytes of memory that RocksDB counts for an open table whatever its size, its index and filter aside.

Measured with index and filters in the block cache: 1,800 to 1,950 bytes for tables of 50 to 200 kB, RocksDB
7.8."""


def full_size_memory_bytes(raw: Mapping[str, Any], scale: int) -> float:
    """Returns the memory that the store of a run takes at full size, in bytes.

    At scale 1 it is the resident memory of the process. On a model it is what RocksDB accounts for:
    memtables, block cache, and the index and filter blocks outside the cache. All of these grow with S but
    for the fixed part of each table, because tables grow and their number does not. Memtables fill and are
    flushed all the time, so that their mean over the window counts; the rest is of its end.

    Args:
        raw: the worker's figures of a window.
        scale: S of the run.
    """
    memory = raw["memory_bytes"]
    if scale == 1:
        return float(memory["resident"])
    fixed = min(FIXED_TABLE_BYTES * sum(raw["level_files"]), memory["table_readers"])
    memtables = float(np.mean(raw["series"]["memtables_bytes"]))
    scaled = memtables + memory["block_cache"] + memory["table_readers"] - fixed
    return float(scaled * scale + fixed)
