"""Charges a run for the compactions that its writes will need (docs/design/steady-state.md)."""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Literal

from rocktune.device import DeviceSpec
from rocktune.engine.age_debt import Ages, level_bytes_of
from rocktune.lsm import Amplification, DistinctKeys, TreeData, TreeShape, steady_amplification
from rocktune.space import family_section
from rocktune.trial import OptionMaps
from rocktune.workload import WorkloadSpec, key_popularity
from rocktune.workload.loads import FamilySpec, Load

CAUSES = ("flush", "compaction_read", "compaction_write")
"""Causes of I/O that move bytes which users wrote before."""
_MEMTABLE_ENTRY_BYTES = 40
"""Bytes that an entry takes in a memtable beside key and value: its number, lengths and skip list links."""
_FILE_ENTRY_BYTES = 8
"""Bytes of an entry's number and type in a file."""
_FILE_OVERHEAD = 1.045
"""Ratio of a file to its entries, for index, filter and block trailers. Measured with 4 KiB blocks."""
_COMPRESSION_OVERHEAD = 0.05
"""Share of a value that a fast compressor adds to its compressed size. Measured with Snappy."""
MODELLED_STYLES: dict[str, Literal["leveled", "universal"]] = {
    "kCompactionStyleLevel": "leveled",
    "kCompactionStyleUniversal": "universal",
}
_NEEDED = frozenset(
    {
        "compaction_style",
        "disable_auto_compactions",
        "num_levels",
        "write_buffer_size",
        "min_write_buffer_number_to_merge",
        "level0_file_num_compaction_trigger",
        "level0_slowdown_writes_trigger",
        "level0_stop_writes_trigger",
        "max_bytes_for_level_base",
        "max_bytes_for_level_multiplier",
        "target_file_size_base",
        "target_file_size_multiplier",
        "level_compaction_dynamic_level_bytes",
        "compaction_options_universal",
        "compression",
    }
)
_UNIVERSAL = re.compile(r"(\w+)=(-?\d+)")
_COMPACTION_TIMES = "rocksdb.compaction.times.micros"


def tree_shape(options: OptionMaps, cf: Mapping[str, str], entry_bytes: float) -> TreeShape | None:
    """Returns what the options of a column family say about compactions.

    Args:
        options: all options in effect, of which section "db" counts.
        cf: the family's own options.
        entry_bytes: mean bytes of a key and its value.

    Returns:
        None if there is no model for the options: another compaction style, one level, automatic compactions
        switched off, or an option that the engine does not report.
    """
    if _NEEDED - cf.keys() or cf["disable_auto_compactions"] == "true" or int(cf["num_levels"]) < 2:
        return None
    style = MODELLED_STYLES.get(cf["compaction_style"])
    if style is None:
        return None
    buffers_bytes = int(cf["write_buffer_size"]) * int(cf["min_write_buffer_number_to_merge"])
    shared_bytes = int(options.get("db", {}).get("db_write_buffer_size", "0"))
    flushed_bytes = min(buffers_bytes, shared_bytes or buffers_bytes)
    universal = {name: int(number) for name, number in _UNIVERSAL.findall(cf["compaction_options_universal"])}
    return TreeShape(
        style=style,
        trigger=int(cf["level0_file_num_compaction_trigger"]),
        slowdown=int(cf["level0_slowdown_writes_trigger"]),
        stop=int(cf["level0_stop_writes_trigger"]),
        flush_bytes=flushed_bytes * entry_bytes / (entry_bytes + _MEMTABLE_ENTRY_BYTES),
        level_base_bytes=float(cf["max_bytes_for_level_base"]),
        level_ratio=float(cf["max_bytes_for_level_multiplier"]),
        file_bytes=float(cf["target_file_size_base"]),
        file_ratio=float(cf["target_file_size_multiplier"]),
        levels=int(cf["num_levels"]),
        dynamic_levels=cf["level_compaction_dynamic_level_bytes"] == "true",
        size_ratio=universal.get("size_ratio", 1),
        max_size_amplification=universal.get("max_size_amplification_percent", 200),
        min_merge_width=universal.get("min_merge_width", 2),
        max_merge_width=universal.get("max_merge_width", TreeShape.max_merge_width),
        max_runs=universal.get("max_read_amp", -1),
        buffer_bytes=float(cf["write_buffer_size"]),
        similar_sizes="kCompactionStopStyleSimilarSize" in cf["compaction_options_universal"],
    )


