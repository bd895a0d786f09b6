"""How the report shows constraints and their bounds."""

import io
from typing import Any

from rich.console import Console
from tests.report import sample

from rocktune.cli.tables import print_estimate, print_outcome
from rocktune.outcome import Outcome
from rocktune.report import bounds, findings, render_report
from rocktune.report.advice import advice

SPACE = {"value": 1.62, "low": 1.5, "high": 1.7, "repeats": 6}
MEMORY = {"value": 900.0 * (1 << 20), "low": None, "high": None, "repeats": 6}


def bound(constraint: str, value: float | None, **given: bool) -> dict[str, Any]:
    """A default upper bound."""
    field = constraint.partition("<=")[0]
    rest: dict[str, Any] = {"at_most": True, "is_default": True, "has_yielded": False}
    return {"constraint": constraint, "field": field, "bound": value} | rest | given


BOUNDS = [
    bound("read_latency_us_p99<=1.25x", 5000.0, is_default=False),
    bound("max_space_amplification<=2", 2.0),
    bound("full_size_memory_bytes<=1048576000", 1100.0 * (1 << 20), has_yielded=True),
]


def bounded(**changes: Any) -> Outcome:
    """A study with bounds that both sides keep, with some fields changed."""
    document = sample.document()
    for side in ("best", "baseline"):
        document[side] |= {"max_space_amplification": SPACE, "full_size_memory_bytes": MEMORY}
    return Outcome.from_json(
        document | {"bounds": BOUNDS, "constraints": [BOUNDS[0]["constraint"]]} | changes
    )


def test_each_constraint_has_a_row() -> None:
    assert [label for label, _ in bounds.bound_rows(bounded())] == [
        "read latency p99",
        "maximum space amplification (default)",
        "memory at full size (default)",
    ]
    texts = [found[0] for _, found in bounds.bound_rows(bounded())]
    assert texts == [
        "at most 5,000 (1.25× the baseline)",
        "at most 2.00",
        "at most 1.074GiB (1.05× the baseline)",
    ]
    assert bounds.bound_rows(bounded())[1][1][1:] == ["1.62", "1.62"]


def test_page_and_terminal_show_them() -> None:
    outcome = bounded()
    page = render_report(sample.study(), outcome, sample.trials())
    assert "<h2>Bounds</h2>" in page
    assert "at most 1.074GiB (1.05× the baseline)" in page
    console = Console(file=io.StringIO(), width=200)
    print_outcome(console, outcome)
    printed = console.file.getvalue()  # type: ignore[attr-defined]
    assert "maximum space amplification (default)" in printed
    assert "breaks the default constraint on memory at full size" in printed


def test_older_documents_have_no_bounds() -> None:
    assert bounds.section(sample.outcome()) == ""
    assert not any("default constraint" in line for line in advice(sample.outcome()))


def test_a_broken_default_is_said_in_words() -> None:
    document = sample.document()
    worse = document["best"] | {
        "max_space_amplification": SPACE | {"value": 2.3},
        "full_size_memory_bytes": MEMORY,
        "keeps_constraints": False,
    }
    outcome = bounded(best=worse, recommended="baseline")
    assert findings.headline(outcome).startswith(
        "No configuration proven to keep maximum space amplification of at most 2.00,"
    )


def test_the_estimate_names_the_defaults() -> None:
    console = Console(file=io.StringIO(), width=200)
    estimate = {
        "study": "s",
        "min_total_s": 1.0,
        "total_s": 1.0,
        "disk_bytes": 1,
        "memory_bytes": 1,
        "commands": [],
    }
    print_estimate(console, estimate | {"default_constraints": ["max_space_amplification<=2"]})
    assert "Only what keeps max_space_amplification<=2 is recommended" in console.file.getvalue()  # type: ignore[attr-defined]
