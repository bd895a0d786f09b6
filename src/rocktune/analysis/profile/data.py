"""The data of a store: column families, keys and sizes."""

from dataclasses import dataclass

from rocktune.analysis.profile.facts import FamilyFacts
from rocktune.analysis.profile.findings import Basis, Findings
from rocktune.workload import TraceFamily, fitted_keys, key_use
from rocktune.workload.distributions import SizeSpec
from rocktune.workload.loads import MAX_VALUE_BYTES

_ASSUMED_KEY_BYTES = 16
_ASSUMED_VALUE_BYTES = 1024
_ASSUMED_FRACTION = 0.5
_OF_TABLES = "mean of the tables' properties"
_MIN_KEY_BYTES, _MAX_KEY_BYTES = 8, 1024


@dataclass(frozen=True)
class FamilyData:
    """The data of one column family as a workload has it.

    Attributes:
        name: its name.
        keys: number of keys, at least 1.
        key_bytes: bytes of a key.
        value: sizes of values.
        compressed_fraction: ratio of a value's compressed size to its size.
        written_entries: entries written, as a weight among the families; 0 if unknown.
    """

    name: str
    keys: int
    key_bytes: int
    value: SizeSpec
    compressed_fraction: float
    written_entries: int


def data_of(family: FamilyFacts, prefix: str, new_share: float, findings: Findings) -> FamilyData | None:
    """Returns the data of a column family, and finds its numbers; None if nothing shows any.

    A trace's keys count if neither tables nor a LOG show data.

    Args:
        family: the family.
        prefix: what findings name before a quantity, such as "events: "; "" for a store with one family.
        new_share: share of puts that write new keys.
        findings: where to add them.
    """
    if not family.entries and not family.file_bytes:
        return None if family.traced is None else _traced_data(family, family.traced, prefix, findings)
    key_bytes = _key_bytes(family.key_bytes, _OF_TABLES, prefix, findings)
    value = _value(family, prefix, findings)
    fraction = _fraction(family, prefix, findings)
    entries = family.undeleted
    if entries:
        why = f"{family.entries:,} entries, {family.deletions:,} of them deletions, each of which hides one"
    else:
        entries = max(1, round((family.file_bytes or 0) / ((key_bytes + value.mean) * fraction)))
        why = f"{family.file_bytes or 0:,} bytes of tables over the size of a compressed entry"
    keys = entries
    if family.largest_run_share is None:
        why += "; older versions count, too"
    else:
        # The keys of a level differ. A put elsewhere is of one of these keys, unless it is of a new key.
        keys = max(1, round(entries * (1 - (1 - family.largest_run_share) * (1 - new_share))))
        why += f"; {family.largest_run_share:.0%} lie in the largest level, others may be of the same keys"
    findings.add(f"{prefix}keys", f"{keys:,}", Basis.ESTIMATED, why)
    return FamilyData(family.name, keys, key_bytes, value, fraction, family.written_entries or 0)


def _traced_data(
    family: FamilyFacts, traced: TraceFamily, prefix: str, findings: Findings
) -> FamilyData | None:
    """Returns the data of a family of which a trace alone is known; None if it names no key."""
    use = key_use((traced,), family.hot_share)
    if use is None:
        return None
    key_bytes = _key_bytes(traced.mean_key_bytes, "mean of the trace's operations", prefix, findings)
    size = min(MAX_VALUE_BYTES, traced.mean_value_bytes)
    if size:
        why = f"mean of the values that the trace states; the largest has {traced.max_value_bytes:,} B"
        findings.add(f"{prefix}value size", f"{size} B", Basis.MEASURED, why)
    else:
        size, why = _ASSUMED_VALUE_BYTES, "the trace states no size of a value"
        findings.add(f"{prefix}value size", f"{size} B", Basis.ASSUMED, why)
    fraction = _fraction(family, prefix, findings)
    keys = fitted_keys(use)
    why = f"{use.operations:,} operations meet {use.used_keys:,} keys; "
    why += "a lower bound; name the database, too" if keys.is_bound else "others follow from their skew"
    findings.add(f"{prefix}keys", f"{keys.keys:,}", Basis.ESTIMATED, why)
    return FamilyData(family.name, keys.keys, key_bytes, SizeSpec(low=size), fraction, traced.total)


def _key_bytes(mean_bytes: float | None, source: str, prefix: str, findings: Findings) -> int:
    what = f"{prefix}key size"
    if mean_bytes is None:
        findings.add(what, f"{_ASSUMED_KEY_BYTES} B", Basis.ASSUMED, "no properties of tables")
        return _ASSUMED_KEY_BYTES
    size = min(_MAX_KEY_BYTES, max(_MIN_KEY_BYTES, round(mean_bytes)))
    why = source
    if size != round(mean_bytes):
        why += f", {mean_bytes:.1f} B, within a workload's bounds"
    findings.add(what, f"{size} B", Basis.MEASURED, why)
    return size


def _value(family: FamilyFacts, prefix: str, findings: Findings) -> SizeSpec:
    what = f"{prefix}value size"
    if family.value_bytes is None:
        findings.add(what, f"{_ASSUMED_VALUE_BYTES} B", Basis.ASSUMED, "no properties of tables")
        return SizeSpec(low=_ASSUMED_VALUE_BYTES)
    size = min(MAX_VALUE_BYTES, round(family.value_bytes))
    basis, why = Basis.MEASURED, f"{_OF_TABLES}; the spread is unknown"
    if family.blob_values:
        basis = Basis.ESTIMATED
        why = f"{_OF_TABLES} and of {family.blob_values:,} values in blob files, as stored"
    findings.add(what, f"{size} B", basis, why)
    return SizeSpec(low=size)


def _fraction(family: FamilyFacts, prefix: str, findings: Findings) -> float:
    what = f"{prefix}compressed share of a value"
    if not family.compressed_fraction:
        findings.add(what, f"{_ASSUMED_FRACTION:g}", Basis.ASSUMED, "no properties of tables")
        return _ASSUMED_FRACTION
    # Blocks share prefixes of keys and have checksums; both are small.
    fraction = min(1.0, max(0.01, round(family.compressed_fraction, 3)))
    blocks = "data blocks and blob files" if family.blob_values else "data blocks"
    why = f"{blocks} over keys and values; 1 for a store without compression, whatever its values allow"
    findings.add(what, f"{fraction:g}", Basis.ESTIMATED if family.blob_values else Basis.MEASURED, why)
    return fraction
