"""The programs that are built with the C++ tests, as benchmarks start them."""

import json
import os
import subprocess
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from rocktune.errors import UserError


def find_program(name: str, root: Path) -> Path:
    """Returns a program of the build folder ($ROCKTUNE_BUILD, build/tests by default).

    Raises:
        UserError: the program is not there.
    """
    build = root / os.environ.get("ROCKTUNE_BUILD", "build/tests")
    if not (build / name).is_file():
        raise UserError(f"{name} is not in {build}: 'make test' builds it, or set ROCKTUNE_BUILD")
    return build / name


def json_of(program: Path, arguments: Sequence[str]) -> dict[str, Any]:
    """Runs a program once and returns the JSON document that it prints.

    Raises:
        UserError: it failed.
    """
    finished = subprocess.run([str(program), *arguments], capture_output=True, text=True, check=False)
    if finished.returncode != 0:
        raise UserError(finished.stderr.strip() or f"{program.name} ended with {finished.returncode}")
    document: dict[str, Any] = json.loads(finished.stdout)
    return document
