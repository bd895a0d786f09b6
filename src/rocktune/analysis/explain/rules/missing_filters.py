"""Lookups read files that do not have the key, because there are no filters."""

from collections.abc import Iterator

from rocktune.analysis.explain.evidence import named
from rocktune.analysis.explain.facts import Facts
from rocktune.analysis.explain.finding import Confidence, Evidence, Finding, Suggestion
from rocktune.analysis.explain.rule import Rule

MIN_READS = 1_000
MIN_BLOCKS_PER_READ = 1.3
"""Data blocks looked up for each lookup. With filters it is about 1, less what memtables answer."""
MAX_SEEK_PART = 0.1
"""Iterators over lookups, above which blocks cannot be told apart by what read them."""
MIN_ABSENT_SHARE = 0.1
"""Lookups of absent keys, each of which searches every sorted run without filters."""


def _find(facts: Facts) -> Iterator[Finding]:
    bare = tuple(family for family in facts.families if _has_no_filter(facts, family))
    reads = facts.tickers.get("number.keys.read", 0)
    if not bare or reads < MIN_READS:
        return
    blocks, absent = _blocks_per_read(facts, reads), _absent_share(facts, reads)
    if (blocks or 0.0) < MIN_BLOCKS_PER_READ and (absent or 0.0) < MIN_ABSENT_SHARE:
        return
    evidence = [Evidence(f"{named(bare)}: no filter policy is set.", "filter_policy: nullptr")]
    if blocks is not None:
        text = f"Each of {reads:,} lookups looked at {blocks:.1f} data blocks."
        evidence.append(Evidence(text, "rocksdb.block.cache.data.miss COUNT"))
    if absent is not None:
        evidence.append(
            Evidence(f"{absent:.0%} of the lookups found no key.", "rocksdb.number.keys.read COUNT")
        )
    yield Finding(
        rule="missing-filters",
        title="lookups search files that do not have the key, because there are no filters",
        families=bare,
        held_share=None,
        cause=(
            "A lookup searches each file of level 0 and one file of each deeper level, until it finds "
            "the key. A Bloom filter tells, without reading a data block, that a file does not have the "
            "key. Without one each of these files costs a block, most of all for absent keys."
        ),
        confidence=Confidence.HIGH,
        is_root=True,
        covers=frozenset(),
        evidence=tuple(evidence),
        suggestions=(Suggestion("bloom_bits", "0", "10", "skips 99% of the files without the key"),),
    )


def _has_no_filter(facts: Facts, family: str) -> bool:
    policy = facts.text("table.filter_policy", family)
    return policy is not None and policy.strip() in ("nullptr", "(nil)", "")


def _blocks_per_read(facts: Facts, reads: int) -> float | None:
    """Returns data blocks looked up for each lookup; None if iterators looked at many of them."""
    if facts.tickers.get("number.db.seek", 0) > MAX_SEEK_PART * reads:
        return None
    blocks = facts.tickers.get("block.cache.data.hit", 0) + facts.tickers.get("block.cache.data.miss", 0)
    return blocks / reads


def _absent_share(facts: Facts, reads: int) -> float | None:
    """Returns the share of lookups that found no key; None if the counters of levels are missing."""
    names = ("memtable.hit", "l0.hit", "l1.hit", "l2andup.hit")
    if not any(name in facts.tickers for name in names):
        return None
    return max(0.0, 1 - sum(facts.tickers.get(name, 0) for name in names) / reads)


RULE = Rule(
    "missing-filters",
    (
        "wiki: RocksDB Bloom Filter",
        "code: db/version_set.cc, Version::Get",
        "code: include/rocksdb/statistics.h",
    ),
    _find,
)
