from dataclasses import replace
from typing import Any

import pytest
from tests.report import sample

from rocktune.report.reproduce import command_lines
from rocktune.study.specs.spec import VerificationSettings


@pytest.mark.parametrize(
    ("named", "argument"),
    [("dremel", "dremel"), ("mine.toml", "mine.toml"), ("spaces/mine", "spaces/mine"), ("mine", "mine.toml")],
)
def test_a_space_is_named_as_the_command_takes_it(named: str, argument: str) -> None:
    study = sample.study()
    again = command_lines(replace(study, spec={**study.spec, "space": {"name": named}}), sample.outcome())
    assert f"    --space {argument} \\" in again


def again(**changes: Any) -> list[str]:
    """The lines of the command that repeats the sample study with some fields of its spec changed."""
    study = sample.study()
    return command_lines(replace(study, spec={**study.spec, **changes}), sample.outcome(protocol="steady"))


@pytest.mark.parametrize(
    ("changes", "argument"),
    [
        # Six digits would make it another budget, and an exponent no budget at all.
        ({"budget_s": 1234567.5}, "--budget 1234567.5s"),
        ({"budget_s": 2325 / 512}, "--budget 4.541015625s"),
        ({"rate_ops_s": 12345678.0}, "--rate 12345678"),
        ({"robust": 0.1234567}, "--robust 0.1234567"),
        ({"verification": {"pairs": 8}}, "--pairs 8"),
        ({"tried": [{"file": "MINE", "configuration": {}}]}, "--try MINE"),
        (
            {"base_options": {"table": {"block_cache": "2147483648"}}, "own_terms": {"cache": "asked"}},
            "--block-cache 2147483648",
        ),
        ({"own_terms": {"cache": "options_file", "shared_cache": True}}, "--shared-cache"),
    ],
)
def test_nothing_that_decides_the_study_is_left_out_or_rounded(
    changes: dict[str, Any], argument: str
) -> None:
    assert f"    {argument} \\" in again(**changes)


def test_what_only_a_study_file_holds_is_said() -> None:
    usual = VerificationSettings().model_dump(mode="json")
    assert again(verification=usual | {"pairs": 8})[0] == "rocktune tune \\"
    for changes in (
        {"tuner_settings": {"population": 20}},
        {"verification": usual | {"finalists": 9}},
        {"verification": {"finalists": 9}},
    ):
        assert again(**changes)[0] == "rocktune tune STUDY.toml \\"
