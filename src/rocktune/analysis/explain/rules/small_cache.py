"""The block cache is too small for what is read."""

from collections.abc import Iterator, Mapping

from rocktune.analysis.explain.facts import Facts
from rocktune.analysis.explain.finding import Confidence, Evidence, Finding, Suggestion
from rocktune.analysis.explain.rule import Rule
from rocktune.analysis.explain.suggesting import whole
from rocktune.units import format_bytes

MIN_READS = 1_000
MIN_MISS_SHARE = 0.5
"""Misses over all look-ups of blocks, from which most reads go to the device."""
MAX_CACHED_PART = 0.02
"""Capacity over the size of the store, below which a cache holds only what is read all the time."""
MIN_METADATA_MISS_SHARE = 0.1
"""Misses of index and filter blocks over their look-ups; each costs a read before the data is read."""
_TRIED_PART = 0.25


def _find(facts: Facts) -> Iterator[Finding]:
    tickers = facts.tickers
    reads = tickers.get("number.keys.read", 0) + tickers.get("number.db.seek", 0)
    hits, misses = tickers.get("block.cache.hit", 0), tickers.get("block.cache.miss", 0)
    capacity = facts.number("table.block_cache_options.capacity", facts.families[0])
    if reads < MIN_READS or not hits + misses or capacity is None or not facts.store_bytes:
        return
    miss_share = misses / (hits + misses)
    metadata = _metadata_miss_share(tickers)
    small = capacity < MAX_CACHED_PART * facts.store_bytes and miss_share >= MIN_MISS_SHARE
    if not small and metadata < MIN_METADATA_MISS_SHARE:
        return
    parts = (
        f"The block cache has {format_bytes(capacity)}, the store {format_bytes(facts.store_bytes)}.",
        f"{miss_share:.0%} of {hits + misses:,} look-ups of blocks missed.",
    )
    evidence = tuple(Evidence(text, "rocksdb.block.cache.miss COUNT") for text in parts)
    if metadata >= MIN_METADATA_MISS_SHARE:
        text = f"{metadata:.0%} of the look-ups of index and filter blocks missed."
        evidence += (Evidence(text, "rocksdb.block.cache.index.miss COUNT"),)
    yield Finding(
        rule="small-cache",
        title="the block cache is too small for what is read",
        families=(),
        held_share=None,
        cause=(
            "A lookup searches index, filter and data blocks of several files. Each one that is not in "
            "the block cache is read from the file. With cache_index_and_filter_blocks, index and "
            "filters compete with the data for the cache."
        ),
        confidence=Confidence.HIGH if metadata >= MIN_METADATA_MISS_SHARE else Confidence.MEDIUM,
        is_root=True,
        covers=frozenset(),
        evidence=evidence,
        suggestions=(
            Suggestion(
                "block_cache",
                whole(capacity),
                str(int(max(_TRIED_PART * facts.store_bytes, 4 * capacity))),
                "keeps more blocks in memory",
            ),
        ),
    )


def _metadata_miss_share(tickers: Mapping[str, int]) -> float:
    """Returns misses of index and filter blocks over their look-ups; 0 if they are not in the cache."""
    misses = tickers.get("block.cache.index.miss", 0) + tickers.get("block.cache.filter.miss", 0)
    hits = tickers.get("block.cache.index.hit", 0) + tickers.get("block.cache.filter.hit", 0)
    return misses / (hits + misses) if hits + misses else 0.0


RULE = Rule(
    "small-cache",
    ("wiki: Block Cache", "wiki: Memory usage in RocksDB", "code: include/rocksdb/statistics.h"),
    _find,
)
