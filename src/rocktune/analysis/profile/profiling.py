"""Makes a workload of what a store shows."""

from rocktune.analysis.profile.data import FamilyData, data_of
from rocktune.analysis.profile.facts import FamilyFacts, StoreFacts
from rocktune.analysis.profile.findings import Basis, Findings, Profile
from rocktune.analysis.profile.operations import (
    Load,
    arrival_of,
    growth_of,
    key_chooser_of,
    mix_of,
    scan_length_of,
)
from rocktune.analysis.profile.traced import traced_load
from rocktune.errors import UserError
from rocktune.spec_file import validated
from rocktune.workload import WorkloadSpec
from rocktune.workload.loads import FamilySpec, PreloadSpec
from rocktune.workload.sessions import SessionSpec


def profiled(facts: StoreFacts, name: str) -> Profile:
    """Returns the profile of a store.

    Args:
        facts: what the store shows.
        name: name of the workload.

    Raises:
        UserError: the store shows no data.
    """
    findings = Findings()
    several = sum(bool(each.entries or each.file_bytes or each.traced) for each in facts.families) > 1
    new_share = growth_of(facts, findings)
    data = [
        found
        for family in facts.families
        if (found := data_of(family, f"{family.name}: " if several else "", new_share, findings)) is not None
    ]
    if not data:
        raise UserError(
            "profile: the source shows no data: neither tables nor a dump with levels; name the database's "
            "directory, or a LOG that is older than one stats_dump_period_sec"
        )
    if facts.trace is None:
        load = _counted_load(facts, data, new_share, findings)
    else:
        load = traced_load(facts, facts.trace, data, new_share, findings)
    arrival, rate = arrival_of(facts, load.mix, findings)
    document = {
        "name": name,
        "key_chooser": load.key_chooser,
        "sessions": (SessionSpec(mix=None if load.mixes else load.mix, arrival=arrival),),
        **_data_document(data, load),
    }
    lengths = {"scan_length": load.scan_length, "delete_range_keys": load.delete_range_keys}
    document |= {field: length for field, length in lengths.items() if length is not None}
    findings.add("threads", "16", Basis.ASSUMED, "nothing shows how many threads call RocksDB")
    findings.add("preload", "all keys, in random order", Basis.ASSUMED, "the order of loading is unknown")
    largest = max(data, key=lambda family: family.keys * (family.key_bytes + family.value.mean))
    steady = {family.name: family.is_steady for family in facts.families}
    return Profile(
        workload=validated(WorkloadSpec, document, "profile"),
        rate_ops_s=rate,
        main_family=largest.name,
        is_steady=steady.get(largest.name, True),
        cache_bytes=facts.cache_bytes,
        findings=tuple(findings.made),
        left_out=(*facts.notes, *_left_out(facts)),
    )


def _counted_load(facts: StoreFacts, data: list[FamilyData], new_share: float, findings: Findings) -> Load:
    """Returns the operations that RocksDB's statistics count."""
    keys = sum(family.keys for family in data)
    entry_bytes = sum(family.keys * (family.key_bytes + family.value.mean) for family in data) / keys
    return Load(
        mix=mix_of(facts, new_share, findings),
        key_chooser=key_chooser_of(facts, keys, entry_bytes, findings),
        scan_length=scan_length_of(facts, findings),
        shares=_shares(data, findings),
    )


def _shares(data: list[FamilyData], findings: Findings) -> dict[str, float]:
    """Returns the share of each column family in the operations; none for a single family."""
    if len(data) == 1:
        return {}
    weights = [family.written_entries for family in data]
    why = "by the entries flushed; lookups of each family are unknown"
    basis = Basis.ESTIMATED
    if not all(weights):
        weights = [family.keys for family in data]
        why, basis = "by the numbers of keys, because the flushes of each family are unknown", Basis.ASSUMED
    shares = [weight / sum(weights) for weight in weights]
    shown = ", ".join(f"{each.name} {share:.0%}" for each, share in zip(data, shares, strict=True))
    findings.add("share of each column family", shown, basis, why)
    return {family.name: share for family, share in zip(data, shares, strict=True)}


def _data_document(data: list[FamilyData], load: Load) -> dict[str, object]:
    """Returns the fields of a workload for its data, and the families' operations."""
    if len(data) == 1:
        (family,) = data
        return {
            "keys": family.keys,
            "key_bytes": family.key_bytes,
            "value": family.value,
            "value_compressed_fraction": family.compressed_fraction,
            "preload": PreloadSpec(keys=family.keys, random_order=True),
        }
    families = tuple(
        FamilySpec(
            name=family.name,
            share=load.shares[family.name],
            mix=load.mixes.get(family.name),
            keys=family.keys,
            key_bytes=family.key_bytes,
            value=family.value,
            value_compressed_fraction=family.compressed_fraction,
            preload=PreloadSpec(keys=family.keys, random_order=True),
        )
        for family in data
    )
    keys = sum(family.keys for family in data)
    return {
        "keys": keys,
        "families": families,
        "preload": PreloadSpec(keys=keys, random_order=True),
    }


def _left_out(facts: StoreFacts) -> list[str]:
    """Returns sentences on what the store shows and a workload does not have."""
    sentences = []
    for family in facts.families:
        sentences += _left_out_of(family)
    sentences.append(
        "Reads that precede a write of the same key are counted as gets and puts; nothing shows them."
    )
    return sentences


def _left_out_of(family: FamilyFacts) -> list[str]:
    sentences = []
    if family.merge_operands:
        sentences.append(
            f"{family.name}: {family.merge_operands:,} merge operands; workloads have puts in their place."
        )
    if family.range_deletions and (family.traced is None or not family.traced.operations.get("delete_range")):
        sentences.append(
            f"{family.name}: {family.range_deletions:,} range deletions, whose widths nothing shows; write "
            "delete_range in the mix and delete_range_keys."
        )
    if family.uses_blob_files and not family.blob_values:
        sentences.append(
            f"{family.name}: enable_blob_files is on, and no blob file was found; values in blob files are "
            "missing from the value size."
        )
    for name, value in family.expiry:
        sentences.append(f"{family.name}: {name}={value} may let data expire; a workload's data does not.")
    return sentences