def tree_data(workload: WorkloadSpec, family: FamilySpec | None, cf: Mapping[str, str]) -> TreeData | None:
    """Returns the entries that a column family holds in steady state: all of its keys, overwritten for ever.

    Args:
        workload: the workload of the run.
        family: the family; None for a workload without families.
        cf: the family's own options.

    Returns:
        None if nothing is ever written to the family.
    """
    writes = _writes(workload, family)
    if writes is None:
        return None
    popularity = key_popularity(writes.busiest.key_chooser, (family or workload).keys)
    key_bytes = (family and family.key_bytes) or workload.key_bytes
    fraction = (family and family.value_compressed_fraction) or workload.value_compressed_fraction
    stored_value_bytes = writes.value_bytes
    if _in_blob_files(writes, cf):
        # Compactions move a reference; the value stays in its blob file.
        stored_value_bytes = min(stored_value_bytes, 30.0)
    elif cf.get("compression") not in ("kNoCompression", "kDisableCompressionOption"):
        stored_value_bytes *= min(1.0, fraction + _COMPRESSION_OVERHEAD)
    return TreeData(
        DistinctKeys(popularity.counts, popularity.probabilities, writes.insert_share),
        entry_bytes=key_bytes + writes.value_bytes,
        file_entry_bytes=(key_bytes + _FILE_ENTRY_BYTES + stored_value_bytes) * _FILE_OVERHEAD,
    )


@dataclass(frozen=True)
class _Writes:
    """The writes to a column family.

    Attributes:
        value_bytes: mean size of their values.
        insert_share: share of them that add a key.
        busiest: the load that writes most, which decides which keys are popular.
    """

    value_bytes: float
    insert_share: float
    busiest: Load


def _writes(workload: WorkloadSpec, family: FamilySpec | None) -> _Writes | None:
    """Returns the writes of a workload to a column family; None if there are none."""
    index = workload.families.index(family) if family is not None else 0
    loads = [(weight, workload.loads(session)[index]) for weight, session in workload.weighted_sessions()]
    written = [(weight * load.share * load.mix.write_share, load) for weight, load in loads]
    total = sum(weight for weight, _ in written)
    if total == 0:
        return None
    return _Writes(
        value_bytes=sum(weight * load.value.mean for weight, load in written) / total,
        insert_share=sum(weight * load.share * load.mix.insert for weight, load in loads) / total,
        busiest=max(written, key=lambda each: each[0])[1],
    )


def _in_blob_files(writes: _Writes, cf: Mapping[str, str]) -> bool:
    """Returns whether a family's options keep written values in blob files."""
    return cf.get("enable_blob_files") == "true" and writes.value_bytes >= int(cf.get("min_blob_size", "0"))


def collects_blobs(workload: WorkloadSpec, options: OptionMaps) -> bool:
    """Returns whether blob files of a store get garbage, whose collection has no model.

    Garbage comes from values in blob files that are overwritten or deleted. How much of it is collected, and
    what that moves, shows only once the store is in steady state.

    Args:
        workload: the workload.
        options: options by section; missing ones have RocksDB's defaults.
    """
    return any(
        writes is not None and writes.insert_share < 1 and _in_blob_files(writes, cf)
        for writes, cf in (
            (_writes(workload, family), _own_options(options, family))
            for family in workload.families or (None,)
        )
    )


def _own_options(options: OptionMaps, family: FamilySpec | None) -> Mapping[str, str]:
    """Returns the options of a column family."""
    shared = options.get("cf", {})
    return options.get(family_section("cf", family.name), shared) if family else shared


@dataclass(frozen=True)
class _Family:
    """A column family of a store.

    Attributes:
        name: its name; empty for a workload without families.
        data: its entries; None if nothing is written.
        amplification: its steady amplification; None if nothing is written or there is no model.
        ages: the ages at which its tables are compacted; None if there is no model.
    """

    name: str
    data: TreeData | None
    amplification: Amplification | None
    ages: Ages | None

    @property
    def is_known(self) -> bool:
        """Whether its debt is known: nothing is written, or there is a model."""
        return self.data is None or self.amplification is not None

    def owed_bytes(self, part: Mapping[str, Any], seconds: float) -> float:
        """Returns the bytes that steady state would have moved in a time, with the family's raw figures."""
        written_bytes = float(part["user_bytes_written"])
        owed = 0.0 if self.amplification is None else self.amplification.total * written_bytes
        if self.ages is None or seconds <= 0:
            return owed
        rate, levels = written_bytes / seconds, level_bytes_of(part)
        return owed + seconds * self.ages.owed_bytes_per_s(levels, rate, self.amplification, self.data)


