"""db_bench's benchmarks as sessions of a workload."""

import math
from collections.abc import Callable
from dataclasses import dataclass, replace

from rocktune.importing.workloads.account import Use
from rocktune.importing.workloads.command_line import SWITCH_WORDS
from rocktune.importing.workloads.mixgraph import Part, mixgraph
from rocktune.importing.workloads.settings import INT_MAX, ReadSettings
from rocktune.importing.workloads.sine import sine_arrival, sine_is_on, sine_letters
from rocktune.workload.arrival import MIN_OPERATIONS_S, ArrivalSpec
from rocktune.workload.distributions import KeyChooserSpec, SizeSpec
from rocktune.workload.loads import MixSpec


@dataclass(frozen=True)
class EntryBytes:
    """Sizes that turn db_bench's rates in bytes into operations.

    Attributes:
        key: bytes of a key.
        value: mean bytes of a value.
    """

    key: int
    value: float


_Maker = Callable[[ReadSettings, str, EntryBytes], Part]


def _writes(kind: str) -> _Maker:
    def make(settings: ReadSettings, _: str, entry: EntryBytes) -> Part:
        part = Part(MixSpec(**{kind: 1.0}), arrival=_write_arrival(settings, entry))
        return _with_range_deletes(settings, part) if kind == "put" else part

    return make


def _with_range_deletes(settings: ReadSettings, part: Part) -> Part:
    """Returns a benchmark of puts with the range deletes that db_bench mixes into its writes."""
    writes = settings.whole("writes_per_range_tombstone", 0)
    ranges = settings.whole("max_num_range_tombstones", 0)
    if writes == 0 or ranges == 0:
        why = "there are range deletes only if writes_per_range_tombstone and max_num_range_tombstones are"
        for name in ("writes_per_range_tombstone", "max_num_range_tombstones"):
            settings.tell(name, Use.WITHOUT_EFFECT, why=f"{why} above 0")
        return part
    width = settings.whole("range_tombstone_width", 100, 1)
    settings.tell(
        "max_num_range_tombstones", Use.LEFT_OUT, why="the workload deletes ranges as long as it runs"
    )
    if settings.switch("expand_range_tombstones", False, SWITCH_WORDS):
        share = width / (writes + width)
        names = ("writes_per_range_tombstone", "range_tombstone_width", "expand_range_tombstones")
        settings.used_as(f"mix.delete = {share:.6g}", *names)
        return replace(part, mix=MixSpec(put=1 - share, delete=share))
    share = 1 / (writes + 1)
    settings.used_as(f"mix.delete_range = {share:.6g}", "writes_per_range_tombstone")
    settings.used_as(f"delete_range_keys = {width}", "range_tombstone_width")
    mix = MixSpec(put=1 - share, delete_range=share)
    return replace(part, mix=mix, delete_range_keys=SizeSpec(low=width))


def _reads(kind: str) -> _Maker:
    def make(settings: ReadSettings, _name: str, _entry: EntryBytes) -> Part:
        return Part(MixSpec(**{kind: 1.0}), key_chooser=_read_keys(settings), arrival=_read_arrival(settings))

    return make


def _plain(kind: str) -> _Maker:
    return lambda _settings, _name, _entry: Part(MixSpec(**{kind: 1.0}))


def _updates(settings: ReadSettings, _name: str, entry: EntryBytes) -> Part:
    return Part(MixSpec(read_modify_write=1.0), arrival=_update_arrival(settings, entry))


def _scans(settings: ReadSettings, _name: str, _entry: EntryBytes) -> Part:
    # Other than lookups, seeks are uniform whatever read_random_exp_range says.
    return Part(MixSpec(scan=1.0), scan_length=_scan_length(settings), arrival=_read_arrival(settings))


def _while_writing(kind: str) -> _Maker:
    """Returns the maker of a benchmark whose threads read while one more thread writes."""

    def make(settings: ReadSettings, name: str, entry: EntryBytes) -> Part:
        share, arrival = _writer(settings, name, entry)
        scans = kind == "scan"
        return Part(
            MixSpec(**{kind: 1 - share, "put": share}),
            scan_length=_scan_length(settings) if scans else None,
            key_chooser=KeyChooserSpec() if scans else _read_keys(settings),
            arrival=arrival,
            extra_threads=1,
        )

    return make


