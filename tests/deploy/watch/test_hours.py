from datetime import datetime, timedelta

import pytest

from rocktune.deploy.watch import Hours
from rocktune.errors import UserError


@pytest.mark.parametrize(
    ("text", "inside"),
    [(None, range(24)), ("22-06", [*range(6), 22, 23]), ("9-17", range(9, 17)), ("0-24", range(24))],
)
def test_hours_of_a_day(text: str | None, inside: list[int]) -> None:
    hours = Hours.parse(text)
    assert [hour for hour in range(24) if hours.contains(datetime(2026, 3, 4, hour, 59))] == list(inside)


@pytest.mark.parametrize("text", ["", "22", "6-6", "24-6", "22-25", "a-b", "22-06-07"])
def test_other_texts_are_refused(text: str) -> None:
    with pytest.raises(UserError, match="is no part of a day; write two different hours, such as 22-06"):
        Hours.parse(text)


@pytest.mark.parametrize(
    ("text", "hour", "later_h"), [("22-06", 23, 23), ("22-06", 3, 19), ("9-17", 10, 23), (None, 10, 1)]
)
def test_the_next_hours_begin_at_another_time(text: str | None, hour: int, later_h: int) -> None:
    moment = datetime(2026, 3, 4, hour)
    assert Hours.parse(text).next_begin(moment) == moment + timedelta(hours=later_h)


def test_the_next_hours_begin_at_a_full_hour() -> None:
    assert Hours.parse("22-06").next_begin(datetime(2026, 3, 4, 23, 30)) == datetime(2026, 3, 5, 22)
