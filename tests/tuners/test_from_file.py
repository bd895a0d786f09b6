from pathlib import Path
from typing import Any

import numpy as np
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
    ("search", "message"),
    [
        ("1 / 0; yield", "mine.py: line 10: ZeroDivisionError: division by zero"),
        ("yield lambda: 1 / 0", "mine.py: line 10: ZeroDivisionError: division by zero"),
        ("yield [1]", "mine.py: search yields [1]; yield a Batch of Trials"),
        ("yield lambda: None", "mine.py: search yields None; yield a Batch of Trials"),
        (
            "from rocktune.trial import Batch; yield Batch((1,))",
            "search yields Batch(trials=(1,), release=()",
        ),
    ],
)
def test_mistakes_of_a_search_name_file_and_line(tmp_path: Path, search: str, message: str) -> None:
    file = tmp_path / "mine.py"
    file.write_text(TUNER.replace("yield from ()", search).lstrip("\n") + "\n")
    with pytest.raises(UserError) as error:
        first_batch(file)
    assert message in str(error.value)


def first_batch(file: Path) -> None:
    """Makes the first batch of a file's tuner."""
    problem: Any = None
    item = next(tuner_named(str(file)).search(problem, np.random.default_rng(1)))
    if callable(item):
        item()


def test_a_mistake_of_its_budget_names_file_and_line(tmp_path: Path) -> None:
    file = tmp_path / "mine.py"
    file.write_text(TUNER.replace("return 1.0", "return problem.no_such"))
    problem: Any = object()
    with pytest.raises(
        UserError, match=r"mine\.py: line 14: AttributeError: 'object' object has no attribute"
    ):
        tuner_named(str(file)).min_budget_s(problem)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (None, "there is no such file"),
        ("def broken(:\n", "line 1: invalid syntax"),
        ("import no_such_module", "cannot be loaded: ModuleNotFoundError: No module named 'no_such_module'"),
        ("import sys; sys.exit()", "cannot be loaded: SystemExit"),
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
