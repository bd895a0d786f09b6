"""Scans skip deleted and overwritten entries."""

from collections.abc import Iterator

from rocktune.analysis.explain.facts import Facts
from rocktune.analysis.explain.finding import Confidence, Evidence, Finding, Suggestion
from rocktune.analysis.explain.rule import Rule

MIN_STEPS = 1_000
MIN_SKIPS_PER_STEP = 2.0
"""Entries that an iterator skips for each Seek, Next or Prev."""


def _find(facts: Facts) -> Iterator[Finding]:
    tickers = facts.tickers
    steps = sum(tickers.get(f"number.db.{name}", 0) for name in ("seek", "next", "prev"))
    skips = tickers.get("number.iter.skip", 0)
    if steps < MIN_STEPS or skips < MIN_SKIPS_PER_STEP * steps:
        return
    yield Finding(
        rule="tombstones",
        title="scans skip more deleted and overwritten entries than they return",
        families=(),
        held_share=None,
        cause=(
            "A deletion is an entry of its own, a tombstone. An iterator has to step over it and over all "
            "older entries of its key, until a compaction of the last level drops them. Queues and expired "
            "data leave long rows of tombstones, which each Seek crosses again."
        ),
        confidence=Confidence.HIGH,
        is_root=True,
        covers=frozenset(),
        evidence=(
            Evidence(
                f"Iterators skipped {skips:,} entries for {steps:,} calls of Seek, Next and Prev, "
                f"{skips / steps:.1f} for each.",
                "rocksdb.number.iter.skip COUNT",
            ),
        ),
        suggestions=tuple(_suggestions(facts)),
    )


def _suggestions(facts: Facts) -> Iterator[Suggestion]:
    family = facts.families[0]
    if facts.is_on("disable_auto_compactions", family):
        yield Suggestion("disable_auto_compactions", "1", "false", "lets compactions drop tombstones")
    why = "compacts files that hold data of an hour ago, and drops their tombstones"
    yield Suggestion(
        "periodic_compaction_seconds", facts.text("periodic_compaction_seconds", family), "3600", why
    )


RULE = Rule(
    "tombstones",
    ("wiki: Delete Range", "wiki: Iterator", "code: include/rocksdb/statistics.h, NUMBER_ITER_SKIP"),
    _find,
)
