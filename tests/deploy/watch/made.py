"""Intervals of a store that tests put together."""

from collections import Counter
from collections.abc import Iterable, Iterator

import numpy as np
from tests.importing.logs.made import header, message

from rocktune.deploy.watch import Interval, Mark


def intervals(
    rng: np.random.Generator,
    count: int,
    start: int = 0,
    reads: float = 0.1,
    latency_us: float = 20.0,
    session: str = "S",
    moved: float = 5.0,
) -> Iterator[Interval]:
    """Yields intervals of one workload, ten minutes each.

    Args:
        rng: source of the noise: 2% of the shares, 5% of the latencies.
        count: number of intervals.
        start: number of the first.
        reads: share of lookups; the rest are writes of 1,000 bytes.
        latency_us: mean latency of lookups and writes.
        session: the opening.
        moved: bytes that flushes and compactions write for each byte written.
    """
    for number in range(start, start + count):
        operations = int(1e6 * rng.uniform(0.5, 1.5))
        looked = int(operations * np.clip(reads + 0.01 * rng.standard_normal(), 0, 1))
        written = operations - looked
        slow = latency_us * np.exp(0.05 * rng.standard_normal(2))
        yield Interval(
            end=Mark(session=session, uptime_s=600.0 * (number + 1)),
            time=f"2026-03-04 {number // 6 % 24:02}:{number % 6}0:00",
            seconds=600.0,
            reads=looked,
            writes=written,
            seeks=0,
            steps=0,
            written_bytes=1000 * written,
            moved_bytes=int(1000 * moved * written * np.exp(0.05 * rng.standard_normal())),
            found_reads=int(0.9 * looked),
            memtable_hits=0,
            waited_s={"get": (looked, looked * slow[0] / 1e6), "write": (written, written * slow[1] / 1e6)},
            stalled_share=0.0,
        )


def dump(
    second: float, counts: dict[str, int], sums: dict[str, tuple[int, float]], stall_s: float = 0
) -> str:
    """Returns the lines of one dump of statistics.

    Args:
        second: seconds since the opening, which is at ten o'clock.
        counts: tickers without their prefix "rocksdb.".
        sums: number and sum in us of the histograms rocksdb.db.KIND.micros.
        stall_s: seconds of the interval in which writes were delayed or stopped.
    """
    text = message(second, "[db/db_impl.cc:1] ------- DUMPING STATS -------")
    text += message(second, "[db/db_impl.cc:2] ") + "** DB Stats **\n"
    text += f"Uptime(secs): {second:.1f} total, 600.0 interval\n"
    text += f"Interval stall: 00:{int(stall_s // 60):02}:{stall_s % 60:06.3f} H:M:S, 0.0 percent\n"
    text += message(second, "[db/db_impl.cc:3] STATISTICS:")
    text += "".join(f" rocksdb.{name} COUNT : {count}\n" for name, count in counts.items())
    for kind, (count, total) in sums.items():
        text += (
            f" rocksdb.db.{kind}.micros P50 : 1 P95 : 2 P99 : 3 P100 : 4 COUNT : {count} SUM : {total:.0f}\n"
        )
    return text


def log_text(made: Iterable[Interval], session: str = "S") -> str:
    """Returns a LOG with a dump at the end of each interval."""
    text = header(0, "9.9.3", session)
    counts: Counter[str] = Counter()
    waits: dict[str, tuple[int, float]] = {}
    for each in made:
        counts.update(
            {
                "number.keys.read": each.reads,
                "number.keys.written": each.writes,
                "number.db.seek": each.seeks,
                "number.db.next": each.steps,
                "bytes.written": each.written_bytes,
                "memtable.hit": each.memtable_hits,
                "l0.hit": each.found_reads - each.memtable_hits,
                "flush.write.bytes": each.moved_bytes,
            }
        )
        for kind, (count, total_s) in each.waited_s.items():
            old_count, old_us = waits.get(kind, (0, 0.0))
            waits[kind] = (old_count + count, old_us + 1e6 * total_s)
        text += dump(each.end.uptime_s, dict(counts), waits, each.stalled_share * each.seconds)
    return text
