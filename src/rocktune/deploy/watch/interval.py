"""Intervals of a store's life: what its LOG counts between two dumps of statistics."""

from collections.abc import Iterator, Mapping
from itertools import pairwise

from rocktune.errors import UserError
from rocktune.importing.logs import Dump, LogDocument, Opening
from rocktune.spec_file import Amount, Count, Spec

MIN_OPERATIONS = 1000
"""Operations below which an interval is idle: its shares say nothing."""
_STOPPED_SHARE = 0.05
"""Share of stalled time from which too few operations are a store that does not keep up, and no idle one."""
_GETS = ("number.keys.read", "number.multiget.keys.read")
_STEPS = ("number.db.next", "number.db.prev")
_MOVED = ("flush.write.bytes", "compact.write.bytes")


class Mark(Spec):
    """The end of an interval. Marks of one session are ordered by `uptime_s`.

    Attributes:
        session: RocksDB's identifier of the opening, or its first time in versions without one.
        uptime_s: seconds since the opening.
    """

    session: str
    uptime_s: Amount


class Interval(Spec):
    """The load of a store between two dumps of statistics, and how the store kept up.

    Attributes:
        end: its end.
        time: its end by the machine's clock, as the LOG has it; "" in text without times.
        seconds: its length.
        reads: lookups, with those of MultiGet.
        writes: keys written, deletions included.
        seeks: iterators' seeks.
        steps: iterators' steps behind a seek.
        written_bytes: bytes that users wrote.
        moved_bytes: bytes that flushes and compactions wrote.
        found_reads: lookups that a memtable or a table answered.
        memtable_hits: lookups that a memtable answered.
        waited_s: by kind of operation ("get", "write", "seek"), its number and the sum of its latencies in
            seconds; a kind that did not occur, or that the LOG does not time, is left out.
        stalled_share: share of the interval in which writes were delayed or stopped.
    """

    end: Mark
    time: str
    seconds: Amount
    reads: Count
    writes: Count
    seeks: Count
    steps: Count
    written_bytes: Count
    moved_bytes: Count
    found_reads: Count
    memtable_hits: Count
    waited_s: dict[str, tuple[Count, Amount]]
    stalled_share: Amount

    @property
    def operations(self) -> int:
        """All operations."""
        return self.reads + self.writes + self.seeks

    @property
    def moves_data(self) -> bool:
        """True if flushes or compactions wrote."""
        return self.moved_bytes > 0

    @property
    def is_idle(self) -> bool:
        """True if there were too few operations to judge the load."""
        return self.operations < MIN_OPERATIONS

    @property
    def is_stopped(self) -> bool:
        """True if there were so few operations because writes were delayed or stopped."""
        return self.is_idle and self.stalled_share >= _STOPPED_SHARE


def intervals_after(document: LogDocument, last: Mark | None) -> tuple[Interval, ...]:
    """Returns the intervals of a LOG behind a mark, in order.

    An opening's first interval begins at its opening. A dump that is not complete yet is left for the next
    call.

    Args:
        document: the LOG.
        last: the end of the last interval that is known; None for all intervals.

    Raises:
        UserError: the LOG has dumps, and no one of them has the counters of a statistics object.
    """
    openings = document.openings
    dumps = [dump for opening in openings for dump in opening.dumps]
    if dumps and not any(dump.counts for dump in dumps):
        raise UserError(
            f"LOG file {document.files[-1]}: it has no statistics of operations; open the database with a "
            "statistics object (options.statistics = CreateDBStatistics())"
        )
    sessions = [_session(opening) for opening in openings]
    # The known session may have been rolled away; then all that is left is new.
    first = sessions.index(last.session) if last is not None and last.session in sessions else 0
    return tuple(
        interval
        for opening in openings[first:]
        for interval in _intervals(opening)
        if last is None or interval.end.session != last.session or interval.end.uptime_s > last.uptime_s
    )


def _session(opening: Opening) -> str:
    return opening.session or str(opening.first)


def _intervals(opening: Opening) -> Iterator[Interval]:
    complete = [dump for dump in opening.dumps if dump.counts and dump.db is not None and dump.db.uptime_s]
    start = [None] if opening.begins else []
    for before, after in pairwise([*start, *complete]):
        assert after is not None
        interval = _between(_session(opening), before, after)
        if interval is not None:
            yield interval


def _between(session: str, before: Dump | None, after: Dump) -> Interval | None:
    """Returns the interval between two dumps; None if the program has reset its statistics meanwhile."""
    old: Mapping[str, int] = {} if before is None else dict(before.counts)
    new = dict(after.counts)
    assert after.db is not None
    assert after.db.uptime_s is not None
    start_s = before.db.uptime_s if before is not None and before.db is not None else 0.0
    seconds = after.db.uptime_s - (start_s or 0.0)

    def of(*names: str) -> int:
        return sum(new.get(f"rocksdb.{name}", 0) - old.get(f"rocksdb.{name}", 0) for name in names)

    if seconds <= 0 or any(value < old.get(name, 0) for name, value in new.items()):
        return None
    return Interval(
        end=Mark(session=session, uptime_s=after.db.uptime_s),
        time="" if after.time is None else after.time.isoformat(sep=" ", timespec="seconds"),
        seconds=seconds,
        reads=of(*_GETS),
        writes=of("number.keys.written"),
        seeks=of("number.db.seek"),
        steps=of(*_STEPS),
        written_bytes=of("bytes.written"),
        moved_bytes=of(*_MOVED),
        found_reads=of("memtable.hit", "l0.hit", "l1.hit", "l2andup.hit"),
        memtable_hits=of("memtable.hit"),
        waited_s=_waited(before, after),
        stalled_share=min(1.0, (after.db.interval.stall_s or 0.0) / seconds),
    )


def _waited(before: Dump | None, after: Dump) -> dict[str, tuple[int, float]]:
    """Returns the number of operations and the sum of their latencies in seconds, by kind."""
    old = {} if before is None else {name: (count, total) for name, count, total in before.sums}
    found = {}
    for name, count, total in after.sums:
        old_count, old_total = old.get(name, (0.0, 0.0))
        if count > old_count and total >= old_total:
            kind = name.removeprefix("rocksdb.db.").removesuffix(".micros")
            found[kind] = (round(count - old_count), (total - old_total) / 1e6)
    return found
