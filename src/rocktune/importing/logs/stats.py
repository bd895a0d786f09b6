"""Statistics of a database and its column families, as RocksDB dumps them into the LOG from time to time."""

import re
from dataclasses import dataclass
from datetime import datetime
from sys import intern

from rocktune.importing.logs.printed import count, duration_s, number
from rocktune.importing.logs.tables import LevelRow


@dataclass(frozen=True, slots=True)
class Traffic:
    """Writes of users to a database, since it was opened or since the dump before.

    Attributes:
        writes: batches; cut to three digits or more, as printed.
        keys: their keys.
        ingest_mb_s: MiB of user data written for each second.
        wal_syncs: syncs of the write-ahead log.
        wal_mb_s: MiB written to the write-ahead log for each second.
        stall_s: seconds in which writes were delayed or stopped.
        stall_percent: their share of the time.
    """

    writes: int | None = None
    keys: int | None = None
    ingest_mb_s: float | None = None
    wal_syncs: int | None = None
    wal_mb_s: float | None = None
    stall_s: float | None = None
    stall_percent: float | None = None


@dataclass(frozen=True, slots=True)
class DbStats:
    """The block `** DB Stats **`.

    Attributes:
        uptime_s: seconds since the database was opened.
        interval_s: seconds since the dump before.
        cumulative: since the database was opened.
        interval: since the dump before.
    """

    uptime_s: float | None = None
    interval_s: float | None = None
    cumulative: Traffic = Traffic()
    interval: Traffic = Traffic()


@dataclass(frozen=True, slots=True)
class FamilyStats:
    """The block `** Compaction Stats [family] **` with its lines.

    Attributes:
        family: name of the column family.
        levels: rows "L0", "L1" and so on; RocksDB leaves out empty levels that were never used.
        total: row "Sum"; None if missing.
        since_dump: row "Int"; None if missing.
        priorities: rows by thread priority; empty before RocksDB 5.10.
        uptime_s: seconds since the family was opened.
        interval_s: seconds since the dump before.
        flush_gb: GiB flushed since the family was opened.
        interval_flush_gb: GiB flushed since the dump before.
        compaction_write_mb_s: MiB/s of flushes and compactions since the family was opened.
        compaction_read_mb_s: MiB/s read by compactions since the family was opened.
        interval_compaction_write_mb_s: the same since the dump before.
        interval_compaction_read_mb_s: the same since the dump before.
        pending_bytes: estimated bytes that compactions still have to rewrite; None before RocksDB 7.10.
        stalls: cause in RocksDB's present terms, such as "l0-file-count-limit-stops", and its number since
            the family was opened.
    """

    family: str
    levels: tuple[LevelRow, ...] = ()
    total: LevelRow | None = None
    since_dump: LevelRow | None = None
    priorities: tuple[LevelRow, ...] = ()
    uptime_s: float | None = None
    interval_s: float | None = None
    flush_gb: float | None = None
    interval_flush_gb: float | None = None
    compaction_write_mb_s: float | None = None
    compaction_read_mb_s: float | None = None
    interval_compaction_write_mb_s: float | None = None
    interval_compaction_read_mb_s: float | None = None
    pending_bytes: int | None = None
    stalls: tuple[tuple[str, int], ...] = ()

    @property
    def size_bytes(self) -> float | None:
        """Size of all levels, by the row "Sum" or, in an excerpt without it, by theirs; None if unknown."""
        if self.total is not None and self.total.size_bytes is not None:
            return self.total.size_bytes
        sizes = [row.size_bytes for row in self.levels]
        known = [size for size in sizes if size is not None]
        return sum(known) if known and len(known) == len(sizes) else None

    @property
    def files(self) -> int:
        """Number of tables, by the row "Sum" or, in an excerpt without it, by the levels'."""
        if self.total is not None and self.total.files is not None:
            return self.total.files
        return sum(row.files or 0 for row in self.levels)


COUNTED = frozenset(
    f"rocksdb.{name}"
    for name in (
        "number.keys.read",
        "number.multiget.keys.read",
        "number.keys.written",
        "number.db.seek",
        "number.db.next",
        "number.db.prev",
        "bytes.written",
        "memtable.hit",
        "l0.hit",
        "l1.hit",
        "l2andup.hit",
        "stall.micros",
        "compact.write.bytes",
        "flush.write.bytes",
    )
)
"""Tickers whose value at each dump is kept; of the others the last value is."""
TIMED = frozenset(f"rocksdb.db.{name}.micros" for name in ("get", "write", "seek"))
"""Histograms whose count and sum at each dump are kept."""


@dataclass(frozen=True, slots=True)
class Dump:
    """One dump of statistics.

    Attributes:
        time: when it was written, by the machine's clock; None in text without times.
        db: the database's block; None if missing.
        families: in the order of the dump.
        counts: name and value of each ticker in `COUNTED`; empty without a statistics object.
        sums: name, count and sum of each histogram in `TIMED`; empty in old versions, which print no sum.
    """

    time: datetime | None
    db: DbStats | None
    families: tuple[FamilyStats, ...]
    counts: tuple[tuple[str, int], ...] = ()
    sums: tuple[tuple[str, float, float], ...] = ()

    @property
    def rows(self) -> int:
        """Number of rows in the families' tables, and of lines of the statistics object."""
        tables = sum(len(family.levels) + len(family.priorities) + 2 for family in self.families)
        return tables + (len(self.counts) + len(self.sums)) // 4


@dataclass(frozen=True, slots=True)
class Histogram:
    """A histogram of RocksDB's statistics object.

    Attributes:
        name: such as "rocksdb.db.get.micros".
        p50: its median.
        p95: 95th percentile; None in old versions that print none.
        p99: 99th percentile.
        maximum: None before RocksDB 5.
        count: number of samples; None in old versions.
        total: sum of the samples; None in old versions.
    """

    name: str
    p50: float | None
    p95: float | None
    p99: float | None
    maximum: float | None
    count: float | None
    total: float | None = None


