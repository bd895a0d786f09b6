"""Options that contradict each other or have no effect."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass

from rocktune.analysis.explain.evidence import named
from rocktune.analysis.explain.facts import Facts
from rocktune.analysis.explain.finding import Confidence, Evidence, Finding, Suggestion
from rocktune.analysis.explain.rule import Rule


@dataclass(frozen=True)
class Contradiction:
    """A combination of options that does not do what it says.

    Attributes:
        says: what is wrong, in one sentence; braces name options, which stand for their values.
        options: the options, by the names of `Facts.text`.
        holds: tells from the facts and the family whether the combination is there.
        suggestions: options to change, each with the value to try and why.
    """

    says: str
    options: tuple[str, ...]
    holds: Callable[[Facts, str], bool]
    suggestions: tuple[tuple[str, str, str], ...]


def _number(facts: Facts, name: str, family: str) -> float:
    """Returns a number, or NaN, with which all comparisons are false."""
    found = facts.number(name, family)
    return float("nan") if found is None else found


_TRIGGER, _SLOWDOWN = "level0_file_num_compaction_trigger", "level0_slowdown_writes_trigger"
_SOFT, _HARD = "soft_pending_compaction_bytes_limit", "hard_pending_compaction_bytes_limit"
_MERGED, _BUFFERS = "min_write_buffer_number_to_merge", "max_write_buffer_number"
CONTRADICTIONS = (
    Contradiction(
        "Writes are delayed at {level0_slowdown_writes_trigger} files in level 0, no later than a compaction "
        "starts, at {level0_file_num_compaction_trigger}",
        (_SLOWDOWN, _TRIGGER),
        lambda facts, family: 0 < _number(facts, _SLOWDOWN, family) <= _number(facts, _TRIGGER, family),
        (
            (_SLOWDOWN, "20", "delays writes only after compactions have started"),
            ("level0_stop_writes_trigger", "36", "stops writes only after they were delayed"),
        ),
    ),
    Contradiction(
        "Writes stop at {level0_stop_writes_trigger} files in level 0, before they are delayed at "
        "{level0_slowdown_writes_trigger}",
        ("level0_stop_writes_trigger", _SLOWDOWN),
        lambda facts, family: (
            0 < _number(facts, "level0_stop_writes_trigger", family) < _number(facts, _SLOWDOWN, family)
        ),
        (("level0_stop_writes_trigger", "36", "stops writes only after they were delayed"),),
    ),
    Contradiction(
        "The soft limit of pending compaction bytes, {soft_pending_compaction_bytes_limit}, is not below the "
        "hard one, {hard_pending_compaction_bytes_limit}, so that writes stop without being delayed",
        (_SOFT, _HARD),
        lambda facts, family: 0 < _number(facts, _HARD, family) <= _number(facts, _SOFT, family),
        ((_HARD, str(256 << 30), "is RocksDB's default"),),
    ),
    Contradiction(
        "A flush waits for {min_write_buffer_number_to_merge} memtables, and only "
        "{max_write_buffer_number} may be there",
        (_MERGED, _BUFFERS),
        lambda facts, family: 1 < _number(facts, _BUFFERS, family) <= _number(facts, _MERGED, family),
        ((_MERGED, "1", "flushes each memtable as soon as it is full"),),
    ),
    Contradiction(
        "All memtables together may take {db_write_buffer_size} bytes, less than one of "
        "{write_buffer_size}, so that flushes are smaller than set",
        ("db_write_buffer_size", "write_buffer_size"),
        lambda facts, family: (
            0 < _number(facts, "db_write_buffer_size", family) < _number(facts, "write_buffer_size", family)
        ),
        (("db_write_buffer_size", "0", "lets memtables grow to write_buffer_size"),),
    ),
    Contradiction(
        "Memtables have a Bloom filter of prefixes ({memtable_prefix_bloom_size_ratio} of their size), "
        "and no prefix is set, so it takes memory for nothing",
        ("memtable_prefix_bloom_size_ratio", "prefix_extractor"),
        lambda facts, family: (
            _number(facts, "memtable_prefix_bloom_size_ratio", family) > 0
            and facts.text("prefix_extractor", family) == "nullptr"
            and facts.text("memtable_whole_key_filtering", family) in ("0", "false")
        ),
        (("memtable_whole_key_filtering", "true", "puts whole keys into the filter"),),
    ),
    Contradiction(
        "Filters and index of level 0 are to stay in the block cache "
        "({table.pin_l0_filter_and_index_blocks_in_cache}), and are not in it "
        "(cache_index_and_filter_blocks is {table.cache_index_and_filter_blocks})",
        ("table.pin_l0_filter_and_index_blocks_in_cache", "table.cache_index_and_filter_blocks"),
        lambda facts, family: (
            facts.is_on("table.pin_l0_filter_and_index_blocks_in_cache", family)
            and facts.text("table.cache_index_and_filter_blocks", family) in ("0", "false")
        ),
        (("cache_index_and_filter_blocks", "true", "puts index and filters into the block cache"),),
    ),
    Contradiction(
        "Filters are left out of the last level (optimize_filters_for_hits is {optimize_filters_for_hits}), "
        "and there are no filters at all",
        ("optimize_filters_for_hits", "table.filter_policy"),
        lambda facts, family: (
            facts.is_on("optimize_filters_for_hits", family)
            and facts.text("table.filter_policy", family) == "nullptr"
        ),
        (("bloom_bits", "10", "adds the filters"),),
    ),
)


def _find(facts: Facts) -> Iterator[Finding]:
    for each in CONTRADICTIONS:
        families = tuple(family for family in facts.families if each.holds(facts, family))
        if families:
            yield _finding(facts, each, families)


def _finding(facts: Facts, each: Contradiction, families: tuple[str, ...]) -> Finding:
    says = each.says
    for option in each.options:
        says = says.replace(f"{{{option}}}", facts.text(option, families[0]) or "?")
    names = [name.removeprefix("table.") for name in each.options]
    return Finding(
        rule="contradictory-options",
        title=f"{names[0]} contradicts {names[1]}",
        families=families,
        held_share=None,
        cause=f"{says}.",
        confidence=Confidence.HIGH,
        is_root=True,
        covers=frozenset(),
        evidence=(Evidence(f"Options of {named(families)} at the opening.", names[0]),),
        suggestions=tuple(
            Suggestion(option, _present(facts, option, families[0]), value, why)
            for option, value, why in each.suggestions
        ),
    )


def _present(facts: Facts, option: str, family: str) -> str | None:
    found = facts.text(option, family)
    return facts.text(f"table.{option}", family) if found is None else found


RULE = Rule(
    "contradictory-options",
    (
        "code: db/column_family.cc, SanitizeOptions",
        "code: include/rocksdb/options.h",
        "code: include/rocksdb/table.h",
    ),
    _find,
)
