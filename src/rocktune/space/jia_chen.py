"""Jia and Chen's space (table II): six ordinal knobs with 2,160 configurations.

One knob, `threads`, belongs to the workload.
"""

from rocktune.errors import UserError
from rocktune.space.catalogue import CATALOGUE
from rocktune.space.configuration import OptionMaps
from rocktune.space.knob import Knob
from rocktune.space.space import Space
from rocktune.units import MIB, format_bytes

_GIB = 1 << 30
_WRITE_BUFFER_BYTES = 32 * MIB
_MAX_WRITE_BUFFERS = 16
# What the largest choice of write buffers takes, so that every combination of the space fits the budget.
_MEMTABLES_BYTES = _MAX_WRITE_BUFFERS * _WRITE_BUFFER_BYTES

JIA_CHEN_MEMORY_BYTES = 8 * _GIB
"""The memory of table I's "Baseline" machine; "MEM-plus" has 16 GiB."""

FIXED_OPTIONS: OptionMaps = {
    "db": {"allow_mmap_reads": "false", "max_open_files": "-1"},
    "cf": {
        # The paper: "Each buffer is 32MB."
        "write_buffer_size": str(_WRITE_BUFFER_BYTES),
        "compaction_style": "kCompactionStyleLevel",
        # RocksDB 5.17's defaults, which later versions changed.
        "level_compaction_dynamic_level_bytes": "false",
        "compression": "kSnappyCompression",
    },
    "table": {"cache_index_and_filter_blocks": "false"},
}
"""The paper names no other option. All others, Bloom filters too, have RocksDB 5.17's defaults."""


def jia_chen_space(memory_bytes: int, expected_entries: float) -> Space:
    """Returns Jia and Chen's space for a memory budget.

    Block cache sizes that leave no room for the memtables are left out.

    Args:
        memory_bytes: the memory budget in bytes at full size.
        expected_entries: distinct keys in the store by the end of a full-length run, at full size.

    Raises:
        UserError: the smallest block cache and the memtables together exceed the budget.
    """
    caches = tuple(size for size in (1 * _GIB, 2 * _GIB, 4 * _GIB) if size + _MEMTABLES_BYTES <= memory_bytes)
    if not caches:
        raise UserError(
            f"space 'jia-chen': a memory budget of {format_bytes(memory_bytes)} is too small; use at "
            f"least {format_bytes(_GIB + _MEMTABLES_BYTES)}"
        )
    return Space(
        name="jia-chen",
        summary="Jia and Chen's table II: memtables, cache, threads (6 knobs, 2,160 configurations)",
        knobs=(
            # The paper's 1 stays a choice although RocksDB raises it to 2.
            CATALOGUE["max_write_buffer_number"].narrowed(
                choices=(1, 2, 4, 8, _MAX_WRITE_BUFFERS), default=2
            ),
            _threads(),
            CATALOGUE["max_background_flushes"].narrowed(choices=(1, 2, 4), default=1),
            CATALOGUE["block_cache"].narrowed(choices=caches, default=_GIB),
            CATALOGUE["level0_file_num_compaction_trigger"].narrowed(choices=(1, 2, 4, 8), default=4),
            CATALOGUE["max_background_compactions"].narrowed(choices=(1, 2, 4), default=1),
        ),
        memory_bytes=memory_bytes,
        fixed_options=FIXED_OPTIONS,
        expected_entries=expected_entries,
    )


def _threads() -> Knob:
    """Returns the knob for the number of threads that issue operations."""
    return Knob(
        "threads",
        "workload",
        "threads",
        1,
        choices=(1, 2, 4, 8),
        effect="Threads that issue operations: more use the device better, but wait longer for each other.",
    )
