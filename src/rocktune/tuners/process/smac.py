"""The tuner SMAC3, in an environment of its own, because its dependencies and ours exclude each other."""

import os
import subprocess
from pathlib import Path
from typing import Annotated

from pydantic import Field

from rocktune.errors import UserError
from rocktune.spec_file import Spec
from rocktune.tuners.base import Problem
from rocktune.tuners.process.program import ProgramSpec
from rocktune.tuners.process.search import ProcessTuner

PYTHON_VARIABLE = "ROCKTUNE_SMAC_PYTHON"
"""The environment variable that names the Python of an environment with SMAC3."""
_PROGRAM = Path(__file__).with_name("smac_program.py")
_HAS_SMAC = "import importlib.util, sys; sys.exit(importlib.util.find_spec('smac') is None)"
_LOOK_TIMEOUT_S = 60.0


class SmacSettings(Spec):
    """The settings of SMAC3.

    Attributes:
        python: the Python of an environment with SMAC3; None for $ROCKTUNE_SMAC_PYTHON.
        answer_s: maximum wall seconds until each suggestion.
    """

    python: str | None = None
    answer_s: Annotated[float, Field(strict=True, gt=0)] = 600.0


class Smac(ProcessTuner):
    """The tuner with SMAC3's facade for hyperparameters: a random forest and expected improvement.

    It gets the first objective only. What breaks constraints costs more (see `smac_program.py`).
    """

    name = "smac"
    summary = "SMAC3: a random forest that knows conditional knobs, in an environment of its own"
    settings_type = SmacSettings
    settings: SmacSettings

    def program(self) -> ProgramSpec:
        """Returns the program that speaks with SMAC3.

        Raises:
            UserError: no Python is named.
        """
        python = self.settings.python or os.environ.get(PYTHON_VARIABLE)
        if not python:
            raise UserError(f"tuner 'smac': {_mend()}")
        # -I, because modules that are meant for our own Python would clash with its.
        return ProgramSpec(self.name, (python, "-I", str(_PROGRAM)), self.settings.answer_s)

    def min_budget_s(self, problem: Problem) -> float:
        """Returns the cost of one ordinary trial in seconds of measuring."""
        program = self.program()
        program.check()
        looked = subprocess.run(
            [program.command[0], "-I", "-c", _HAS_SMAC],
            capture_output=True,
            check=False,
            timeout=_LOOK_TIMEOUT_S,
        )
        if looked.returncode != 0:
            raise UserError(f"tuner 'smac': {program.command[0]} has no SMAC3; {_mend()}")
        return super().min_budget_s(problem)


def _mend() -> str:
    """Returns what the user has to do."""
    return (
        "SMAC3 needs an environment of its own; run 'python3 -m venv smac && smac/bin/pip install smac', and "
        f"set {PYTHON_VARIABLE} or the tuner's setting python to smac/bin/python"
    )
