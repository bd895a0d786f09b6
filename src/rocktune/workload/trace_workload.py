"""Makes a workload of a trace's summary."""

import math

from rocktune.workload.arrival import ArrivalSpec
from rocktune.workload.distributions import KeyChooserSpec, SizeSpec
from rocktune.workload.loads import FamilySpec, MixSpec, PreloadSpec
from rocktune.workload.sessions import SessionSpec
from rocktune.workload.spec import DEFAULT_FAMILY, WorkloadSpec
from rocktune.workload.trace import TraceFamily, TracePreload, TraceSpec, TraceSummary

_UNKNOWN_VALUE_BYTES = 1024
_KEY_BYTES = (8, 1024)
_MAX_SKEW = 0.999
"""Maximum skew of YCSB's key choosers, whose formula divides by 1 - skew."""


def trace_workload(
    summary: TraceSummary,
    path: str,
    name: str,
    recorded_rate: bool = False,
    threads: int = 16,
    preload_from: str | None = None,
) -> WorkloadSpec:
    """Returns the workload that replays a trace.

    Its mix, sizes and skew are the trace's. They only describe it, for the formulas of LSM-trees and for
    reports.

    Args:
        summary: the whole trace.
        path: the file of operations.
        name: name of the workload.
        recorded_rate: whether operations start at their recorded times, not as soon as a thread is free.
        threads: number of threads that issue operations.
        preload_from: the database whose entries are in the summary; None if it is not known.
    """
    arrival = ArrivalSpec(kind="recorded") if recorded_rate else ArrivalSpec()
    scans, ranges = summary.total("scan"), summary.total("delete_range")
    families = tuple(_family(family, summary.operations) for family in summary.families)
    only, *others = families
    is_single = not others and only.name == DEFAULT_FAMILY
    return WorkloadSpec(
        name=name,
        keys=sum(family.keys for family in families),
        key_bytes=only.key_bytes or _KEY_BYTES[0],
        value=only.value or SizeSpec(low=_UNKNOWN_VALUE_BYTES),
        threads=threads,
        key_chooser=_key_chooser(summary),
        scan_length=SizeSpec(low=round(summary.scan_entries / scans) if scans else 100),
        delete_range_keys=SizeSpec(low=max(1, round(summary.range_keys / ranges))) if ranges else None,
        families=() if is_single else families,
        sessions=(SessionSpec(mix=only.mix if is_single else None, arrival=arrival),),
        preload=PreloadSpec(keys=sum(family.preload.keys for family in families)),
        trace=TraceSpec(
            path=path,
            operations=summary.operations,
            seconds=summary.seconds,
            preload=None if preload_from is None else _preload(summary, preload_from),
        ),
    )


def _preload(summary: TraceSummary, directory: str) -> TracePreload:
    """Returns the database whose entries are in a summary."""
    return TracePreload(
        directory=directory,
        keys=sum(stored.keys for stored in summary.stored),
        untouched_keys=sum(stored.untouched_keys for stored in summary.stored),
        bytes=sum(stored.bytes for stored in summary.stored),
    )


def _family(family: TraceFamily, operations: int) -> FamilySpec:
    """Returns the data and the operations of a column family."""
    low, high = _KEY_BYTES
    key_bytes, value_bytes = family.mean_key_bytes, family.mean_value_bytes
    if family.stored is not None and family.stored.keys > 0:
        # Most of the data, unless the trace writes more than the database has.
        key_bytes, value_bytes = family.stored.mean_key_bytes, family.stored.mean_value_bytes
    mix = MixSpec(**{kind: count / family.total for kind, count in family.operations.items()})
    return FamilySpec(
        name=DEFAULT_FAMILY if family.id == 0 else f"family-{family.id}",
        keys=family.keys,
        key_bytes=min(high, max(low, key_bytes)),
        value=SizeSpec(low=value_bytes or _UNKNOWN_VALUE_BYTES),
        preload=PreloadSpec(keys=family.present_keys),
        mix=mix,
        share=family.total / operations,
    )


def _key_chooser(summary: TraceSummary) -> KeyChooserSpec:
    """Returns the distribution with as many operations on the hottest hundredth of the keys."""
    keys = sum(family.used_keys for family in summary.families)
    low, high = 0.0, _MAX_SKEW
    if _hot_share(keys, high) <= summary.hot_share:
        return KeyChooserSpec(kind="scrambled_zipfian", skew=high)
    for _ in range(30):
        middle = (low + high) / 2
        low, high = (middle, high) if _hot_share(keys, middle) < summary.hot_share else (low, middle)
    # Three digits, because the share is no more exact. Below a tenth, noise looks like skew.
    skew = round(low, 3)
    return KeyChooserSpec(kind="scrambled_zipfian", skew=skew) if skew >= 0.1 else KeyChooserSpec()


def _hot_share(keys: int, skew: float) -> float:
    """Returns the share of operations on the hottest hundredth of Zipf-distributed keys."""

    def harmonic(count: int) -> float:
        """Returns the sum of rank^-skew over `count` ranks, from rank 100 on as an integral."""
        exact = math.fsum(rank**-skew for rank in range(1, min(count, 100) + 1))
        power = 1 - skew
        return exact + (math.pow(max(count, 100), power) - math.pow(100, power)) / power

    return harmonic(math.ceil(keys / 100)) / harmonic(keys)
