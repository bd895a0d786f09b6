"""The rules of `rocktune explain`, each in a module of its own."""

from rocktune.analysis.explain.rule import Rule
from rocktune.analysis.explain.rules import (
    compaction_bound,
    contradictions,
    delayed_rate,
    flush_bound,
    level0,
    many_files,
    memtables,
    missing_filters,
    no_slowdown,
    one_family,
    pending_bytes,
    small_cache,
    space,
    tombstones,
)

RULES: tuple[Rule, ...] = (
    one_family.RULE,
    no_slowdown.RULE,
    delayed_rate.RULE,
    level0.RULE,
    pending_bytes.RULE,
    compaction_bound.DEVICE,
    compaction_bound.CPU,
    compaction_bound.THREADS,
    flush_bound.RULE,
    memtables.RULE,
    many_files.RULE,
    missing_filters.RULE,
    small_cache.RULE,
    tombstones.RULE,
    space.RULE,
    contradictions.RULE,
)
"""From special to general: of findings with equal shares of the time, the earlier rule's comes first."""
