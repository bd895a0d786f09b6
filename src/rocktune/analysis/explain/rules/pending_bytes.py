"""Pending compaction bytes delay or stop writes."""

from collections.abc import Iterator

from rocktune.analysis.explain.evidence import compaction_evidence, families_of, named, stall_evidence
from rocktune.analysis.explain.facts import Facts, keys_of, share_of
from rocktune.analysis.explain.finding import Confidence, Evidence, Finding
from rocktune.analysis.explain.held import Held
from rocktune.analysis.explain.rule import Rule
from rocktune.analysis.explain.suggesting import changed, more_jobs
from rocktune.importing.logs import StallCause
from rocktune.units import format_bytes

MIN_SOFT_LIMIT_LEVELS = 8
"""Soft limit in sizes of level 1. RocksDB's defaults have 256. A level that is due owes its size."""
_DEFAULT_SOFT_BYTES, _DEFAULT_HARD_BYTES = 64 << 30, 256 << 30


def _find(facts: Facts) -> Iterator[Finding]:
    causes = facts.causes(StallCause.PENDING)
    for family in families_of(causes):
        own = tuple(held for held in causes if held.stall.family == family)
        soft = facts.number("soft_pending_compaction_bytes_limit", family)
        base = facts.number("max_bytes_for_level_base", family)
        tight = soft is not None and base is not None and 0 < soft < MIN_SOFT_LIMIT_LEVELS * base
        yield _finding(facts, family, own, tight)


def _finding(facts: Facts, family: str, own: tuple[Held, ...], tight: bool) -> Finding:
    soft = facts.number("soft_pending_compaction_bytes_limit", family) or 0
    base = facts.number("max_bytes_for_level_base", family) or 0
    cause = (
        "RocksDB estimates the bytes that compactions have to rewrite until no level is too large. It delays "
        "all writes above soft_pending_compaction_bytes_limit and stops them at the hard limit. "
    )
    limits: tuple[Evidence, ...] = ()
    if tight:
        title = f"limits of pending compaction bytes in {named([family])} are lower than ordinary work"
        cause += "A level that is due owes about its own size for a moment, which here reaches the limit."
        limits = (
            Evidence(
                f"The soft limit is {format_bytes(soft)}; level 1 alone may have {format_bytes(base)}.",
                "soft_pending_compaction_bytes_limit",
            ),
        )
    else:
        title = f"compactions of {named([family])} fall behind what is written"
        cause += "Debt of this size is no burst: the store is written faster than it can be compacted."
    return Finding(
        rule="pending-limits",
        title=title,
        families=(family,),
        held_share=share_of(own),
        cause=cause,
        confidence=Confidence.HIGH if tight else Confidence.MEDIUM,
        is_root=tight,
        covers=keys_of(own),
        evidence=(*limits, *stall_evidence(facts, own), *compaction_evidence(facts)),
        suggestions=(
            changed(
                facts,
                "soft_pending_compaction_bytes_limit",
                family,
                _DEFAULT_SOFT_BYTES,
                "is RocksDB's default",
            ),
            changed(
                facts,
                "hard_pending_compaction_bytes_limit",
                family,
                _DEFAULT_HARD_BYTES,
                "is RocksDB's default",
            ),
        )
        if tight
        else (more_jobs(facts),),
    )


RULE = Rule(
    "pending-limits",
    ("wiki: Write Stalls", "code: db/version_set.cc, EstimateCompactionBytesNeeded"),
    _find,
)
