from pathlib import Path

import pytest

from rocktune.errors import UserError
from rocktune.tuners import tuner_named

TUNER = """
from rocktune.spec_file import Spec
from rocktune.tuners import Tuner

class One(Tuner):
    name = "one"
    summary = "does nothing"
    settings_type = Spec

    def search(self, problem, rng):
        yield from ()

    def min_budget_s(self, problem):
        return 1.0
"""


def test_a_file_is_a_tuner(tmp_path: Path) -> None:
    file = tmp_path / "one.py"
    file.write_text(TUNER)
    assert tuner_named(str(file)).name == "one"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (None, "there is no such file"),
        ("def broken(:\n", "line 1: invalid syntax"),
        ("import no_such_module", "cannot be loaded: ModuleNotFoundError: No module named 'no_such_module'"),
        (
            "from rocktune.tuners import Tuner",
            "must define one class that derives from Tuner, and defines none",
        ),
        (TUNER + TUNER.replace("One", "Two"), "and defines One, Two"),
        (TUNER.replace("    def search", "    def find"), "One lacks search"),
        (TUNER.replace("    summary", "    summery"), "One lacks summary"),
    ],
)
def test_what_is_no_tuner_is_refused_in_one_line(tmp_path: Path, text: str | None, message: str) -> None:
    file = tmp_path / "mine.py"
    if text is not None:
        file.write_text(text)
    with pytest.raises(UserError) as error:
        tuner_named(str(file))
    assert message in str(error.value)
    assert "\n" not in str(error.value)
