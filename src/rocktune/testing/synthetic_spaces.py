"""Synthetic spaces of all shapes that a tuner must support."""

from collections.abc import Mapping
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from rocktune.lsm.arrays import Numbers
from rocktune.space import CATALOGUE, Condition, Knob, Space
from rocktune.space.rules import Rule

_MEMORY_BYTES = 1 << 30


@dataclass(frozen=True)
class _FewerFlushes(Rule):
    """A rule that makes the valid values of one knob depend on another one."""

    number = 1
    statement = "max_background_flushes < max_background_compactions"
    compares = ("max_background_flushes", "max_background_compactions")

    def holds(self, values: Mapping[str, Numbers]) -> NDArray[np.bool_]:
        return np.asarray(values["max_background_flushes"]) < values["max_background_compactions"]

    def numbers(self, values: Mapping[str, float]) -> str:
        return f"{values['max_background_flushes']} and {values['max_background_compactions']}"


def _space(name: str, knobs: tuple[Knob, ...], rules: tuple[Rule, ...] = ()) -> Space:
    """Returns a space with a memory budget of 1 GiB."""
    return Space(name, "made up", knobs, _MEMORY_BYTES, rules=rules)


_COMPACTIONS = CATALOGUE["max_background_compactions"].narrowed(low=1, high=8)
_FLUSHES = CATALOGUE["max_background_flushes"].narrowed(low=1, high=8)
_SIXTEEN = (
    _COMPACTIONS,
    _FLUSHES,
    CATALOGUE["level0_file_num_compaction_trigger"].narrowed(choices=(2, 4, 8, 16)),
    CATALOGUE["level0_slowdown_writes_trigger"].narrowed(low=20, high=20),
    CATALOGUE["max_bytes_for_level_multiplier"].narrowed(low=4, high=16),
    CATALOGUE["max_bytes_for_level_base"].narrowed(log=True),
    CATALOGUE["target_file_size_base"].narrowed(high=1 << 30),
    CATALOGUE["level_compaction_dynamic_level_bytes"],
    CATALOGUE["compaction_pri"],
    CATALOGUE["compression"],
    CATALOGUE["write_buffer_size"].narrowed(high=256 << 20),
    CATALOGUE["max_write_buffer_number"].narrowed(high=16),
    CATALOGUE["memtable_prefix_bloom_size_ratio"],
    CATALOGUE["block_size"].narrowed(choices=(2048, 4096, 8192, 16384)),
    CATALOGUE["max_subcompactions"].narrowed(high=8),
    CATALOGUE["enable_pipelined_write"],
)

_ONLY_STATIC = (Condition("level_compaction_dynamic_level_bytes", (False,)),)
_CONDITIONAL = (
    replace(_COMPACTIONS, default=4),
    # Before its parent, which must be no obstacle.
    replace(_FLUSHES, when=(Condition("max_subcompactions", (1,), unless=True),)),
    CATALOGUE["level_compaction_dynamic_level_bytes"],
    replace(CATALOGUE["max_bytes_for_level_multiplier"].narrowed(low=4, high=16), when=_ONLY_STATIC),
    replace(CATALOGUE["max_subcompactions"].narrowed(choices=(1, 2, 4), default=2), when=_ONLY_STATIC),
    CATALOGUE["compression"],
    replace(
        CATALOGUE["memtable_prefix_bloom_size_ratio"],
        when=(*_ONLY_STATIC, Condition("compression", ("kLZ4Compression", "kZSTD"))),
    ),
    CATALOGUE["block_size"].narrowed(choices=(2048, 4096, 8192, 16384)),
)

SYNTHETIC_SPACES = (
    _space("one choice", (CATALOGUE["level0_file_num_compaction_trigger"].narrowed(choices=(2, 4, 8)),)),
    _space("one switch", (CATALOGUE["enable_pipelined_write"],)),
    _space("one word", (CATALOGUE["compression"].narrowed(choices=("kNoCompression", "kZSTD")),)),
    _space("one whole number", (CATALOGUE["write_buffer_size"].narrowed(high=512 << 20),)),
    _space("one real number", (CATALOGUE["memtable_prefix_bloom_size_ratio"],)),
    _space("two that depend on each other", (_COMPACTIONS, _FLUSHES), (_FewerFlushes(),)),
    _space("sixteen of every kind", _SIXTEEN),
    _space("sixteen under a rule", _SIXTEEN, (_FewerFlushes(),)),
    _space("conditional", _CONDITIONAL),
    _space("conditional under a rule", _CONDITIONAL, (_FewerFlushes(),)),
)
"""Spaces of one knob of each kind, whose values are soon all measured, spaces whose knobs depend on each
other by a rule or by conditions, and spaces of sixteen knobs."""
