"""Programs of the C++ build, as benchmarks find and start them."""

from pathlib import Path

import pytest
from benchmarks.common.programs import find_program

from rocktune.errors import UserError


def test_missing_program_says_how_to_build_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("ROCKTUNE_BUILD", raising=False)
    with pytest.raises(
        UserError, match=r"device_bench is not in .*build/tests: 'make test' builds it, or set ROCKTUNE_BUILD"
    ):
        find_program("device_bench", tmp_path)
    monkeypatch.setenv("ROCKTUNE_BUILD", "build/dev")
    program = tmp_path / "build" / "dev" / "device_bench"
    program.parent.mkdir(parents=True)
    program.touch()
    assert find_program("device_bench", tmp_path) == program