def _writer(settings: ReadSettings, name: str, entry: EntryBytes) -> tuple[float, ArrivalSpec]:
    """Returns the writing thread's share of the operations, and the arrival of all of them.

    Both are known if reads and writes are limited; otherwise only a run shows how many go together.
    """
    readers = settings.whole("threads", 1, 1, 1023)
    writes_s = _write_limit(settings) / (entry.key + entry.value)
    reads_s = settings.whole("benchmark_read_rate_limit", 0)
    limits = ("benchmark_read_rate_limit", "benchmark_write_rate_limit", "sine_write_rate")
    if writes_s and reads_s:
        rate = reads_s + writes_s
        why = f"{reads_s} reads and {writes_s:.6g} writes a second, even if the store falls behind"
        for limit in limits:
            settings.tell(
                limit, Use.TRANSLATED, f"arrival of kind fixed_rate, operations_s = {rate:.6g}", why
            )
        return writes_s / rate, ArrivalSpec(kind="fixed_rate", operations_s=rate)
    known = f"{reads_s} reads" if reads_s else f"{writes_s:.6g} writes"
    for limit in limits:
        if reads_s or writes_s:
            others = "writes" if reads_s else "reads"
            why = f"{known} a second; how many {others} go with them only a run shows"
            settings.tell(limit, Use.LEFT_OUT, why=why)
    settings.assumed.append(
        f"The writing thread of {name} makes 1 of {readers + 1} operations, as if writes took as long as "
        "reads; change mix where you know more."
    )
    return 1 / (readers + 1), ArrivalSpec()


def _read_random_write_random(settings: ReadSettings, _name: str, _entry: EntryBytes) -> Part:
    reads = settings.whole("readwritepercent", 90, 0, 100)
    settings.used_as(f"mix.get = {reads / 100:g}", "readwritepercent")
    return Part(MixSpec(get=reads / 100, put=(100 - reads) / 100))


def _random_with_verify(settings: ReadSettings, _name: str, _entry: EntryBytes) -> Part:
    reads = settings.whole("readwritepercent", 90, 0, 100)
    deletes = settings.whole("deletepercent", 2, 0, 100)
    if reads + deletes > 100:
        raise settings.refused("deletepercent", f"and readwritepercent, {reads}, exceed 100")
    settings.used_as(f"mix.get = {reads / 100:g}", "readwritepercent")
    settings.used_as(f"mix.delete = {deletes / 100:g}", "deletepercent")
    settings.assumed.append("Each operation of randomwithverify accesses one key; db_bench's access ten.")
    return Part(MixSpec(get=reads / 100, delete=deletes / 100, put=(100 - reads - deletes) / 100))


MEASURED: dict[str, _Maker] = {
    "overwrite": _writes("put"),
    "readrandom": _reads("get"),
    "multireadrandom": _reads("get"),
    "readmissing": _reads("get_absent"),
    "seekrandom": _scans,
    "readrandomwriterandom": _read_random_write_random,
    "readwhilewriting": _while_writing("get"),
    "multireadwhilewriting": _while_writing("get"),
    "seekrandomwhilewriting": _while_writing("scan"),
    "updaterandom": _updates,
    "xorupdaterandom": _plain("read_modify_write"),
    "deleterandom": _plain("delete"),
    "randomwithverify": _random_with_verify,
    "mixgraph": lambda settings, _name, _entry: mixgraph(settings),
}
"""Benchmarks that run on the store as it is."""
FILLS: dict[str, _Maker] = {
    "fillseq": _writes("insert"),
    "fillbatch": _writes("insert"),
    "fillrandom": _writes("put"),
    "filluniquerandom": _writes("put"),
}
"""Benchmarks that begin with an empty store: the load itself, or the preload of those behind them."""
IN_ORDER = ("fillseq", "fillbatch")
BATCHES = ("multireadrandom", "multireadwhilewriting", "fillbatch")
MAINTENANCE = (
    "block_cache_entry_stats", "cache_report_problems", "compact", "compact0", "compact1", "compactall",
    "flush", "levelstats", "memstats", "readtocache", "resetstats", "sstables", "stats", "stats_history",
    "verifychecksum", "verifyfilechecksums", "waitforcompaction",
)  # fmt: skip
"""Benchmarks that are no load."""


