"""Messages of RocksDB's write controller: delays and stops with their cause, family and rate."""

import re
from dataclasses import dataclass, replace
from datetime import datetime
from enum import StrEnum
from sys import intern

from rocktune.importing.logs.bounded import FirstAndLast
from rocktune.importing.logs.lines import Line

_MAX_PERIODS = 5_000
_MAX_FAMILIES = 2_000
_STALL = re.compile(
    r"\[(?P<family>.{0,1000})\] (?P<kind>Stalling|Stopping) writes because "
    r"(?:we have (?P<count>\d{1,18}) (?P<what>immutable memtables|level-0 files)"
    r"|of estimated pending compaction bytes (?P<bytes>\d{1,20}))"
    r"(?:.*? rate:? (?P<rate>\d{1,20}))?"
)
# Speedb alone says when writes are free again.
_FREE = {"WC no longer enforcing delay": False, "WC no longer enforcing stop writes": True}
_OVER = re.compile(r"\[(.{0,1000})\] Increasing compaction threads because ")


class StallCause(StrEnum):
    """What makes RocksDB delay or stop writes."""

    MEMTABLES = "memtables"
    LEVEL0 = "level-0 files"
    PENDING = "pending compaction bytes"


@dataclass(frozen=True, slots=True)
class StallPeriod:
    """Successive messages of one family with one cause. They delay or stop the writes to all families.

    RocksDB writes a message whenever a flush or compaction of the family ends and the cause still holds. It
    writes none when the cause ends, so the length has two bounds.

    Attributes:
        family: the column family that is the cause.
        stops: True if writes are stopped; False if they are delayed.
        cause: what there is too much of.
        began: time of the first message; None in text without times.
        last: time of the last message.
        over: time of the next line that shows another state of the family, or the end of the LOG.
        messages: their number.
        max_amount: highest number of memtables or files, or bytes.
        max_rate_bytes_s: highest rate that delayed writes had; None for stops.
        min_rate_bytes_s: lowest rate.
    """

    family: str
    stops: bool
    cause: StallCause
    began: datetime | None
    last: datetime | None
    over: datetime | None
    messages: int
    max_amount: int
    max_rate_bytes_s: int | None
    min_rate_bytes_s: int | None

    @property
    def min_s(self) -> float:
        """Seconds from the first to the last message, at least 0."""
        return _seconds(self.began, self.last)

    @property
    def max_s(self) -> float:
        """Seconds until the cause was over for certain, at least `min_s`."""
        return max(self.min_s, _seconds(self.began, self.over))


@dataclass(frozen=True, slots=True)
class StallSummary:
    """All periods of one family, kind and cause.

    Attributes:
        family: the column family.
        stops: True for stops, False for delays.
        cause: what there was too much of.
        periods: their number.
        messages: their messages.
        first: time of the first message.
        last: time of the last message.
        min_s: sum of the periods' lower bounds.
        max_s: sum of their upper bounds.
        max_amount: highest number of memtables or files, or bytes.
        max_rate_bytes_s: highest rate that delayed writes had; None for stops.
        min_rate_bytes_s: lowest rate.
    """

    family: str
    stops: bool
    cause: StallCause
    periods: int
    messages: int
    first: datetime | None
    last: datetime | None
    min_s: float
    max_s: float
    max_amount: int
    max_rate_bytes_s: int | None
    min_rate_bytes_s: int | None


