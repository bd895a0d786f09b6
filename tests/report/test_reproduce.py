from dataclasses import replace

import pytest
from tests.report import sample

from rocktune.report.reproduce import command_lines


@pytest.mark.parametrize(
    ("named", "argument"),
    [("dremel", "dremel"), ("mine.toml", "mine.toml"), ("spaces/mine", "spaces/mine"), ("mine", "mine.toml")],
)
def test_a_space_is_named_as_the_command_takes_it(named: str, argument: str) -> None:
    study = sample.study()
    again = command_lines(replace(study, spec={**study.spec, "space": {"name": named}}), sample.outcome())
    assert f"    --space {argument} \\" in again