class CompactionDebt:
    """Charges the windows of a run with the bytes that steady state would have moved for their writes."""

    def __init__(
        self, workload: WorkloadSpec, device: DeviceSpec, options: OptionMaps, measured: float | None = None
    ) -> None:
        """Models the trees of a store.

        Args:
            workload: the scaled workload of the run.
            device: the device, whose rate prices the debt.
            options: all scaled options in effect, as the store reports them.
            measured: bytes moved for each byte written as measured in steady state; None for the model's.
        """
        self._device = device
        self._measured = measured
        self._threads = _compaction_threads(options.get("db", {}))
        self._clients = workload.threads
        self._is_closed = all(session.arrival.kind == "closed" for session in workload.sessions)
        own_store = any(section in options for section in ("flsm", "governor"))
        # Before the store is steady, nobody knows what the collection of garbage will move.
        self._is_modelled = not (own_store or collects_blobs(workload, options))
        needs_model = measured is None and self._is_modelled
        self._families = list(_families(workload, options)) if needs_model else []
        self._compaction_us = 0.0

    def charged(self, raw: Mapping[str, Any]) -> dict[str, Any]:
        """Returns a window's `debt` (docs/design/measurement.md); empty if it is unknown.

        Calls have to be in the order of the windows.

        Args:
            raw: the window's raw figures, with what `OtherCpuMeter` counted under `others`.
        """
        if "device_bytes" not in raw:
            return {}
        # Before all else, because it has to see every window.
        busy_s, s_per_byte = self._device_seconds(raw)
        owed_bytes = self._owed_bytes(raw)
        if owed_bytes is None:
            return {}
        moved_bytes = float(sum(raw["device_bytes"][cause] for cause in CAUSES))
        return {
            "debt": {
                "owed_bytes": owed_bytes,
                "moved_bytes": moved_bytes,
                "busy_s": busy_s,
                "debt_s": (owed_bytes - moved_bytes) * s_per_byte,
                "min_s": self._min_s(raw, owed_bytes / moved_bytes if moved_bytes else 1.0),
            }
        }

    def _min_s(self, raw: Mapping[str, Any], owed_share: float) -> float:
        """Returns the seconds that the window's operations take at least, however little is merged meanwhile.

        At an offered rate these are the window's own seconds. In a closed loop the processors are the limit.

        Args:
            raw: the window's raw figures; without CPU time of the load threads, nothing is known.
            owed_share: owed bytes by moved bytes; the CPU time of merges is in proportion to their bytes.
        """
        window_s = float(raw["until_s"]) - float(raw["from_s"])
        available_s = float(raw["others"]["available_s"]) if "others" in raw else 0.0
        # The system counts processor time in hundredths of a second; a shorter window may have none.
        if not self._is_closed or "load_cpu_s" not in raw or not available_s:
            return window_s
        processors = available_s / window_s
        load_s = float(raw["load_cpu_s"])
        total_s = load_s + (float(raw["cpu_s"]) - load_s) * min(1.0, owed_share)
        return max(total_s / processors, load_s / min(processors, self._clients))

    def _owed_bytes(self, raw: Mapping[str, Any]) -> float | None:
        """Returns the bytes that steady state would have moved for a window's writes; None if unknown."""
        if self._measured is not None:
            return self._measured * float(raw["user_bytes_written"])
        if not self._is_modelled or not all(family.is_known for family in self._families):
            return None if raw["user_bytes_written"] else 0.0
        parts, seconds = raw.get("families", {}), float(raw["until_s"]) - float(raw["from_s"])
        return sum(family.owed_bytes(parts.get(family.name, raw), seconds) for family in self._families)

    def _device_seconds(self, raw: Mapping[str, Any]) -> tuple[float, float]:
        """Returns the seconds that a window kept the device busy, and the seconds for each further byte.

        Without a limit on bytes or operations the compaction threads stand for the device.
        """
        sizes, counts = raw["device_bytes"], raw["device_operations"]
        moved_bytes = sum(sizes[cause] for cause in CAUSES)
        bandwidth, iops = self._device.bandwidth_bytes_s, self._device.iops
        if bandwidth or iops:
            busy_s = max(_quotient(sum(sizes.values()), bandwidth), _quotient(sum(counts.values()), iops))
            moved_operations = sum(counts[cause] for cause in CAUSES)
            of_operations = _quotient(moved_operations, iops) / moved_bytes if moved_bytes else 0.0
            return busy_s, max(1 / bandwidth if bandwidth else 0.0, of_operations)
        total_us = float(raw.get("histograms", {}).get(_COMPACTION_TIMES, {}).get("sum", 0.0))
        busy_s = (total_us - self._compaction_us) / 1e6 / self._threads
        self._compaction_us = total_us
        compacted_bytes = sizes["compaction_read"] + sizes["compaction_write"]
        # Before the first compaction has ended there is no rate, and the debt has no price yet.
        return busy_s, busy_s / compacted_bytes if compacted_bytes else 0.0


def _quotient(amount: float, limit: float) -> float:
    """Returns the seconds that an amount takes at a limit per second; 0 without a limit."""
    return amount / limit if limit else 0.0


def _families(workload: WorkloadSpec, options: OptionMaps) -> Iterator[_Family]:
    """Yields the column families of a workload."""
    for family in workload.families or (None,):
        name, cf = "" if family is None else family.name, _own_options(options, family)
        data = tree_data(workload, family, cf)
        shape = tree_shape(options, cf, data.entry_bytes if data else workload.entry_bytes)
        yield _Family(
            name,
            data,
            None if shape is None or data is None else steady_amplification(shape, data),
            None if shape is None else Ages.of(shape.style, cf),
        )


def _compaction_threads(db: Mapping[str, str]) -> int:
    """Returns the number of threads that compact, as RocksDB derives it from the options."""
    compactions, flushes = (
        int(db.get(name, "-1")) for name in ("max_background_compactions", "max_background_flushes")
    )
    jobs = int(db.get("max_background_jobs", "2"))
    if compactions == -1 and flushes == -1:
        return max(1, jobs - max(1, jobs // 4))
    return max(1, compactions)
