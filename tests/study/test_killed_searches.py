"""Every tuner's search goes on after kill -9 as if nothing had happened."""

import importlib.util
import json
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from rocktune.tuners import tuner_names

PROGRAM = Path(__file__).with_name("killed_search.py")
# Their kin ga and tpe stay in the fast tier.
SLOW = {"epsilon-constraint", "nsga2", "optuna:CmaEsSampler", "optuna:QMCSampler", "weighted-sum"}


def _marks(name: str) -> list[pytest.MarkDecorator]:
    if name.endswith("bo"):
        return [pytest.mark.bo]
    if name == "smac":
        # It has a test of its own: a resumed search does not repeat an undisturbed one.
        return [pytest.mark.skip("needs SMAC3's environment")]
    return [pytest.mark.slow] if name in SLOW else []


NAMES = [
    pytest.param(name, marks=_marks(name))
    for name in (*tuner_names(), "optuna:QMCSampler", "optuna:CmaEsSampler")
]


def _search(name: str, ledger: Path, killed_at: int = 0) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, PROGRAM, name, str(ledger), str(killed_at)],
        capture_output=True, text=True, check=False,
    )  # fmt: skip


def _answer(finished: subprocess.CompletedProcess[str]) -> dict[str, Any]:
    assert finished.returncode == 0, finished.stderr
    return dict(json.loads(finished.stdout))


@pytest.mark.parametrize("name", NAMES)
def test_a_search_killed_within_a_batch_asks_what_it_would_have_asked(name: str, tmp_path: Path) -> None:
    if name == "optuna:CmaEsSampler" and importlib.util.find_spec("cmaes") is None:
        pytest.skip("cmaes is not here")
    whole = _answer(_search(name, tmp_path / "whole.sqlite"))
    killed_at = len(whole["records"]) // 2 + 1
    killed = _search(name, tmp_path / "killed.sqlite", killed_at)
    assert killed.returncode == -signal.SIGKILL
    resumed = _answer(_search(name, tmp_path / "killed.sqlite"))
    assert resumed["records"] == whole["records"]
    if killed_at > 1:
        assert resumed["measured_now_s"] < whole["measured_now_s"]
