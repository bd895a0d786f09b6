"""Compactions cannot keep up: with the device, with the processors, or with their threads."""

from collections.abc import Iterator
from functools import partial

from rocktune.analysis.explain.evidence import compaction_evidence, families_of, stall_evidence
from rocktune.analysis.explain.facts import Facts, keys_of, share_of
from rocktune.analysis.explain.finding import Confidence, Evidence, Finding, Suggestion
from rocktune.analysis.explain.held import Held
from rocktune.analysis.explain.rule import Rule
from rocktune.analysis.explain.suggesting import (
    cheaper_compression,
    more_jobs,
    more_subcompactions,
    strong_compressions,
)
from rocktune.importing.logs import StallCause

MIN_BUSY = 0.4
"""Mean number of compactions from which they were busy. Tables count one only when it has ended."""
MAX_DEVICE_CPU_SHARE = 0.15
"""CPU time over time of compactions, up to which they wait. A merge writes about 400 MiB in a CPU second."""
MAX_DEVICE_CPU_SHARE_OF_ONE = 0.05
"""The same with one thread, of which more threads are the cure unless it hardly computes."""
MIN_CPU_SHARE = 0.3
"""The same, from which they compute. A merge that waits for nothing has 1, or less on busy processors."""
MIN_FLUSH_SPEED = 4.0
"""MiB/s of a flush over those of a compaction, from which not the device but compression slows the latter."""
SURE_CPU_SHARE = 0.5
"""CPU time over time of compactions, from which it is certain that they did not wait for the device."""
MAX_FEW_THREADS = 1
"""Compactions at a time that cannot work on two levels at once."""
MIN_BUSY_PART = 0.7
"""Mean number of compactions over the most that may run, from which all threads are busy."""
_CAUSES = {
    "device-bound": (
        "Compactions rewrite each byte several times and have to keep up with flushes. Here they ran "
        "much of the time and hardly computed, so they waited: for the device, for the rate limiter, or "
        "for processors that other programs take, which a LOG does not tell apart. More threads share "
        "the same bandwidth; fewer bytes help, or a higher limit."
    ),
    "cpu-bound": (
        "Compactions rewrite each byte several times and have to keep up with flushes. Here they "
        "computed most of their time, and several ran at once: merging, checksums and above all "
        "compression take the processors. A faster device does not help."
    ),
    "few-threads": (
        "Compactions rewrite each byte several times and have to keep up with flushes. "
        "max_background_jobs leaves them one thread, and it was busy, so that deeper levels wait for "
        "level 0 and level 0 for them. It computed too much to have waited for the device alone."
    ),
}
_TITLES = {
    "device-bound": "compactions wait for the device and cannot keep up with writes",
    "cpu-bound": "compactions wait for the processors and cannot keep up with writes",
    "few-threads": "one compaction thread cannot keep up with writes",
}


def bound_by(facts: Facts) -> str | None:
    """Returns the rule whose cause binds compactions; None if they were not busy or the LOG does not say."""
    busy, threads = facts.busy, facts.compaction_threads
    if busy.compactions is None or busy.compactions < MIN_BUSY:
        return None
    cpu = busy.compaction_cpu_share
    if cpu is None:
        return None
    if _compression_slows(facts):
        return "cpu-bound"
    few = threads is not None and threads <= MAX_FEW_THREADS
    if cpu <= (MAX_DEVICE_CPU_SHARE_OF_ONE if few else MAX_DEVICE_CPU_SHARE):
        return "device-bound"
    if threads is not None and few:
        return "few-threads" if busy.compactions >= MIN_BUSY_PART * threads else None
    return "cpu-bound" if cpu >= MIN_CPU_SHARE else None


def _compression_slows(facts: Facts) -> bool:
    """Returns whether blocks are compressed strongly, and flushes to the same device are much faster."""
    busy = facts.busy
    if not busy.compaction_mb_s or busy.flush_mb_s is None:
        return False
    strong = any(strong_compressions(facts, family) for family in facts.families)
    return strong and busy.flush_mb_s >= MIN_FLUSH_SPEED * busy.compaction_mb_s


def _find(facts: Facts, rule: str) -> Iterator[Finding]:
    causes = facts.causes(StallCause.LEVEL0, StallCause.PENDING)
    if causes and bound_by(facts) == rule:
        yield Finding(
            rule=rule,
            title=_TITLES[rule],
            families=families_of(causes),
            held_share=share_of(causes),
            cause=_CAUSES[rule],
            confidence=_confidence(facts, rule),
            is_root=True,
            covers=keys_of(causes),
            evidence=(
                *compaction_evidence(facts),
                *_compression(facts, rule),
                *stall_evidence(facts, causes),
            ),
            suggestions=tuple(_suggestions(facts, rule, causes)),
        )


def _confidence(facts: Facts, rule: str) -> Confidence:
    sure = rule != "device-bound" and (facts.busy.compaction_cpu_share or 0.0) >= SURE_CPU_SHARE
    return Confidence.HIGH if sure else Confidence.MEDIUM


def _compression(facts: Facts, rule: str) -> tuple[Evidence, ...]:
    strong = strong_compressions(facts, facts.families[0])
    if rule != "cpu-bound" or not strong:
        return ()
    return (Evidence(f"Blocks are compressed with {', '.join(strong)}.", "Options.compression"),)


def _suggestions(facts: Facts, rule: str, causes: tuple[Held, ...]) -> Iterator[Suggestion]:
    family = causes[0].stall.family
    compression = facts.text("compression", family)
    if rule == "few-threads":
        yield more_jobs(facts)
        yield more_subcompactions(facts)
    elif rule == "cpu-bound":
        yield from cheaper_compression(facts, family, "takes the least CPU time")
        yield more_subcompactions(facts)
    else:
        if compression in ("NoCompression", "kNoCompression"):
            yield Suggestion("compression", compression, "kLZ4Compression", "halves the bytes of many stores")
        style = facts.text("compaction_style", family)
        if style in ("kCompactionStyleLevel", None):
            why = "rewrites each byte fewer times, for more space"
            yield Suggestion("compaction_style", style, "kCompactionStyleUniversal", why)


_SOURCES = (
    "wiki: RocksDB Tuning Guide",
    "wiki: Compaction",
    "code: db/internal_stats.cc, DumpCFStats",
    "code: db/db_impl/db_impl_compaction_flush.cc, GetBGJobLimits",
)
DEVICE = Rule("device-bound", _SOURCES, partial(_find, rule="device-bound"))
CPU = Rule("cpu-bound", _SOURCES, partial(_find, rule="cpu-bound"))
THREADS = Rule("few-threads", _SOURCES, partial(_find, rule="few-threads"))
