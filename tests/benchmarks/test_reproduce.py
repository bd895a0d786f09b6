"""Tests for measuring one figure of a paper."""

import json
import shlex
import subprocess
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from benchmarks.common.published import PublishedFigure
from benchmarks.common.reproduce import figure_of, reproduce

from rocktune.errors import UserError

RUN = "flsm.transition_order --sizes 3"
COMMAND = f"python -m benchmarks.{RUN} --quick"


class Machine:
    """Runs nothing: writes the claims that a benchmark would write, unless it is to fail."""

    def __init__(self, returncode: int = 0) -> None:
        self.returncode = returncode
        self.commands: list[str] = []

    def run(self, command: Sequence[str], **further: Any) -> subprocess.CompletedProcess[str]:
        out = Path(command[command.index("--out") + 1])
        self.commands.append(shlex.join(["python", *command[1 : command.index("--out")]]))
        if self.returncode == 0:
            out.mkdir(parents=True, exist_ok=True)
            (out / "claims.json").write_text(json.dumps([{"command": self.commands[-1]}]))
        return subprocess.CompletedProcess(command, self.returncode)


def measured(monkeypatch: pytest.MonkeyPatch, out: Path, machine: Machine) -> int:
    monkeypatch.setattr(subprocess, "run", machine.run)
    figure = PublishedFigure("flsm_0", "flsm", "Figure 0", "it moves", (), {"order": RUN})
    return reproduce(figure, out, quick=True)


def test_a_figure_is_measured_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    machine = Machine()
    assert measured(monkeypatch, tmp_path, machine) == 0
    assert measured(monkeypatch, tmp_path, machine) == 0
    assert machine.commands == [COMMAND]


def test_claims_of_another_command_do_not_count(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "order").mkdir()
    (tmp_path / "order" / "claims.json").write_text('[{"command": "python -m benchmarks.flsm.tuned"}]')
    machine = Machine()
    assert measured(monkeypatch, tmp_path, machine) == 0
    assert machine.commands == [COMMAND]


def test_an_experiment_that_another_figure_has_measured_is_not_repeated(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    machine = Machine()
    monkeypatch.setattr(subprocess, "run", machine.run)
    for name in ("flsm_0", "flsm_1"):
        figure = PublishedFigure(name, "flsm", "Figure", "it moves", (), {"order": RUN})
        assert reproduce(figure, tmp_path / name, quick=True, others=tmp_path) == 0
    assert machine.commands == [COMMAND]


def test_a_benchmark_that_fails_is_counted_and_run_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert measured(monkeypatch, tmp_path, Machine(returncode=2)) == 1
    machine = Machine()
    assert measured(monkeypatch, tmp_path, machine) == 0
    assert machine.commands == [COMMAND]


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("dremel_88", "unknown figure 'dremel_88': did you mean 'dremel_8'"),
        ("dremel_cost", "no benchmark measures dremel_cost; no measurement: it follows from"),
    ],
)
def test_what_cannot_be_measured_is_refused(name: str, said: str) -> None:
    with pytest.raises(UserError, match=said):
        figure_of(name)