_N = r"(-?[0-9.eE+]+)"
_H = r"(-?\d+[KMG]?)"
_FAMILY = (
    (re.compile(rf"Uptime\(secs\): {_N} total, {_N} interval"), ("uptime_s", "interval_s")),
    (re.compile(rf"Flush\(GB\): cumulative {_N}, interval {_N}"), ("flush_gb", "interval_flush_gb")),
    (
        re.compile(rf"Cumulative compaction: \S+ GB write, {_N} MB/s write, \S+ GB read, {_N} MB/s read"),
        ("compaction_write_mb_s", "compaction_read_mb_s"),
    ),
    (
        re.compile(rf"Interval compaction: \S+ GB write, {_N} MB/s write, \S+ GB read, {_N} MB/s read"),
        ("interval_compaction_write_mb_s", "interval_compaction_read_mb_s"),
    ),
)
_PENDING = re.compile(r"Estimated pending compaction bytes: (\d{1,20})$")
_DB_UPTIME = _FAMILY[0][0]
_WRITES = re.compile(
    rf"(Cumulative|Interval) writes: {_H} writes, {_H} keys, .*?ingest: \S+ [KMG]?B, {_N} MB/s"
)
_WAL = re.compile(rf"(Cumulative|Interval) WAL: {_H} writes, {_H} syncs, .*?written: \S+ [KMG]?B, {_N} MB/s")
_STALL = re.compile(rf"(Cumulative|Interval) stall: (.{{1,40}}), {_N} percent")
_OLD_STALLS = re.compile(r"(\d{1,20}) ([a-z0-9_]+(?: [a-z_]+)*)")
_NEW_STALLS = re.compile(r"([a-z0-9-]+): (\d{1,20})")
_STALL_NAMES = {
    "level0_slowdown": "l0-file-count-limit-delays",
    "level0_slowdown_with_compaction": "cf-l0-file-count-limit-delays-with-ongoing-compaction",
    "level0_numfiles": "l0-file-count-limit-stops",
    "level0_numfiles_with_compaction": "cf-l0-file-count-limit-stops-with-ongoing-compaction",
    "stop for pending_compaction_bytes": "pending-compaction-bytes-stops",
    "slowdown for pending_compaction_bytes": "pending-compaction-bytes-delays",
    "memtable_compaction": "memtable-limit-stops",
    "memtable_slowdown": "memtable-limit-delays",
}
_HISTOGRAM = re.compile(r"(rocksdb\.\S{1,200}) (?:statistics Percentiles :=> 50|P50) : (\S{1,40}) (.{0,300})")
_TICKER = re.compile(r"(rocksdb\.\S{1,200}) COUNT : (\d{1,20})$")


def family_figures(text: str) -> dict[str, float | int | tuple[tuple[str, int], ...]]:
    """Returns the fields of `FamilyStats` that a line states; empty for another line."""
    for pattern, names in _FAMILY:
        if match := pattern.match(text):
            values = map(number, match.groups())
            return {name: value for name, value in zip(names, values, strict=True) if value is not None}
    if match := _PENDING.match(text):
        return {"pending_bytes": int(match[1])}
    if text.startswith("Stalls(count): "):
        old = [(_STALL_NAMES.get(name), int(times)) for times, name in _OLD_STALLS.findall(text[15:2000])]
        return {"stalls": tuple((name, times) for name, times in old if name is not None)}
    if text.startswith("Write Stall (count): "):
        new = _NEW_STALLS.findall(text[21:2000])
        # The totals count others again.
        return {
            "stalls": tuple(
                (intern(name), int(times)) for name, times in new if not name.startswith("total-")
            )
        }
    return {}


def traffic_figures(text: str) -> tuple[str, dict[str, float | int]]:
    """Returns "cumulative" or "interval" and the fields of `Traffic` in a line; "" for another line."""
    if match := _WRITES.match(text):
        found = {"writes": count(match[2]), "keys": count(match[3]), "ingest_mb_s": number(match[4])}
    elif match := _WAL.match(text):
        found = {"wal_syncs": count(match[3]), "wal_mb_s": number(match[4])}
    elif match := _STALL.match(text):
        found = {"stall_s": duration_s(match[2]), "stall_percent": number(match[3])}
    else:
        return "", {}
    return match[1].lower(), {name: value for name, value in found.items() if value is not None}


def uptime(text: str) -> tuple[float | None, float | None] | None:
    """Returns the seconds since the opening and since the dump before; None for another line."""
    match = _DB_UPTIME.match(text)
    return (number(match[1]), number(match[2])) if match else None


def ticker(text: str) -> tuple[str, int] | None:
    """Returns name and count of a ticker's line; None for another line."""
    match = _TICKER.match(text)
    return (match[1], int(match[2])) if match else None


def histogram(text: str) -> Histogram | None:
    """Returns the histogram of a line; None for another line."""
    match = _HISTOGRAM.match(text)
    if match is None:
        return None
    words = match[3].replace("=>", "").split()
    rest = {name: number(value) for name, colon, value in zip(words, words[1:], words[2:]) if colon == ":"}  # noqa: B905 - the words' neighbours

    def of(*names: str) -> float | None:
        return next((rest[name] for name in names if rest.get(name) is not None), None)

    return Histogram(
        name=match[1],
        p50=number(match[2]),
        p95=of("P95", "95"),
        p99=of("P99", "99"),
        maximum=of("P100", "100"),
        count=of("COUNT"),
        total=of("SUM"),
    )
