"""One column family holds up the writes to all."""

from collections.abc import Iterator

from rocktune.analysis.explain.evidence import stall_evidence
from rocktune.analysis.explain.facts import Facts, keys_of, share_of
from rocktune.analysis.explain.finding import Confidence, Evidence, Finding, Suggestion
from rocktune.analysis.explain.held import Held
from rocktune.analysis.explain.rule import Rule
from rocktune.analysis.explain.suggesting import whole
from rocktune.importing.logs import StallCause

MIN_PART = 0.9
"""Part of the time held up that the family has to cause."""
MAX_FLUSHED_PART = 0.8
"""Part of the bytes flushed above which the family is simply the one that is written."""
_TRIED = {
    "write_buffer_size": (64 << 20, "makes fewer, larger tables of the same writes"),
    "level0_slowdown_writes_trigger": (20, "delays writes later"),
    "level0_stop_writes_trigger": (36, "stops writes later"),
    "max_write_buffer_number": (4, "holds more writes while flushes run"),
}


def _find(facts: Facts) -> Iterator[Finding]:
    causes, families = facts.held.causes, facts.opening.families
    whole_share = share_of(causes)
    if len(families) < 2 or not causes or not whole_share:
        return
    parts: dict[str, float] = {}
    for held in causes:
        parts[held.stall.family] = parts.get(held.stall.family, 0.0) + (held.share or 0.0)
    family = max(parts, key=lambda name: parts[name])
    flushed = _flushed_part(facts, family)
    if parts[family] < MIN_PART * whole_share or (flushed is not None and flushed > MAX_FLUSHED_PART):
        return
    own = tuple(held for held in causes if held.stall.family == family)
    others = len(families) - 1
    yield Finding(
        rule="one-family",
        title=f"'{family}' holds up the writes to all {len(families)} column families",
        families=(family,),
        held_share=share_of(own),
        cause=(
            "A delay or stop is the database's: RocksDB has one write controller, and the limits of any one "
            "family slow the writes to all. The other "
            f"{'family reached' if others == 1 else f'{others} families reached'} no limit worth mentioning."
        ),
        confidence=Confidence.HIGH,
        is_root=True,
        covers=keys_of(own),
        evidence=(*stall_evidence(facts, own), *_flushed_evidence(family, flushed)),
        suggestions=tuple(_suggestions(facts, family, own)),
    )


def _flushed_part(facts: Facts, family: str) -> float | None:
    flushed = {work.family: work.flushed_bytes for work in facts.opening.work}
    total = sum(flushed.values())
    return flushed.get(family, 0) / total if total else None


def _flushed_evidence(family: str, part: float | None) -> tuple[Evidence, ...]:
    return () if part is None else (Evidence(f"'{family}' has {part:.0%} of all bytes flushed."),)


def _suggestions(facts: Facts, family: str, own: tuple[Held, ...]) -> Iterator[Suggestion]:
    """Yields the family's options that are lower than RocksDB's defaults and have to do with its limits."""
    kinds = {held.stall.cause for held in own}
    for option, (value, why) in _TRIED.items():
        present = facts.number(option, family)
        if option == "max_write_buffer_number" and StallCause.MEMTABLES not in kinds:
            continue
        if option.startswith("level0") and StallCause.LEVEL0 not in kinds:
            continue
        if present is not None and present < value:
            yield Suggestion(option, whole(present), str(value), why)


RULE = Rule(
    "one-family",
    (
        "wiki: Write Stalls",
        "code: db/write_controller.h",
        "code: db/column_family.cc, RecalculateWriteStallConditions",
    ),
    _find,
)
