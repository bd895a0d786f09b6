"""Tests that a controller adds no lock and no allocation to gets and puts: counts, and no times."""

from pathlib import Path
from typing import Any

import pytest
from benchmarks.common.claims import ROOT
from benchmarks.common.programs import find_program, json_of
from benchmarks.ruskey.controller_cost import COUNTS, PATHS, PROGRAM

from rocktune.errors import UserError


@pytest.fixture(scope="module")
def found(tmp_path_factory: pytest.TempPathFactory) -> Any:
    try:
        program = find_program(PROGRAM, ROOT)
    except UserError as error:
        pytest.skip(str(error))
    directory: Path = tmp_path_factory.mktemp("serving")
    return json_of(program, [str(directory), "0.1"])


def test_the_probe_counts(found: Any) -> None:
    assert found["probe"] == {"locks": 1, "allocations": 1}
    assert all(found[path]["flsm"]["allocations"] > 0 for path in PATHS)
    assert found["put"]["flsm"]["locks"] > 0


@pytest.mark.parametrize("path", PATHS)
def test_a_controller_that_decides_adds_nothing(found: Any, path: str) -> None:
    assert found[path]["adaptive"]["missions"] > 1
    for counted in COUNTS:
        assert found[path]["adaptive"][counted] == found[path]["flsm"][counted], counted
