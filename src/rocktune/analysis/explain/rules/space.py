"""Old versions of entries take more space than the data."""

from collections.abc import Iterator

from rocktune.analysis.explain.evidence import named
from rocktune.analysis.explain.facts import UNIVERSAL, Facts
from rocktune.analysis.explain.finding import Confidence, Evidence, Finding, Suggestion
from rocktune.analysis.explain.rule import Rule
from rocktune.importing.logs import FamilyStats
from rocktune.units import format_bytes

MIN_AMPLIFICATION = 3.5
"""All sorted runs over the largest one. RocksDB's default for universal compaction allows 3."""
MIN_RUNS = 4
MIN_PERCENT = 400
"""Allowed amplification from which the store is meant to be large. Below it a merge is soon due."""
_DEFAULT_PERCENT = "200"
_PERCENT = "compaction_options_universal.max_size_amplification_percent"


def _find(facts: Facts) -> Iterator[Finding]:
    for family, stats in facts.last_stats.items():
        if facts.text("compaction_style", family) != UNIVERSAL:
            continue
        whole, largest, runs = _runs(stats)
        if (facts.number(_PERCENT, family) or 0) < MIN_PERCENT:
            continue
        if runs >= MIN_RUNS and largest > 0 and whole >= MIN_AMPLIFICATION * largest:
            yield _finding(facts, family, whole, largest, runs)


def _runs(stats: FamilyStats) -> tuple[float, float, int]:
    """Returns bytes of all sorted runs and of the largest one, and their number.

    The files of level 0 are sorted runs whose sizes are not dumped; their mean stands for them.
    """
    whole, largest, runs = 0.0, 0.0, 0
    for row in stats.levels:
        files, size = row.files or 0, row.size_bytes or 0.0
        if files > 0:
            in_level0 = row.level == "L0"
            whole += size
            runs += files if in_level0 else 1
            largest = max(largest, size / files if in_level0 else size)
    return whole, largest, runs


def _finding(facts: Facts, family: str, whole: float, largest: float, runs: int) -> Finding:
    percent = facts.text(_PERCENT, family)
    return Finding(
        rule="space-amplification",
        title=f"{named([family])} takes {whole / largest:.1f} times the space of its largest sorted run",
        families=(family,),
        held_share=None,
        cause=(
            "Universal compaction keeps several sorted runs, and each may hold another version of the same "
            "key. It merges them all when the newer ones are max_size_amplification_percent of the oldest, "
            "so a high limit keeps old versions for long."
        ),
        confidence=Confidence.MEDIUM,
        is_root=True,
        covers=frozenset(),
        evidence=(
            Evidence(
                f"{runs} sorted runs have {format_bytes(whole)}, the largest {format_bytes(largest)}; "
                f"{percent}% more than the last one is allowed.",
                f"** Compaction Stats [{family}] **",
            ),
        ),
        suggestions=(
            Suggestion(
                "universal_max_size_amplification_percent", percent, _DEFAULT_PERCENT, "is RocksDB's default"
            ),
        ),
    )


RULE = Rule(
    "space-amplification",
    (
        "wiki: Universal Compaction",
        "code: db/compaction/compaction_picker_universal.cc, PickCompactionToReduceSizeAmp",
    ),
    _find,
)
