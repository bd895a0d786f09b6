"""What a study file and the options of a command may not hold."""

from pathlib import Path
from typing import Any

import pytest

from rocktune.errors import UserError
from rocktune.study import make_request


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("study", ""),
        ("ledger", " "),
        ("objective", ""),
        ("objective", []),
        ("objective", ["throughput_ops_s", ""]),
        ("constraints", [""]),
        ("memory", ""),
    ],
)
def test_empty_texts_are_refused(tmp_path: Path, name: str, value: Any) -> None:
    """A variable of the shell that is not set must not become a default."""
    with pytest.raises(UserError, match=f"^{name}: it is empty; give a value, or leave it out"):
        make_request({"workload": "ycsb-a", name: value})
    file = tmp_path / "study.toml"
    file.write_text(f"{name} = {value!r}\n")
    with pytest.raises(UserError, match=f"study.toml: {name}: it is empty"):
        make_request({"workload": "ycsb-a"}, file)


@pytest.mark.parametrize(
    ("name", "value", "said"),
    [
        ("memory", "true", "memory: true is not a quantity; give a number"),
        ("scale", "true", "scale: true is not a quantity"),
        ("budget", "false", "budget: false is not a quantity"),
        ("budget", "inf", "budget: inf is not a quantity"),
        ("rate", "true", "rate: true is not a quantity"),
    ],
)
def test_what_is_no_quantity_is_refused(tmp_path: Path, name: str, value: str, said: str) -> None:
    file = tmp_path / "study.toml"
    file.write_text(f"{name} = {value}\n")
    with pytest.raises(UserError, match=f"study.toml: {said}"):
        make_request({"workload": "ycsb-a"}, file)
