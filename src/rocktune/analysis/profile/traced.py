"""The operations of a store as a trace recorded them."""

from collections.abc import Sequence
from dataclasses import replace

from rocktune.analysis.profile.data import FamilyData
from rocktune.analysis.profile.facts import FamilyFacts, StoreFacts
from rocktune.analysis.profile.findings import Basis, Findings
from rocktune.analysis.profile.operations import Load, absent_share, keys_finding, whole_mix
from rocktune.errors import UserError
from rocktune.workload import DEFAULT_FAMILY, TraceFamily, TraceSummary, key_use, skew_among
from rocktune.workload.distributions import KeyChooserSpec, SizeSpec
from rocktune.workload.loads import MixSpec

_SHOWN_KINDS = {"get": "gets", "put": "puts", "delete": "deletes", "scan": "scans",
                "delete_range": "range deletes"}  # fmt: skip
_UNKNOWN_LENGTH = "scans of unknown length"
"""How the note on scans begins whose length the trace does not state."""


def with_trace(facts: StoreFacts, trace: TraceSummary) -> StoreFacts:
    """Returns a store's facts with a trace of its operations, whose families are matched by number.

    Families without operations in the trace, and operations on families without tables, are left out with a
    sentence. Without a database all families are the trace's.

    Args:
        facts: what LOG files, tables and options say.
        trace: the trace.

    Raises:
        UserError: the store's families are known, and the trace has operations on no one of them.
    """
    notes = [f"The trace: {cases:,} {note}." for note, cases in trace.notes.items()]
    if not any(family.entries or family.file_bytes for family in facts.families):
        families = [
            FamilyFacts(_name(each), id=each.id, traced=each, hot_share=trace.hot_share)
            for each in trace.families
        ]
        return replace(facts, families=tuple(families), trace=trace, notes=(*facts.notes, *notes))
    by_number = {each.id: each for each in trace.families}
    if len(facts.families) == 1 and len(by_number) == 1:
        # A LOG does not number families.
        families = [replace(facts.families[0], traced=trace.families[0])]
    else:
        families = [
            replace(each, traced=by_number.get(-1 if each.id is None else each.id)) for each in facts.families
        ]
    known = {each.traced.id for each in families if each.traced is not None}
    for number, each in by_number.items():
        if number not in known:
            notes.append(
                f"{each.total:,} operations of the trace on column family number {number}: no table of the "
                "database is of it."
            )
    notes += [
        f"{each.name}: the trace has no operation on this column family."
        for each in families
        if each.traced is None and (each.entries or each.file_bytes)
    ]
    traced = tuple(each for each in families if each.traced is not None)
    if not traced:
        # A LOG names families and does not number them.
        numbers = ", ".join(map(str, by_number))
        raise UserError(
            f"profile: the trace has operations on column families number {numbers}, and no table is of "
            "them; name the directory of the database that the trace was recorded on"
        )
    return replace(facts, families=traced, trace=trace, notes=(*facts.notes, *notes))


def _name(family: TraceFamily) -> str:
    """Returns the name of a family of which the number alone is known."""
    return DEFAULT_FAMILY if family.id == 0 else f"family-{family.id}"


def traced_load(
    facts: StoreFacts, trace: TraceSummary, data: Sequence[FamilyData], new_share: float, findings: Findings
) -> Load:
    """Returns the operations of a trace, and finds their numbers.

    Args:
        facts: what the store shows, with the trace.
        trace: the trace.
        data: the data of the families with operations.
        new_share: share of puts that write new keys.
        findings: where to add the numbers.
    """
    shown_names = {each.name for each in data}
    families = [
        (each.name, each.traced)
        for each in facts.families
        if each.traced is not None and each.name in shown_names
    ]
    total = sum(traced.total for _, traced in families)
    source = f"{total:,} operations of the trace"
    counts = {kind: sum(each.operations.get(kind, 0) for _, each in families) for kind in _SHOWN_KINDS}
    for kind, shown in _SHOWN_KINDS.items():
        if counts[kind]:
            findings.add(f"share of {shown}", f"{counts[kind] / total:.1%}", Basis.MEASURED, source)
    absent = 0.0
    if counts["get"] and facts.counts is not None:
        absent = absent_share(facts.counts, findings)
    elif counts["get"]:
        why = "a trace does not say which lookups found nothing; the LOG's tickers do"
        findings.add("lookups of absent keys", "0%", Basis.ASSUMED, why)
    if len(families) > 1:
        shown = ", ".join(f"{name} {each.total / total:.1%}" for name, each in families)
        findings.add("share of each column family", shown, Basis.MEASURED, source)
    mixes = {name: _mix(each, absent, new_share) for name, each in families}
    several = len(families) > 1
    return Load(
        mix=MixSpec.mean((each.total, mixes[name]) for name, each in families),
        mixes=mixes if several else {},
        shares={name: each.total / total for name, each in families} if several else {},
        key_chooser=_key_chooser(trace, families, data, findings),
        scan_length=_scan_length(trace, counts["scan"], findings),
        delete_range_keys=_range_keys(trace, counts["delete_range"], findings),
    )


def _mix(family: TraceFamily, absent: float, new_share: float) -> MixSpec:
    """Returns the mix of the operations on a family."""
    shares = {kind: count / family.total for kind, count in family.operations.items()}
    gets, puts = shares.pop("get", 0.0), shares.pop("put", 0.0)
    shares |= {"get": gets * (1 - absent), "get_absent": gets * absent}
    shares |= {"put": puts * (1 - new_share), "insert": puts * new_share}
    return whole_mix(shares)


def _key_chooser(
    trace: TraceSummary,
    families: Sequence[tuple[str, TraceFamily]],
    data: Sequence[FamilyData],
    findings: Findings,
) -> KeyChooserSpec:
    """Returns the distribution of the keys of all families together."""
    use = key_use([each for _, each in families], trace.hot_share)
    if use is None:
        findings.add("skew", "0 (uniform keys)", Basis.ASSUMED, "the trace names no keys")
        return KeyChooserSpec()
    return keys_finding(skew_among(max(use.used_keys, sum(each.keys for each in data)), use), findings)


def _scan_length(trace: TraceSummary, scans: int, findings: Findings) -> SizeSpec | None:
    if not scans:
        return None
    length = max(1, round(trace.scan_entries / scans))
    unknown = sum(cases for note, cases in trace.notes.items() if note.startswith(_UNKNOWN_LENGTH))
    basis, why = Basis.MEASURED, "mean of the trace's scans"
    if unknown:
        basis, why = Basis.ASSUMED, f"{unknown:,} of {scans:,} scans have no bound in the trace"
    findings.add("scan length", f"{length:,} entries", basis, why)
    return SizeSpec(low=length)


def _range_keys(trace: TraceSummary, ranges: int, findings: Findings) -> SizeSpec | None:
    if not ranges:
        return None
    keys = max(1, round(trace.range_keys / ranges))
    why = "mean of the keys of the trace between the ends of a range; other keys of the store are not known"
    findings.add("keys of a deleted range", f"{keys:,}", Basis.ESTIMATED, why)
    return SizeSpec(low=keys)
