import os
import sys
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from rocktune.errors import UserError
from rocktune.space import load_space
from rocktune.testing.synthetic_spaces import SYNTHETIC_SPACES
from rocktune.testing.tuners import (
    FAILURES,
    Response,
    drive,
    failing_response,
    synthetic_problem,
    synthetic_response,
)
from rocktune.tuners import Problem, tuner_named
from rocktune.tuners.process.smac import PYTHON_VARIABLE

needs_smac = pytest.mark.skipif(
    PYTHON_VARIABLE not in os.environ,
    reason=f"{PYTHON_VARIABLE} does not name the Python of an environment with SMAC3 (pip install smac)",
)
FULL = load_space("full", None, 1e7)


def problem(trials: int = 16, **changes: Any) -> Problem:
    return replace(synthetic_problem(64, trials * 120 / 64), space=FULL, baseline=FULL.default(), **changes)


def test_without_an_environment_one_line_says_how_to_make_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(PYTHON_VARIABLE, raising=False)
    with pytest.raises(
        UserError, match=r"^tuner 'smac': .*smac/bin/pip install smac.*python to smac/bin/python$"
    ):
        tuner_named("smac").min_budget_s(problem())
    with pytest.raises(
        UserError, match=f"^tuner 'smac': {sys.executable} has no SMAC3; .*run 'python3 -m venv"
    ):
        tuner_named("smac", {"python": sys.executable}).min_budget_s(problem())
    with pytest.raises(UserError, match="there is no program no-python"):
        tuner_named("smac", {"python": "no-python"}).min_budget_s(problem())


def test_the_setting_goes_before_the_variable(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(PYTHON_VARIABLE, "variable")
    assert tuner_named("smac").program().command[0] == "variable"  # type: ignore[attr-defined]
    assert tuner_named("smac", {"python": "set"}).program().command[0] == "set"  # type: ignore[attr-defined]


@pytest.mark.slow
@needs_smac
@pytest.mark.parametrize(
    "respond",
    [synthetic_response, failing_response(FAILURES, 1 / 3), failing_response(FAILURES)],
    ids=["all well", "a third fails", "all fail"],
)
def test_it_searches_both_compaction_styles(respond: Response) -> None:
    given = problem(24)
    tuner = tuner_named("smac")
    assert tuner.min_budget_s(given) == 120 / 64
    transcript = drive(tuner.search(given, np.random.default_rng(1)), respond)
    assert len(transcript.configurations) >= 20
    assert transcript.spent_s <= given.budget_s * (1 + 1e-9)
    for configuration in transcript.configurations:
        FULL.validate(configuration)
    assert len({each["compaction_style"] for each in transcript.configurations}) == 2


@pytest.mark.slow
@needs_smac
@pytest.mark.parametrize("space", SYNTHETIC_SPACES, ids=lambda space: space.name)
def test_it_takes_spaces_of_every_shape(space: Any) -> None:
    given = replace(synthetic_problem(64, 8 * 120 / 64), space=space, baseline=space.default())
    transcript = drive(tuner_named("smac").search(given, np.random.default_rng(1)))
    assert transcript.configurations
    for configuration in transcript.configurations:
        space.validate(configuration)


@pytest.mark.slow
@needs_smac
def test_it_learns_and_a_resumed_search_goes_on() -> None:
    given = replace(
        problem(40), objective=synthetic_problem(constraints=("read_latency_us_p99<=700",)).objective
    )
    whole = drive(tuner_named("smac").search(given, np.random.default_rng(2)))
    figures = [result.figure("throughput_ops_s") for results in whole.results for result in results]
    assert np.mean(figures[20:]) > np.mean(figures[:10])
    for trials in (3, 30):
        recorded = whole.killed_after(trials)
        resumed = drive(tuner_named("smac").search(given, np.random.default_rng(2)), recorded=recorded)
        assert len(resumed.configurations) >= 35
        assert resumed.spent_s <= given.budget_s * (1 + 1e-9)
