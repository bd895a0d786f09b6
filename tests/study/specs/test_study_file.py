"""Study files, whose fields the command line overrides."""

from pathlib import Path
from typing import Any

import pytest

from rocktune.errors import UserError
from rocktune.study import make_request, replaced_fields


@pytest.fixture(name="file")
def fixture_file(tmp_path: Path) -> Path:
    path = tmp_path / "study.toml"
    path.write_text('workload = "ycsb-a"\nrate = 500.0\npreload_from = "db"\n')
    return path


def test_the_short_protocol_replaces_the_files_rate_and_says_so(file: Path) -> None:
    given = {"protocol": "short"}
    assert make_request(given, file).rate is None
    assert replaced_fields(given, file) == (
        f"rate = 500.0 of {file} is left out: protocol 'short' has no phase at an offered rate.",
    )


@pytest.mark.parametrize(
    ("given", "rate"),
    [({}, 500.0), ({"protocol": "steady"}, 500.0), ({"protocol": "short", "rate": 7.0}, 7.0)],
)
def test_other_fields_of_the_file_stay(file: Path, given: dict[str, str | float], rate: float) -> None:
    assert make_request(given, file).rate == rate
    assert replaced_fields(given, file) == ()
    assert replaced_fields(given, None) == ()


def test_paths_are_relative_to_the_file(file: Path) -> None:
    assert make_request({}, file).preload_from == str(file.parent / "db")


def test_a_mistake_in_a_field_that_is_replaced_is_said_too(file: Path) -> None:
    file.write_text('rate = "fast"\n')
    with pytest.raises(UserError, match=r"study\.toml"):
        make_request({"protocol": "short"}, file)


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
