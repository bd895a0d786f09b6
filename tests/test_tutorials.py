"""The tutorials' files are written and their commands run, in order, as a reader would."""

import os
import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
PROGRAMS = {"rocktune": (sys.executable, "-m", "rocktune.cli.main"), "python": (sys.executable,)}
TUTORIALS = [ROOT / "README.md", *sorted((ROOT / "docs" / "tutorials").glob("*.md"))]
# The others tune, prove, export and govern in the fast tier; what only these call has tests of its own there.
SLOW = {"README", "compare-tuners", "profile-my-store", "shape-your-store", "tune-my-service"}


@pytest.mark.timeout(600)
@pytest.mark.parametrize(
    "tutorial",
    [
        pytest.param(path, id=path.stem, marks=[pytest.mark.slow] if path.stem in SLOW else [])
        for path in TUTORIALS
    ],
)
def test_every_command_of_the_tutorial_works(tutorial: Path, tmp_path: Path) -> None:
    text = tutorial.read_text()
    for name, content in re.findall(r"```\w+ file=(\S+)\n(.*?)```", text, re.DOTALL):
        (tmp_path / name).write_text(content)
    environment = os.environ | {
        "ROCKTUNE_DATA": str(tmp_path / "data"),
        "XDG_DATA_HOME": str(tmp_path / "ledger"),
    }
    commands = re.findall(r"^    ((?:rocktune|python|g\+\+|db_bench) .+)$", text, re.MULTILINE)
    assert commands
    for command in commands:
        program, *arguments = shlex.split(command, comments=True)
        finished = subprocess.run(
            [*PROGRAMS.get(program, (program,)), *arguments],
            capture_output=True, text=True, cwd=tmp_path, env=environment, check=False,
        )  # fmt: skip
        assert finished.returncode == 0, f"{command}: {finished.stdout[-2000:]}{finished.stderr}"
