"""Jia and Chen's space (table II): six ordinal knobs, 2,160 configurations; one of them is the workload's."""

from rocktune.errors import UserError
from rocktune.space.catalogue import CATALOGUE
from rocktune.space.configuration import OptionMaps
from rocktune.space.knob import Knob
from rocktune.space.space import Space
from rocktune.units import MIB, format_bytes

_GIB = 1 << 30
_WRITE_BUFFER_BYTES = 32 * MIB
_MAX_WRITE_BUFFERS = 16
_MEMTABLES_BYTES = _MAX_WRITE_BUFFERS * _WRITE_BUFFER_BYTES

JIA_CHEN_MEMORY_BYTES = 8 * _GIB
"""Table I's "Baseline" machine; "MEM-plus" has 16 GiB."""

FIXED_OPTIONS: OptionMaps = {
    "db": {"allow_mmap_reads": "false", "max_open_files": "-1"},
    "cf": {
        # "Each buffer is 32MB."
        "write_buffer_size": str(_WRITE_BUFFER_BYTES),
        "compaction_style": "kCompactionStyleLevel",
        # RocksDB 5.17's defaults, which later versions changed.
        "level_compaction_dynamic_level_bytes": "false",
        "compression": "kSnappyCompression",
    },
    "table": {"cache_index_and_filter_blocks": "false"},
}
"""The paper names no other option: everything else, bloom filters too, is left as RocksDB 5.17 had it."""


def jia_chen_space(memory_bytes: int, expected_entries: float) -> Space:
    """Returns the space for a memory budget, which bounds the block cache from above.

    RocksDB takes one write buffer for two.

    Args:
        memory_bytes: at full size; of the block cache's sizes those stay that leave room for the memtables.
        expected_entries: distinct keys by the end of a full-length run.

    Raises:
        UserError: not even the smallest block cache fits beside the memtables.
    """
    caches = tuple(size for size in (1 * _GIB, 2 * _GIB, 4 * _GIB) if size + _MEMTABLES_BYTES <= memory_bytes)
    if not caches:
        raise UserError(
            f"space 'jia-chen': a memory budget of {format_bytes(memory_bytes)} is too small; it takes at "
            f"least {format_bytes(_GIB + _MEMTABLES_BYTES)}"
        )
    return Space(
        name="jia-chen",
        summary="Jia and Chen's table II: memtables, cache, threads (6 knobs, 2,160 configurations)",
        knobs=(
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
    return Knob(
        "threads",
        "workload",
        "threads",
        1,
        choices=(1, 2, 4, 8),
        effect="Threads that issue operations: more use the device better and wait longer for each other.",
    )
