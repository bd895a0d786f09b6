from rocktune.analysis.explain import Confidence, Evidence, Finding
from rocktune.analysis.explain.explaining import ranked
from rocktune.importing.logs import StallCause

LEVEL0, PENDING = ("default", False, StallCause.LEVEL0), ("default", False, StallCause.PENDING)


def finding(rule: str, share: float | None, is_root: bool = True, *covers: object) -> Finding:
    return Finding(
        rule=rule,
        title=rule,
        families=(),
        held_share=share,
        cause="",
        confidence=Confidence.HIGH,
        is_root=is_root,
        covers=frozenset(covers),  # type: ignore[arg-type]
        evidence=(Evidence("it is so"),),
    )


def names(*found: Finding) -> list[str]:
    return [each.rule for each in ranked(found)]


def test_the_largest_share_is_first_then_effects_then_findings_without_a_share() -> None:
    small, large = finding("small", 0.2, True, LEVEL0), finding("large", 0.5, True, PENDING)
    effect, reads = finding("effect", 0.9, False), finding("reads", None)
    assert names(reads, effect, small, large) == ["large", "small", "effect", "reads"]


def test_equal_shares_keep_causes_before_limits_and_the_order_of_the_rules() -> None:
    limit = finding("limit", 0.42, False, PENDING)
    first, second = finding("first", 0.38, True, LEVEL0), finding("second", 0.42, True, LEVEL0)
    assert names(limit, first, second) == ["first", "second", "limit"]


def test_a_limit_that_causes_explain_is_left_out() -> None:
    limit = finding("limit", 0.4, False, LEVEL0)
    assert names(limit, finding("cause", 0.4, True, LEVEL0, PENDING)) == ["cause"]
    assert names(limit, finding("cause", 0.4, True, PENDING)) == ["cause", "limit"]
