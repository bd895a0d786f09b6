import math
from typing import Any

import numpy as np
import pytest

from rocktune.analysis.comparing import ComparedRun, findings_of, near_best_times
from rocktune.analysis.progress import Progress
from rocktune.objective import objective_named
from rocktune.report.comparison import headline, render_comparison


def run(
    tuner: str, seed: int, verified: float, setting: str = "s", steps: tuple[tuple[float, float], ...] = ()
) -> ComparedRun:
    at, best = np.array(steps or [(1.0, verified)]).reshape(-1, 2).T
    return ComparedRun(setting, tuner, seed, f"{setting}-{tuner}-{seed}", verified, Progress(at, best, 10.0))


def test_ranks_wins_and_ratios_by_hand() -> None:
    values = {"a": (2.0, 2.2, 1.0), "b": (1.0, 2.2, 2.0), "c": (0.5, 1.0, math.nan)}
    runs = [run(tuner, seed, value) for tuner, each in values.items() for seed, value in enumerate(each)]
    found = findings_of(runs)
    ranks = {tuner: summary["average_rank"] for tuner, summary in found["tuners"].items()}
    # Block 1: 1, 2, 3; block 2: 1.5, 1.5, 3; block 3: 2, 1, 3.
    assert ranks == {"a": pytest.approx(1.5), "b": pytest.approx(1.5), "c": 3.0}
    assert list(found["tuners"])[2] == "c"
    pairs: dict[tuple[str, str], dict[str, Any]] = {
        (pair["tuner"], pair["other"]): pair for pair in found["pairs"]
    }
    assert [pairs["a", "b"][name] for name in ("wins", "ties", "losses")] == [1, 1, 1]
    assert pairs["a", "b"]["ratio"]["value"] == pytest.approx((2 * 1 * 0.5) ** (1 / 3))
    assert [pairs["a", "c"][name] for name in ("wins", "ties", "losses")] == [3, 0, 0]
    assert pairs["a", "c"]["ratio"]["repeats"] == 2
    # Friedman by hand: 12 / (3 * 3 * 4) * (4.5^2 + 4.5^2 + 9^2) - 3 * 3 * 4 = 4.5, less ties' correction.
    assert found["friedman"]["blocks"] == 3
    assert found["friedman"]["statistic"] == pytest.approx(4.5 / (1 - 6 / (3 * 24)))


def test_a_tie_is_within_one_percent() -> None:
    found = findings_of([run("a", 1, 1.009), run("b", 1, 1.0)])
    assert found["pairs"][0]["ties"] == 1
    assert found["friedman"] is None


def test_near_best_is_within_95_percent_of_the_best_of_the_setting() -> None:
    runs = [
        run("a", 1, 1.0, "s", ((1.0, 1.0), (3.0, 1.9), (4.0, 2.0))),
        run("b", 1, 1.0, "s", ((2.0, 1.89),)),
        run("a", 1, 1.0, "t", ((5.0, 1.0),)),
    ]
    assert near_best_times(runs) == {"s-a-1": 3.0, "s-b-1": math.inf, "t-a-1": 5.0}
    found = findings_of(runs)
    assert found["tuners"]["a"]["near_best_share"] == 1.0
    assert found["tuners"]["a"]["near_best_s"] == {"median": 4.0, "low": 3.0, "high": 5.0}
    assert found["tuners"]["b"]["near_best_s"] == {"median": None, "low": None, "high": None}


def test_progress_is_a_staircase() -> None:
    progress = Progress(np.array([1.0, 3.0]), np.array([1.5, 2.0]), 10.0)
    assert progress.at(np.array([0.5, 1.0, 2.9, 3.0, 10.0])).tolist() == [0.0, 1.5, 1.5, 2.0, 2.0]
    assert (progress.time_to(1.6), progress.time_to(2.1)) == (3.0, math.inf)
    nothing = Progress(np.array([]), np.array([]), 10.0)
    assert (nothing.final, nothing.at(np.array([1.0])).tolist()) == (0.0, [0.0])


def test_the_headline_claims_no_more_than_the_interval() -> None:
    close = findings_of([run(tuner, seed, 1 + seed / 10) for tuner in "ab" for seed in range(4)])
    assert headline(close) == "a ranked first, but its lead over b is not proven"
    apart = findings_of(
        [run(tuner, seed, (2 if tuner == "a" else 1) + seed / 100) for tuner in "ab" for seed in range(4)]
    )
    assert headline(apart).startswith("a was best, 1.9")
    assert headline(findings_of([run("a", 1, 1.0)])) == "Nothing to compare yet"


def test_the_report_escapes_names_and_shows_who_never_arrived() -> None:
    runs = [
        run("<b>x</b>", seed, 1 + seed / 10, "<i>s</i>", ((1.0, 1.0), (2.0, 1 + seed / 10)))
        for seed in (1, 2, 3)
    ] + [run("y", seed, math.nan, "<i>s</i>", ((1.0, 0.5),)) for seed in (1, 2, 3)]
    page = render_comparison("<u>c</u>", objective_named("throughput_ops_s"), runs, findings_of(runs))
    for markup in ("<b>x", "<i>s", "<u>c"):
        assert markup not in page
    assert "never" in page
    assert page.count("data-figure=") >= 2
