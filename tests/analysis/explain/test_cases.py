"""What users' LOG files come to."""

from tests.importing.logs.made import HERE, document

from rocktune.analysis.explain import Confidence, Explained, explain

CASES = HERE / "cases"


def explained(name: str) -> Explained:
    (opening,) = explain(document(CASES / name)).openings
    return opening


def test_stalls_of_three_families() -> None:
    opening = explained("stalls-of-three-families.log")
    found = {(finding.rule, finding.families): finding for finding in opening.findings}
    blocks, by_owner = found["pending-limits", ("blocks",)], found["level0-triggers", ("by_owner",)]
    assert {opening.findings[0], opening.findings[1]} == {blocks, by_owner}
    assert (blocks.held_share or 0) > 0.4
    assert (by_owner.held_share or 0) > 0.4
    stop = next(each for each in by_owner.evidence if "stopped" in each.text)
    assert stop.text == "'by_owner' stopped the writes to all 3 families once, for 0 ms to 6 min 42 s in all."
    assert stop.quote == "[by_owner] Stopping writes because we have 36 level-0 files"
    assert stop.first is not None
    assert stop.first.isoformat() == "2026-03-04T10:48:27.213813"
    # The rate is an effect, so it comes after its causes.
    collapse = opening.findings[-1]
    assert collapse.title == "the rate of delayed writes falls from 16MiB/s to 16KiB/s"
    assert [text.partition(":")[0] for text in opening.unknowns] == [
        "Reads, block cache and filters",
        "Levels, and how busy flushes and compactions were",
        "Options",
    ]


def test_slow_flushes_are_the_brake_and_triggers_are_no_cure() -> None:
    opening = explained("slow-flushes-17-columns.log")
    (finding,) = opening.findings
    assert finding.title == "flushes at 6.0 MiB/s are the brake"
    assert finding.confidence is Confidence.MEDIUM
    assert "its triggers are not the cure" in finding.cause
    assert any("No level is due for compaction" in each.text for each in finding.evidence)
    assert [each.option for each in finding.suggestions] == ["max_background_jobs"]
