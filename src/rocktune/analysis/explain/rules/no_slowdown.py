"""Writes stop without being delayed first, because both limits are the same."""

from collections.abc import Iterator

from rocktune.analysis.explain.evidence import compaction_evidence, named, stall_evidence
from rocktune.analysis.explain.facts import Facts, keys_of, share_of
from rocktune.analysis.explain.finding import Confidence, Evidence, Finding
from rocktune.analysis.explain.rule import Rule
from rocktune.analysis.explain.suggesting import changed
from rocktune.importing.logs import StallCause


def _find(facts: Facts) -> Iterator[Finding]:
    options = ("level0_slowdown_writes_trigger", "level0_stop_writes_trigger")
    equal = {family: stop for family, (slow, stop) in facts.pairs(*options) if slow >= stop > 0}
    causes = tuple(
        held for held in facts.causes(StallCause.LEVEL0) if held.stall.stops and held.stall.family in equal
    )
    if not causes:
        return
    families = tuple(dict.fromkeys(held.stall.family for held in causes))
    first = families[0]
    stop = equal[first]
    yield Finding(
        rule="no-slowdown",
        title=f"writes to {named(families)} stop without being delayed first",
        families=families,
        held_share=share_of(causes),
        cause=(
            "RocksDB delays writes from level0_slowdown_writes_trigger files in level 0, and stops them at "
            "level0_stop_writes_trigger. Both are the same here, so writers run at full speed until they "
            "stand still until a compaction of level 0 has ended."
        ),
        confidence=Confidence.HIGH,
        is_root=True,
        covers=keys_of(causes),
        evidence=(
            Evidence(f"Both triggers of {named(families)} are {stop:.0f}.", "level0_slowdown_writes_trigger"),
            *stall_evidence(facts, causes),
            *compaction_evidence(facts),
        ),
        suggestions=(
            changed(
                facts, "level0_slowdown_writes_trigger", first, max(20, stop), "delays writes before the stop"
            ),
            changed(
                facts, "level0_stop_writes_trigger", first, max(36, 2 * stop), "leaves room for the delay"
            ),
        ),
    )


RULE = Rule(
    "no-slowdown",
    ("wiki: Write Stalls", "code: db/column_family.cc, GetWriteStallConditionAndCause"),
    _find,
)
