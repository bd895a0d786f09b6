"""Delayed writes are slower than the store would need them to be."""

from collections.abc import Iterator

from rocktune.analysis.explain.evidence import families_of, stall_evidence
from rocktune.analysis.explain.facts import Facts, keys_of, share_of
from rocktune.analysis.explain.finding import Confidence, Finding
from rocktune.analysis.explain.held import Held
from rocktune.analysis.explain.rule import Rule
from rocktune.analysis.explain.suggesting import changed
from rocktune.units import format_bytes

MAX_CONFIGURED_BYTES_S = 1 << 20
"""Rate that no store on a disk of today needs as its first rate of delayed writes."""
MIN_COLLAPSE = 32
"""Highest over lowest rate from which the rate has collapsed: 15 messages, each a fifth lower."""
_DEFAULT_BYTES_S = 16 << 20


def _find(facts: Facts) -> Iterator[Finding]:
    delays = tuple(held for held in facts.held.causes if not held.stall.stops and held.stall.max_rate_bytes_s)
    highest = max((held.stall.max_rate_bytes_s or 0 for held in delays), default=0)
    lowest = min((held.stall.min_rate_bytes_s or highest for held in delays), default=0)
    if not delays or not lowest:
        return
    configured = facts.number("delayed_write_rate")
    first = highest if configured is None or configured <= 0 else configured
    if first <= MAX_CONFIGURED_BYTES_S:
        yield _finding(facts, delays, f"delayed writes get {format_bytes(first)}/s at most", is_root=True)
    elif highest >= MIN_COLLAPSE * lowest:
        collapse = (
            f"the rate of delayed writes falls from {format_bytes(highest)}/s to {format_bytes(lowest)}/s"
        )
        yield _finding(facts, delays, collapse, is_root=False)


def _finding(facts: Facts, delays: tuple[Held, ...], title: str, is_root: bool) -> Finding:
    cause = (
        "While writes are delayed, all of them together get a rate that begins with delayed_write_rate. "
        "Each further flush or compaction that finds more debt takes a fifth off it, down to 16 KiB/s; "
        "it rises by a quarter when the debt falls."
    )
    if not is_root:
        cause += (
            " So the rate shows for how long compactions have not kept up. It is an effect, not the cause."
        )
    return Finding(
        rule="slow-delayed-rate",
        title=title,
        families=families_of(delays),
        held_share=share_of(delays),
        cause=cause,
        confidence=Confidence.HIGH if is_root else Confidence.MEDIUM,
        is_root=is_root,
        covers=keys_of(delays) if is_root else frozenset(),
        evidence=stall_evidence(facts, delays),
        suggestions=(
            changed(
                facts, "delayed_write_rate", None, _DEFAULT_BYTES_S,
                "begins at a rate that compactions can keep up with",
            ),
        )
        if is_root
        else (),
    )  # fmt: skip


RULE = Rule(
    "slow-delayed-rate",
    (
        "wiki: Write Stalls",
        "code: db/column_family.cc, SetupDelay",
        "code: include/rocksdb/options.h, delayed_write_rate",
    ),
    _find,
)
