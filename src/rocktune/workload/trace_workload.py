"""Makes a workload of a trace's summary."""

from rocktune.workload.arrival import ArrivalSpec
from rocktune.workload.distributions import KeyChooserSpec, SizeSpec
from rocktune.workload.loads import FamilySpec, MixSpec, PreloadSpec
from rocktune.workload.sessions import SessionSpec
from rocktune.workload.spec import DEFAULT_FAMILY, WorkloadSpec
from rocktune.workload.trace import TraceFamily, TracePreload, TraceSpec, TraceSummary
from rocktune.workload.trace_keys import key_use, skew_among

_UNKNOWN_VALUE_BYTES = 1024
_KEY_BYTES = (8, 1024)


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
    keys = sum(family.keys for family in families)
    is_single = not others and only.name == DEFAULT_FAMILY
    return WorkloadSpec(
        name=name,
        keys=keys,
        key_bytes=only.key_bytes or _KEY_BYTES[0],
        value=only.value or SizeSpec(low=_UNKNOWN_VALUE_BYTES),
        threads=threads,
        key_chooser=_key_chooser(summary, keys),
        scan_length=SizeSpec(low=round(summary.scan_entries / scans) if scans else 100),
        delete_range_keys=SizeSpec(low=max(1, round(summary.range_keys / ranges))) if ranges else None,
        families=() if is_single else families,
        sessions=(SessionSpec(mix=only.mix if is_single else None, arrival=arrival),),
        preload=_loaded(sum(family.preload.keys for family in families)),
        trace=TraceSpec(
            path=path,
            operations=summary.operations,
            seconds=summary.seconds,
            preload=None if preload_from is None else _preload(summary, preload_from),
        ),
    )


def _loaded(keys: int) -> PreloadSpec:
    # A store that serves has data on all levels; one that is loaded in ascending order has one level.
    return PreloadSpec(keys=keys, random_order=keys > 0)


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
        preload=_loaded(family.present_keys),
        mix=mix,
        share=family.total / operations,
    )


def _key_chooser(summary: TraceSummary, keys: int) -> KeyChooserSpec:
    """Returns the distribution at which the hottest of the keys have as many operations as in the trace."""
    use = key_use(summary.families, summary.hot_share)
    skew = 0.0 if use is None else skew_among(max(keys, use.used_keys), use).skew
    return KeyChooserSpec(kind="scrambled_zipfian", skew=skew) if skew else KeyChooserSpec()
