import sys
from pathlib import Path

import pytest
from tests.tuners.process.programs import definition

from rocktune.errors import UserError
from rocktune.testing.tuners import synthetic_problem
from rocktune.tuners import tuner_named
from rocktune.tuners.process.definition import DefinedTuner


def made(file: Path, **settings: object) -> DefinedTuner:
    tuner = tuner_named(str(file), settings)
    assert isinstance(tuner, DefinedTuner)
    return tuner


def test_paths_are_relative_to_the_file_and_settings_add_up(tmp_path: Path) -> None:
    more = "answer_s = 5.0\n[settings]\none = 1\ntwo = 2\n"
    tuner = made(definition(tmp_path, "", more), settings={"two": 3})
    program = tuner.program()
    assert program.command == (sys.executable, "-S", str(tmp_path / "program.py"))
    assert (tuner.name, program.name, program.answer_s) == ("outside", "outside", 5.0)
    assert program.settings == {"one": 1, "two": 3}
    assert tuner.summary == f"the program {sys.executable} -S {tmp_path / 'program.py'}"
    assert made(tmp_path / "outside.toml", answer_s=7.0).program().answer_s == 7.0


def test_a_name_of_its_own(tmp_path: Path) -> None:
    assert made(definition(tmp_path, "", 'name = "mine"\n')).name == "mine"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "command: missing"),
        ("command = []", "command: needs at least 1"),
        ('command = "python3 x.py"', "command: input should be a valid tuple"),
        ('command = ["x"]\nanswer = 1', "unknown field 'answer': did you mean 'answer_s'"),
        ('command = ["x"]\nanswer_s = 0', "answer_s: "),
        ('command = ["x"]\nname = "a b"', "name: "),
    ],
)
def test_a_wrong_file_is_one_line(tmp_path: Path, text: str, message: str) -> None:
    (tmp_path / "wrong.toml").write_text(text)
    with pytest.raises(UserError, match=message) as refusal:
        tuner_named(str(tmp_path / "wrong.toml"))
    assert str(refusal.value).startswith(f"tuner {tmp_path / 'wrong.toml'}: ")
    assert "\n" not in str(refusal.value)


def test_a_missing_file_and_a_missing_program_are_one_line_before_anything_runs(tmp_path: Path) -> None:
    with pytest.raises(UserError, match=r"no.toml: cannot be read"):
        tuner_named(str(tmp_path / "no.toml"))
    (tmp_path / "a.toml").write_text('command = ["no-such-program"]')
    with pytest.raises(
        UserError, match=r"tuner 'a' \(no-such-program\): there is no program no-such-program"
    ):
        tuner_named(str(tmp_path / "a.toml")).min_budget_s(synthetic_problem())
