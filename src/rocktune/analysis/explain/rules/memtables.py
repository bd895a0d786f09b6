"""Memtables delay or stop writes: flushes cannot keep up, or there are too few memtables for a burst."""

from collections.abc import Iterator

from rocktune.analysis.explain.evidence import families_of, flush_evidence, named, stall_evidence
from rocktune.analysis.explain.facts import Facts, keys_of, share_of
from rocktune.analysis.explain.finding import Confidence, Evidence, Finding
from rocktune.analysis.explain.rule import Rule
from rocktune.analysis.explain.rules.flush_bound import flushes_saturated
from rocktune.analysis.explain.suggesting import changed
from rocktune.importing.logs import StallCause
from rocktune.units import format_bytes

MAX_BUFFER_BYTES = 64 << 20


def _find(facts: Facts) -> Iterator[Finding]:
    causes = facts.causes(StallCause.MEMTABLES)
    if not causes:
        return
    families = families_of(causes)
    family = families[0]
    count = facts.number("max_write_buffer_number", family)
    size = facts.number("write_buffer_size", family)
    saturated = flushes_saturated(facts)
    limits: tuple[Evidence, ...] = ()
    if count is not None and size is not None:
        text = f"{named([family])} may have {count:.0f} memtables of {format_bytes(size)}."
        limits = (Evidence(text, "max_write_buffer_number"),)
    yield Finding(
        rule="few-memtables",
        title=f"memtables of {named(families)} are full before flushes free them",
        families=families,
        held_share=share_of(causes),
        cause=(
            "Writes stop when all max_write_buffer_number memtables of a family are full, and are delayed "
            "before the last of more than three. "
            + (
                "Flushes ran all the time, so more memtables only postpone it."
                if saturated
                else "Flushes had time to spare, so the memtables are too few or too small for a burst."
            )
        ),
        confidence=Confidence.LOW if saturated is None else Confidence.HIGH,
        is_root=saturated is False,
        covers=keys_of(causes),
        evidence=(*limits, *stall_evidence(facts, causes), *flush_evidence(facts)),
        suggestions=(
            changed(
                facts, "max_write_buffer_number", family, max(4, 2 * (count or 2)), "holds more of a burst"
            ),
            changed(
                facts,
                "write_buffer_size",
                family,
                max(MAX_BUFFER_BYTES, size or 0),
                "makes fewer switches of memtables",
            ),
        ),
    )


RULE = Rule(
    "few-memtables",
    ("wiki: Write Stalls", "wiki: MemTable", "code: db/column_family.cc, GetWriteStallConditionAndCause"),
    _find,
)