class StallCollector:
    """Builds periods and summaries from lines.

    Attributes:
        periods: the periods that are kept, by their ends.
        left_out_messages: messages of families beyond the bound.
    """

    def __init__(self) -> None:
        self.periods: FirstAndLast[StallPeriod] = FirstAndLast(_MAX_PERIODS)
        self.left_out_messages = 0
        self._open: dict[str, StallPeriod] = {}
        self._amounts: dict[str, int] = {}
        self._summaries: dict[tuple[str, bool, StallCause], StallSummary] = {}

    def add(self, line: Line) -> bool:
        """Takes a line of the LOG, and returns whether it was of the write controller."""
        if line.text in _FREE:
            self._free(_FREE[line.text], line.time)
            return True
        if " because " not in line.text:
            return False
        if match := _STALL.match(line.text):
            self._add_stall(_period(match, line.time))
            return True
        if match := _OVER.match(line.text):
            self._end(match[1], line.time)
            return True
        return False

    def observe(self, family: str | None, cause: StallCause, amount: int, time: datetime | None) -> None:
        """Ends a family's period if there is now less than its last message said.

        RocksDB checks the cause before it writes how much there is, and would have said so if it still held.

        Args:
            family: the column family; None if unknown.
            cause: what there is.
            amount: how much of it there is.
            time: when.
        """
        period = self._open.get(family) if family is not None else None
        if period is not None and period.cause is cause and amount < self._amounts[period.family]:
            self._end(period.family, time)

    def close(self, end: datetime | None) -> None:
        """Ends all periods at the end of a LOG."""
        for family in list(self._open):
            self._end(family, end)

    def summaries(self) -> tuple[StallSummary, ...]:
        """Returns a summary for each family, kind and cause, in the order of their first messages."""
        return tuple(sorted(self._summaries.values(), key=lambda each: each.first or datetime.min))

    def _free(self, stops: bool, time: datetime | None) -> None:
        """Ends all stops, or else all delays."""
        for family in [period.family for period in self._open.values() if period.stops is stops]:
            self._end(family, time)

    def _add_stall(self, period: StallPeriod) -> None:
        before = self._open.get(period.family)
        if before is None and len(self._open) >= _MAX_FAMILIES:
            self.left_out_messages += 1
            return
        if before is None or (before.stops, before.cause) != (period.stops, period.cause):
            self._end(period.family, period.began)
            self._open[period.family] = period
            self._amounts[period.family] = period.max_amount
        else:
            self._amounts[period.family] = period.max_amount
            self._open[period.family] = replace(
                before,
                last=period.last,
                over=period.over,
                messages=before.messages + 1,
                max_amount=max(before.max_amount, period.max_amount),
                max_rate_bytes_s=_highest(before.max_rate_bytes_s, period.max_rate_bytes_s),
                min_rate_bytes_s=_lowest(before.min_rate_bytes_s, period.min_rate_bytes_s),
            )

    def _end(self, family: str, over: datetime | None) -> None:
        period = self._open.pop(family, None)
        if period is None:
            return
        del self._amounts[family]
        period = replace(period, over=over)
        self.periods.add(period)
        key = (period.family, period.stops, period.cause)
        before = self._summaries.get(key)
        if before is None and len(self._summaries) >= _MAX_FAMILIES:
            self.left_out_messages += period.messages
            return
        self._summaries[key] = StallSummary(
            family=period.family,
            stops=period.stops,
            cause=period.cause,
            periods=1 + (before.periods if before else 0),
            messages=period.messages + (before.messages if before else 0),
            first=before.first if before else period.began,
            last=period.last,
            min_s=period.min_s + (before.min_s if before else 0.0),
            max_s=period.max_s + (before.max_s if before else 0.0),
            max_amount=max(period.max_amount, before.max_amount if before else 0),
            max_rate_bytes_s=_highest(period.max_rate_bytes_s, before.max_rate_bytes_s if before else None),
            min_rate_bytes_s=_lowest(period.min_rate_bytes_s, before.min_rate_bytes_s if before else None),
        )


def _period(match: re.Match[str], time: datetime | None) -> StallPeriod:
    """Returns the period of one message."""
    rate = int(match["rate"]) if match["rate"] else None
    if match["bytes"]:
        cause, amount = StallCause.PENDING, int(match["bytes"])
    else:
        amount = int(match["count"])
        cause = StallCause.LEVEL0 if match["what"] == "level-0 files" else StallCause.MEMTABLES
    return StallPeriod(
        family=intern(match["family"]),
        stops=match["kind"] == "Stopping",
        cause=cause,
        began=time,
        last=time,
        over=time,
        messages=1,
        max_amount=amount,
        max_rate_bytes_s=rate,
        min_rate_bytes_s=rate,
    )


def _seconds(begin: datetime | None, end: datetime | None) -> float:
    return max(0.0, (end - begin).total_seconds()) if begin and end else 0.0


def _highest(one: int | None, other: int | None) -> int | None:
    given = [each for each in (one, other) if each is not None]
    return max(given) if given else None


def _lowest(one: int | None, other: int | None) -> int | None:
    given = [each for each in (one, other) if each is not None]
    return min(given) if given else None
