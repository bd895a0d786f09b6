"""The fields of a study have the same names everywhere that they can be said."""

import inspect
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from rocktune import api
from rocktune.api.requests import Given, GivenConditions
from rocktune.cli import commands, research
from rocktune.cli.main import main
from rocktune.cli.study_options import OPTIONS
from rocktune.study import StudyRequest

FIELDS = set(StudyRequest.model_fields)
ONLY_IN_A_FILE = {"command", "tuner_settings", "verification"}


def test_python_takes_every_field_of_a_study() -> None:
    assert set(Given.__annotations__) == FIELDS
    assert set(GivenConditions.__annotations__) < FIELDS


def test_the_command_line_takes_every_field_that_fits_on_it() -> None:
    assert set(OPTIONS) == FIELDS - ONLY_IN_A_FILE


def test_one_command_takes_all_of_them() -> None:
    assert set(OPTIONS) <= set(inspect.signature(commands.tune).parameters)


class Said:
    """Takes what a command says to the API."""

    def __init__(self, function: str) -> None:
        self.given: dict[str, Any] = {}
        self._function = function

    def __getattr__(self, name: str) -> Any:
        def call(*_: Any, **given: Any) -> Any:
            self.given = given
            return SimpleNamespace(estimate=lambda: {"study": "s"})

        assert name == self._function
        return call


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("", {"objective": None, "constraints": None, "interpolate": None}),
        ("--objective throughput_ops_s", {"objective": "throughput_ops_s"}),
        ("--objective a --objective b", {"objective": ["a", "b"]}),
        ("--constraint a<=1", {"constraints": ["a<=1"]}),
        ("--constraint a<=1 --constraint b>=2", {"constraints": ["a<=1", "b>=2"]}),
        ("--interpolate --shared-cache", {"interpolate": True, "shared_cache": True}),
        ("--out o --seed 3", {"out": Path("o"), "seed": 3}),
    ],
)
def test_what_is_left_out_is_none_and_what_is_repeated_is_a_list(
    monkeypatch: pytest.MonkeyPatch, line: str, expected: dict[str, Any]
) -> None:
    said = Said("prepare")
    monkeypatch.setattr(commands, "api", said)
    assert main(["tune", *line.split(), "--dry-run", "--json"]) == 0
    assert set(said.given) == set(OPTIONS)
    assert {name: said.given[name] for name in expected} == expected


@pytest.mark.parametrize(
    ("command", "option"),
    [
        ("run", "--tuner"),
        ("run", "--study"),
        ("sweep", "--tuner"),
        ("sweep", "--table"),
        ("compare --tuners a --settings b", "--workload"),
        ("compare --tuners a --settings b", "--tuner"),
    ],
)
def test_an_option_without_meaning_for_a_command_is_refused(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], command: str, option: str
) -> None:
    for module in (commands, research):
        monkeypatch.setattr(module, "api", Said("nothing"))
    assert main([*command.split(), option, "x"]) == 2
    assert option in capsys.readouterr().err


def test_a_run_takes_the_conditions_alone() -> None:
    own = {"study_file", "options", "seconds", "until", "repeat", "observer", "given"}
    assert set(inspect.signature(api.run).parameters) == own
