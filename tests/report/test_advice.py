import pytest
from tests.report import sample

from rocktune.report.advice import advice

EMPTY = {"level0_to_level1_us_p99": "measured in 0 of 100 trials"}


@pytest.mark.parametrize(
    ("tuner", "instead"), [("multitask-bo", 'tasks = "measured"'), ("clustered-bo", "rocktune clusters")]
)
def test_a_task_without_values_is_named_with_what_to_do(tuner: str, instead: str) -> None:
    said = "\n".join(advice(sample.outcome(tuner=tuner, tasks_left_out=EMPTY)))
    assert "`level0_to_level1_us_p99` (measured in 0 of 100 trials)" in said
    assert instead in said


def test_nothing_is_said_of_tasks_that_all_have_values() -> None:
    assert not any("learned nothing" in line for line in advice(sample.outcome()))
