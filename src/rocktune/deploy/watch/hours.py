"""Hours of the day in which a watch may run studies."""

import re
from dataclasses import dataclass
from datetime import datetime, timedelta

from rocktune.errors import UserError

_HOURS = re.compile(r"(\d{1,2})-(\d{1,2})")


@dataclass(frozen=True)
class Hours:
    """A part of each day, by the machine's local time.

    Attributes:
        first: hour at which it begins, from 0 to 23.
        last: hour at which it ends, from 0 to 24; at most `first` for a part that spans midnight.
    """

    first: int = 0
    last: int = 24

    @classmethod
    def parse(cls, text: str | None) -> "Hours":
        """Returns the hours that a text such as "22-06" names; the whole day for None.

        Raises:
            UserError: the text names no hours.
        """
        if text is None:
            return cls()
        found = _HOURS.fullmatch(text)
        if found is None or int(found[1]) > 23 or int(found[2]) > 24 or int(found[1]) == int(found[2]):
            raise UserError(f"hours: '{text}' is no part of a day; write two different hours, such as 22-06")
        return cls(int(found[1]), int(found[2]))

    def contains(self, moment: datetime) -> bool:
        """Returns whether a moment lies within the hours."""
        if self.first < self.last:
            return self.first <= moment.hour < self.last
        return moment.hour >= self.first or moment.hour < self.last

    def next_begin(self, moment: datetime) -> datetime:
        """Returns when the hours behind those of a moment begin; an hour later if they are the whole day."""
        if (self.first, self.last) == (0, 24):
            return moment + timedelta(hours=1)
        begin = moment.replace(hour=self.first, minute=0, second=0, microsecond=0)
        return begin if begin > moment else begin + timedelta(days=1)

    def __str__(self) -> str:
        return f"{self.first:02}-{self.last:02}"
