"""Divides the time in which writes were delayed or stopped among its causes."""

from dataclasses import dataclass
from datetime import datetime

from rocktune.analysis.explain.finding import StallKey
from rocktune.importing.logs import Opening, StallSummary

MIN_HELD_SHARE = 0.05
"""Shares of the time below it are no finding: a healthy store delays writes for a moment in each burst."""
MIN_HELD_S = 60.0
"""A store that runs for days may have stood still for minutes, which are a small share."""
MAX_S = 1e10
"""More seconds than any store is open."""
_MESSAGE_S = 1e-3


@dataclass(frozen=True, slots=True)
class Held:
    """A cause in one family with the time that it held writes to all families up.

    Attributes:
        stall: RocksDB's messages, summed up.
        share: its share of the opening's time, from 0 to 1; None in text without times.
        seconds: the same in seconds; None in text without times.
    """

    stall: StallSummary
    share: float | None
    seconds: float | None

    @property
    def key(self) -> StallKey:
        """Family, kind and cause."""
        return (self.stall.family, self.stall.stops, self.stall.cause)


@dataclass(frozen=True, slots=True)
class HeldUp:
    """All time in which writes were delayed or stopped.

    Attributes:
        share: share of the opening's time; None if unknown.
        seconds: the same in seconds.
        counted: True if it is RocksDB's own sum; False if it is estimated from messages.
        causes: each with its part; empty if they are too short to matter.
    """

    share: float | None
    seconds: float | None
    counted: bool
    causes: tuple[Held, ...]

    @property
    def matters(self) -> bool:
        """Whether it is long enough to matter, or its length is unknown."""
        if self.share is None or self.seconds is None:
            return bool(self.causes)
        return self.share >= MIN_HELD_SHARE or self.seconds >= MIN_HELD_S


def held_up(opening: Opening) -> HeldUp:
    """Returns how long writes were delayed or stopped, divided among causes.

    RocksDB's own sum counts if a dump states it, with what messages tell of the time after the last dump, if
    that is long enough to matter. It is divided in proportion to the middle of each cause's
    two lengths, since the sum does not say for which cause it was.
    """
    weights = [(stall.min_s + stall.max_s) / 2 + _MESSAGE_S * stall.messages for stall in opening.stalls]
    whole, counted, length = _whole(opening, sum(weights))
    if whole is None or length is None:
        causes = tuple(Held(stall, None, None) for stall in opening.stalls)
        return HeldUp(None, None, counted=False, causes=causes)
    share = min(1.0, whole / length)
    if share < MIN_HELD_SHARE and whole < MIN_HELD_S:
        return HeldUp(share, whole, counted, ())
    parts = [weight / (sum(weights) or 1.0) for weight in weights]
    causes = tuple(
        Held(stall, share * part, whole * part) for stall, part in zip(opening.stalls, parts, strict=True)
    )
    return HeldUp(share, whole, counted, causes)


def _whole(opening: Opening, estimated_s: float) -> tuple[float | None, bool, float | None]:
    """Returns the seconds of all delays and stops, whether RocksDB counted them, and the opening's length."""
    for dump in reversed(opening.dumps):
        database = dump.db
        if database is not None and database.cumulative.stall_s is not None and database.uptime_s:
            # Times of a damaged LOG may be infinite.
            length = min(database.uptime_s, MAX_S)
            counted_s = min(database.cumulative.stall_s, length)
            held_s, later_s = _later(opening, dump.time)
            # RocksDB dumps every ten minutes, and people ask when the store has stood still for five.
            if held_s >= MIN_HELD_S or held_s >= MIN_HELD_SHARE * (length + later_s):
                return counted_s + held_s, False, length + later_s
            return counted_s, True, length
    if not opening.seconds:
        return None, False, None
    return min(estimated_s, opening.seconds), False, opening.seconds


def _later(opening: Opening, dumped: datetime | None) -> tuple[float, float]:
    """Returns the estimated seconds of delays and stops after a dump, and the seconds from it to the end.

    Periods without a message after the dump may have ended before it.
    """
    if dumped is None or opening.last is None or opening.last <= dumped:
        return 0.0, 0.0
    held_s = 0.0
    for period in opening.stall_periods:
        if period.began is not None and period.last is not None and period.last > dumped:
            begin = max(period.began, dumped)
            min_s = (period.last - begin).total_seconds()
            over_s = min_s if period.over is None else (period.over - begin).total_seconds()
            held_s += (min_s + max(min_s, over_s)) / 2
    later_s = (opening.last - dumped).total_seconds()
    return min(held_s, later_s), later_s
