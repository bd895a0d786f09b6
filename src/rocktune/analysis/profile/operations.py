"""The operations of a store: their mix, rate and keys."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from rocktune.analysis.profile.cache_skew import CacheFacts, fitted_skew
from rocktune.analysis.profile.facts import FamilyFacts, OperationCounts, StoreFacts
from rocktune.analysis.profile.findings import Basis, Findings
from rocktune.analysis.profile.rates import FittedRate, fitted_rate
from rocktune.workload import FittedSkew
from rocktune.workload.arrival import MIN_OPERATIONS_S, ArrivalSpec
from rocktune.workload.distributions import KeyChooserSpec, SizeSpec
from rocktune.workload.loads import MixSpec

_UNKNOWN_READ_SHARE = 0.5
_MIN_GROWTH = 0.05
"""Share of written bytes that must stay before new keys are inserted; below it the store hardly grows."""
_MEMTABLE_FILL = 0.5
"""Mean fill of a memtable between two flushes."""
_MAX_FIT_ERROR = 0.1
_STATISTICS = "let the program set `statistics` and wait for one dump (`stats_dump_period_sec`)"


@dataclass(frozen=True)
class Load:
    """The operations of a workload.

    Attributes:
        mix: the shares of all operations.
        key_chooser: distribution of the keys.
        scan_length: entries of a scan; None without scans.
        delete_range_keys: keys of a deleted range; None without range deletes.
        shares: share of each column family in the operations, by name; empty for a single family.
        mixes: each family's own mix, by name; empty if all have the same.
    """

    mix: MixSpec
    key_chooser: KeyChooserSpec
    scan_length: SizeSpec | None = None
    delete_range_keys: SizeSpec | None = None
    shares: Mapping[str, float] = field(default_factory=dict)
    mixes: Mapping[str, MixSpec] = field(default_factory=dict)


def mix_of(facts: StoreFacts, new_share: float, findings: Findings) -> MixSpec:
    """Returns the shares of the operations, and finds them.

    Args:
        facts: what the store shows.
        new_share: share of puts that write new keys.
        findings: where to add them.
    """
    counts = facts.counts
    if counts is None or counts.total == 0:
        why = f"no counts of operations: {_STATISTICS}"
        findings.add("share of reads", f"{_UNKNOWN_READ_SHARE:.0%}", Basis.ASSUMED, why)
        rest = _write_shares(facts, new_share, findings, 1 - _UNKNOWN_READ_SHARE)
        return whole_mix({"get": _UNKNOWN_READ_SHARE, **rest})
    gets, writes, scans = (each / counts.total for each in (counts.gets, counts.writes, counts.seeks))
    source = f"tickers: {counts.gets:,} lookups, {counts.writes:,} writes, {counts.seeks:,} seeks"
    for what, share in (("gets", gets), ("writes", writes), ("scans", scans)):
        findings.add(f"share of {what}", f"{share:.1%}", Basis.MEASURED, source)
    absent = absent_share(counts, findings) * gets
    return whole_mix({"get": gets - absent, "get_absent": absent, "scan": scans,
                   **_write_shares(facts, new_share, findings, writes)})  # fmt: skip


def whole_mix(shares: dict[str, float]) -> MixSpec:
    """Returns shares that sum to 1 in six digits, which people can read."""
    rounded = {kind: round(share, 6) for kind, share in shares.items()}
    largest = max(rounded, key=lambda kind: rounded[kind])
    rounded[largest] = round(rounded[largest] + 1 - sum(rounded.values()), 6)
    return MixSpec(**rounded)


def absent_share(counts: OperationCounts, findings: Findings) -> float:
    """Returns the share of lookups that found no key."""
    if not counts.gets:
        return 0.0
    what = "lookups of absent keys"
    if counts.found_gets is None:
        findings.add(what, "0%", Basis.ASSUMED, "no tickers of hits in memtables and levels")
        return 0.0
    share = max(0.0, 1 - counts.found_gets / counts.gets)
    found = f"{counts.found_gets:,} of {counts.gets:,} lookups ended in a memtable or level"
    findings.add(what, f"{share:.1%}", Basis.MEASURED, found)
    return share


def _write_shares(facts: StoreFacts, new_share: float, findings: Findings, writes: float) -> dict[str, float]:
    """Returns the shares of puts, inserts and deletes, which sum to `writes`."""
    deletes = _delete_share(facts.families, findings) * writes if writes else 0.0
    inserts = new_share * (writes - deletes)
    return {"put": writes - deletes - inserts, "insert": inserts, "delete": deletes}


def _delete_share(families: tuple[FamilyFacts, ...], findings: Findings) -> float:
    """Returns the share of deletions among writes."""
    what = "deletes among writes"
    written = sum(family.written_entries or 0 for family in families)
    if written:
        share = sum(family.written_deletions for family in families) / written
        findings.add(what, f"{share:.1%}", Basis.MEASURED, f"{written:,} flushed entries")
        return share
    entries = sum(family.entries or 0 for family in families)
    if entries:
        share = sum(family.deletions for family in families) / entries
        why = "share of deletions among entries of the tables; compactions have dropped others"
        findings.add(what, f"{share:.1%}", Basis.ESTIMATED, why)
        return share
    findings.add(what, "0%", Basis.ASSUMED, "neither flushes nor tables are known")
    return 0.0


def growth_of(facts: StoreFacts, findings: Findings) -> float:
    """Returns the share of puts that write new keys, and finds it."""
    what = "new keys among puts"
    if facts.growth_share is None:
        why = "the LOG has no two dumps with 64 MiB written between them"
        if facts.trace is not None:
            why = "a trace does not say which keys are new; the dumps of a LOG would"
        findings.add(what, "0%", Basis.ASSUMED, why)
        return 0.0
    known = [each.compressed_fraction for each in facts.families if each.compressed_fraction]
    share = facts.growth_share / (sum(known) / len(known) if known else 1.0)
    share = min(1.0, share) if share >= _MIN_GROWTH else 0.0
    why = f"levels grew by {max(0.0, facts.growth_share):.1%} of the bytes written"
    findings.add(what, f"{share:.1%}", Basis.ESTIMATED, why)
    return share


def scan_length_of(facts: StoreFacts, findings: Findings) -> SizeSpec | None:
    """Returns the mean length of scans; None without scans."""
    counts = facts.counts
    if counts is None or not counts.seeks:
        return None
    length = max(1, round(1 + counts.steps / counts.seeks))
    why = f"tickers: {counts.steps:,} steps for {counts.seeks:,} seeks; only the mean is known"
    findings.add("scan length", f"{length} entries", Basis.MEASURED, why)
    return SizeSpec(low=length)


def arrival_of(facts: StoreFacts, mix: MixSpec, findings: Findings) -> tuple[ArrivalSpec, float | None]:
    """Returns the arrival, and the mean operations per second; None if they are unknown."""
    fitted = fitted_rate(facts.rates)
    rate, why = _mean_rate(facts, mix)
    if rate is None or rate < MIN_OPERATIONS_S:
        findings.add("rate", "closed loop", Basis.ASSUMED, f"no count with a time: {_STATISTICS}")
        return ArrivalSpec(), None
    is_counted = facts.counts is not None or facts.trace is not None
    basis = Basis.MEASURED if is_counted else Basis.ESTIMATED
    findings.add("rate", f"{rate:,.4g} operations/s", basis, why)
    if fitted is not None and fitted.amplitude > 0 and fitted.mean > 0:
        return _sine(rate, fitted, len(facts.rates), findings), rate
    why = "fewer than 24 dumps with rates"
    if fitted is not None and len(facts.rates) >= 24:
        why = f"no sine explains half of the variance; the rates spread by {fitted.spread:.0%}"
    findings.add("period", "constant rate", Basis.ASSUMED, why)
    return ArrivalSpec(kind="fixed_rate", operations_s=rate), rate


def _sine(rate: float, fitted: FittedRate, points: int, findings: Findings) -> ArrivalSpec:
    relative = min(1.0, fitted.amplitude / fitted.mean)
    value = f"{fitted.period_s / 3600:.3g} h, amplitude {relative:.0%} of the mean"
    why = f"explains {fitted.explained:.0%} of the variance of {points} write rates"
    findings.add("period", value, Basis.FITTED, why)
    return ArrivalSpec(
        kind="sine",
        operations_s=rate,
        amplitude_operations_s=rate * relative,
        period_s=fitted.period_s,
    )


def _mean_rate(facts: StoreFacts, mix: MixSpec) -> tuple[float | None, str]:
    """Returns the mean rate of operations, and where it comes from."""
    if facts.trace is not None:
        seconds = facts.trace.seconds
        why = f"{facts.trace.operations:,} operations of the trace in {seconds:,.4g} s"
        return (facts.trace.operations / seconds, why) if seconds else (None, "")
    if not facts.seconds:
        return None, ""
    if facts.counts is not None and facts.counts.total:
        return facts.counts.total / facts.seconds, f"all operations of {facts.seconds:,.0f} s"
    writes = mix.write_share + mix.delete
    if facts.written_keys and writes:
        why = f"writes of {facts.seconds:,.0f} s, with the assumed share of reads"
        return facts.written_keys / facts.seconds / writes, why
    return None, ""


def key_chooser_of(facts: StoreFacts, keys: int, entry_bytes: float, findings: Findings) -> KeyChooserSpec:
    """Returns the distribution of the keys, fitted to what caches answered."""
    counts = facts.counts
    flushed = [family.memtable_entries for family in facts.families if family.memtable_entries]
    if counts is not None and not counts.gets + counts.seeks:
        # What the block cache answered, it answered to compactions.
        findings.add(
            "skew", "0 (uniform keys)", Basis.ASSUMED, "no reads, whose hits of caches would show it"
        )
        return KeyChooserSpec()
    hits = None
    if counts is not None and counts.found_gets and counts.writes:
        hits = counts.memtable_hits / counts.found_gets
    fitted = fitted_skew(
        CacheFacts(
            keys=keys,
            entry_bytes=entry_bytes,
            block_bytes=facts.block_bytes,
            cache_bytes=facts.cache_bytes,
            cache_hit_share=facts.cache_hit_share,
            memtable_entries=_MEMTABLE_FILL * sum(flushed) if flushed else None,
            memtable_hit_share=hits,
        )
    )
    if fitted is None:
        why = f"no hits of caches: {_STATISTICS}"
        findings.add("skew", "0 (uniform keys)", Basis.ASSUMED, why)
        return KeyChooserSpec()
    return keys_finding(fitted, findings)


def keys_finding(fitted: FittedSkew, findings: Findings) -> KeyChooserSpec:
    """Returns the distribution of the keys with a fitted skew, and finds it."""
    shown = ", ".join(f"{name} {model:.1%} (store {found:.1%})" for name, model, found in fitted.figures)
    why = f"shares, of the model and of the store: {shown}; error {fitted.error:.3f}"
    if fitted.error > _MAX_FIT_ERROR:
        why += ", a poor fit"
    if len(fitted.figures) == 1:
        why += "; one figure is fitted, so nothing checks it"
    value = f"{fitted.skew:.2f} ({fitted.min_skew:.2f} to {fitted.max_skew:.2f})"
    findings.add("skew", value, Basis.FITTED, why)
    if not fitted.skew:
        return KeyChooserSpec()
    return KeyChooserSpec(kind="scrambled_zipfian", skew=fitted.skew)
