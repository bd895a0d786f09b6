"""Flushes are the brake."""

from collections.abc import Iterator

from rocktune.analysis.explain.evidence import families_of, flush_evidence, stall_evidence
from rocktune.analysis.explain.facts import Facts, keys_of, share_of
from rocktune.analysis.explain.finding import Confidence, Evidence, Finding, Suggestion
from rocktune.analysis.explain.rule import Rule
from rocktune.analysis.explain.suggesting import cheaper_compression, more_jobs, strong_compressions, whole
from rocktune.importing.logs import StallCause

MIN_BUSY_PART = 0.7
"""Mean number of flushes over the most that may run, from which they have no time to spare."""
MAX_SPEED_PART = 0.25
"""Speed of flushes over that of compactions, below which something slows flushes down."""
_CAUSE = (
    "Writes go on only while flushes free memtables. A flush writes one sorted file from memory, so it "
    "should be as fast as the device. A slow one has to wait for the device or the rate limiter, "
    "compresses strongly, or has a thread too few. Level 0 is not full, so its triggers are not the cure."
)


def flushes_saturated(facts: Facts) -> bool | None:
    """Returns whether flushes had no time to spare while writes were held up; None if the LOG lacks it."""
    if facts.busy.flushes is None or facts.flush_threads is None:
        return None
    return facts.busy.flushes >= MIN_BUSY_PART * facts.flush_threads


def _find(facts: Facts) -> Iterator[Finding]:
    causes = facts.causes(StallCause.MEMTABLES)
    saturated = flushes_saturated(facts)
    if causes and saturated:
        yield _finding(facts, Confidence.HIGH)
    # An excerpt may have the table alone, which does not say of how much time.
    elif not facts.held.counted and not causes and _slow_in_tables(facts):
        yield _finding(facts, Confidence.MEDIUM)


def _slow_in_tables(facts: Facts) -> bool:
    """Returns whether flushes took longer than compactions and were much slower, while no level was due."""
    busy = facts.busy
    if not busy.flush_s or not busy.compaction_s or busy.flush_mb_s is None or busy.compaction_mb_s is None:
        return False
    slow = busy.flush_mb_s < MAX_SPEED_PART * busy.compaction_mb_s
    return slow and busy.flush_s > busy.compaction_s and _max_score(facts) < 1


def _max_score(facts: Facts) -> float:
    return max((row.score or 0.0 for each in facts.last_stats.values() for row in each.levels), default=0.0)


def _finding(facts: Facts, confidence: Confidence) -> Finding:
    causes = facts.causes(StallCause.MEMTABLES)
    busy = facts.busy
    speed = "" if busy.flush_mb_s is None else f" at {busy.flush_mb_s:.1f} MiB/s"
    idle: tuple[Evidence, ...] = ()
    if facts.last_stats and _max_score(facts) < 1:
        compared = "" if busy.compaction_mb_s is None else f"; they write {busy.compaction_mb_s:.1f} MiB/s"
        idle = (Evidence(f"No level is due for compaction (scores below 1){compared}.", "Score"),)
    return Finding(
        rule="flush-bound",
        title=f"flushes{speed} are the brake",
        families=families_of(causes),
        held_share=share_of(causes),
        cause=_CAUSE,
        confidence=confidence,
        is_root=True,
        covers=keys_of(causes),
        evidence=(*flush_evidence(facts), *idle, *stall_evidence(facts, causes)),
        suggestions=tuple(_suggestions(facts)),
    )


def _suggestions(facts: Facts) -> Iterator[Suggestion]:
    family = facts.families[0]
    flushes = facts.flush_threads
    more = str(max(2, 2 * (flushes or 1)))
    present = whole(facts.number("max_background_flushes"))
    if present in (None, "-1"):
        yield more_jobs(facts)
    else:
        yield Suggestion("max_background_flushes", present, more, "lets more families flush at a time")
    # Flushes write level 0, the first one.
    if facts.compressions(family)[:1] == strong_compressions(facts, family)[:1]:
        yield from cheaper_compression(facts, family, "takes the least CPU time of a flush")


RULE = Rule(
    "flush-bound",
    (
        "wiki: Write Stalls",
        "code: db/db_impl/db_impl_compaction_flush.cc, GetBGJobLimits",
        "code: db/flush_job.cc",
    ),
    _find,
)
