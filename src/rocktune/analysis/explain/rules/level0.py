"""Files in level 0 delay or stop writes."""

from collections.abc import Iterator

from rocktune.analysis.explain.evidence import compaction_evidence, families_of, named, stall_evidence
from rocktune.analysis.explain.facts import Facts, keys_of, share_of
from rocktune.analysis.explain.finding import Confidence, Evidence, Finding, Suggestion
from rocktune.analysis.explain.held import Held
from rocktune.analysis.explain.rule import Rule
from rocktune.analysis.explain.suggesting import changed, more_subcompactions
from rocktune.importing.logs import StallCause

MIN_HEADROOM = 8
"""Files between the start of a compaction and the first delay. RocksDB's defaults leave 16."""


def _find(facts: Facts) -> Iterator[Finding]:
    causes = facts.causes(StallCause.LEVEL0)
    families = families_of(causes)
    for family in families:
        own = tuple(held for held in causes if held.stall.family == family)
        trigger = facts.number("level0_file_num_compaction_trigger", family)
        slowdown = facts.number("level0_slowdown_writes_trigger", family)
        tight = trigger is not None and slowdown is not None and slowdown - trigger < MIN_HEADROOM
        yield _tight(facts, family, own) if tight else _general(facts, family, own)


def _tight(facts: Facts, family: str, own: tuple[Held, ...]) -> Finding:
    trigger = facts.number("level0_file_num_compaction_trigger", family) or 0
    slowdown = facts.number("level0_slowdown_writes_trigger", family) or 0
    stop = facts.number("level0_stop_writes_trigger", family) or 0
    return Finding(
        rule="level0-triggers",
        title=f"triggers of level 0 in {named([family])} are so close that a burst holds writes up",
        families=(family,),
        held_share=share_of(own),
        cause=(
            "A compaction of level 0 starts at level0_file_num_compaction_trigger files, and writes are "
            "delayed from level0_slowdown_writes_trigger. Flushes go on while it runs, so the files between "
            "the two have to last for one whole compaction. Here they do not."
        ),
        confidence=Confidence.HIGH,
        is_root=True,
        covers=keys_of(own),
        evidence=(
            Evidence(
                f"A compaction starts at {trigger:.0f} files; writes are delayed at {slowdown:.0f} and "
                f"stopped at {stop:.0f}.",
                "level0_slowdown_writes_trigger",
            ),
            *stall_evidence(facts, own),
            *compaction_evidence(facts),
        ),
        suggestions=(
            changed(
                facts, "level0_slowdown_writes_trigger", family, max(20, 5 * trigger), "delays writes later"
            ),
            changed(facts, "level0_stop_writes_trigger", family, max(36, 9 * trigger), "stops writes later"),
        ),
    )


def _general(facts: Facts, family: str, own: tuple[Held, ...]) -> Finding:
    return Finding(
        rule="level0-triggers",
        title=f"level 0 of {named([family])} fills faster than compactions empty it",
        families=(family,),
        held_share=share_of(own),
        cause=(
            "Each flush adds a file to level 0, and only compactions take files away. RocksDB delays, then "
            "stops, all writes while there are too many, because each of them has to be searched by reads."
        ),
        confidence=Confidence.MEDIUM,
        is_root=False,
        covers=keys_of(own),
        evidence=(*stall_evidence(facts, own), *compaction_evidence(facts)),
        suggestions=tuple(_general_suggestions(facts, family)),
    )


def _general_suggestions(facts: Facts, family: str) -> Iterator[Suggestion]:
    yield more_subcompactions(facts)
    buffer_bytes = facts.number("write_buffer_size", family)
    if buffer_bytes is not None and 0 < buffer_bytes < 128 << 20:
        why = "makes fewer files of the same writes"
        yield changed(facts, "write_buffer_size", family, 2 * buffer_bytes, why)


RULE = Rule(
    "level0-triggers",
    (
        "wiki: Write Stalls",
        "wiki: RocksDB Tuning Guide",
        "code: db/column_family.cc, GetWriteStallConditionAndCause",
    ),
    _find,
)