def _scan_length(settings: ReadSettings) -> SizeSpec:
    """Returns the length of scans, which read at least the entry that they seek."""
    length = max(1, settings.whole("seek_nexts", 0, 0, INT_MAX))
    distance = settings.whole("max_scan_distance", 0, 0)
    if 0 < distance < length:
        why = "scans end at this distance, as if all keys were there"
        for name in ("seek_nexts", "max_scan_distance"):
            settings.tell(name, Use.TRANSLATED, f"scan_length = {distance}", why)
        return SizeSpec(low=distance)
    settings.tell("max_scan_distance", Use.WITHOUT_EFFECT, why="scans end before it")
    settings.used_as(f"scan_length = {length}", "seek_nexts")
    return SizeSpec(low=length)


def _read_keys(settings: ReadSettings) -> KeyChooserSpec:
    """Returns the distribution of the keys of random reads."""
    spread = settings.number("read_random_exp_range", 0, 0)
    if not spread:
        return KeyChooserSpec()
    why = "db_bench's popularity falls with the rank too, from the first of e^(range) parts of the keys on"
    settings.tell("read_random_exp_range", Use.TRANSLATED, "key_chooser of kind true_zipf, skew 1", why)
    return KeyChooserSpec(kind="true_zipf", skew=1.0)


def _write_limit(settings: ReadSettings) -> float:
    """Returns the bytes a second that benchmarks may write; 0 without a limit."""
    limit = settings.whole("benchmark_write_rate_limit", 0)
    if sine_is_on(settings, "sine_write_rate"):
        # db_bench sets the limit to the sine's value at the beginning.
        a, _, c, d = sine_letters(settings)
        settings.tell("benchmark_write_rate_limit", Use.WITHOUT_EFFECT, why="sine_write_rate replaces it")
        return max(0.0, math.floor(a * math.sin(c) + d))
    return limit


def _write_arrival(settings: ReadSettings, entry: EntryBytes) -> ArrivalSpec:
    """Returns the arrival of a benchmark that only writes."""
    if sine_is_on(settings, "sine_write_rate"):
        settings.tell("benchmark_write_rate_limit", Use.WITHOUT_EFFECT, why="sine_write_rate replaces it")
        return sine_arrival(settings, "sine_write_rate", entry.key + entry.value)
    return _update_arrival(settings, entry)


def _update_arrival(settings: ReadSettings, entry: EntryBytes) -> ArrivalSpec:
    """Returns the arrival of a benchmark whose writes have a limit that stays."""
    limit = _write_limit(settings)
    if not limit:
        return ArrivalSpec()
    rate = max(MIN_OPERATIONS_S, limit / (entry.key + entry.value))
    why = f"{entry.key + entry.value:.6g} bytes a write; operations arrive even if the store falls behind"
    becomes = f"arrival of kind fixed_rate, operations_s = {rate:.6g}"
    on = sine_is_on(settings, "sine_write_rate")
    settings.tell("sine_write_rate" if on else "benchmark_write_rate_limit", Use.TRANSLATED, becomes, why)
    return ArrivalSpec(kind="fixed_rate", operations_s=rate)


def _read_arrival(settings: ReadSettings) -> ArrivalSpec:
    """Returns the arrival of a benchmark that only reads."""
    limit = settings.whole("benchmark_read_rate_limit", 0)
    if not limit:
        return ArrivalSpec()
    why = "operations arrive at this rate even if the store falls behind"
    becomes = f"arrival of kind fixed_rate, operations_s = {limit}"
    settings.tell("benchmark_read_rate_limit", Use.TRANSLATED, becomes, why)
    return ArrivalSpec(kind="fixed_rate", operations_s=limit)
