"""Profiles with the operations of a trace."""

from dataclasses import replace
from typing import Any

import pytest

from rocktune.analysis.profile import Basis, FamilyFacts, OperationCounts, Profile, StoreFacts, profiled
from rocktune.analysis.profile.traced import with_trace
from rocktune.errors import UserError
from rocktune.workload import TraceFamily, TraceSummary

DATA = FamilyFacts("default", file_bytes=10_000_000, entries=100_000, key_bytes=20.0, value_bytes=80.0,
                   compressed_fraction=0.5, id=0)  # fmt: skip
USERS = replace(DATA, name="users", id=4)


def family(number: int = 0, **operations: int) -> TraceFamily:
    return TraceFamily(id=number, keys=5_000, used_keys=5_000, present_keys=4_000, mean_key_bytes=24,
                       mean_value_bytes=300, max_value_bytes=900,
                       operations=operations or {"get": 7_000, "put": 3_000})  # fmt: skip


def trace(*families: TraceFamily, **fields: Any) -> TraceSummary:
    given = families or (family(),)
    total = sum(each.total for each in given)
    filled: dict[str, Any] = {"span_us": 5_000_000, "scan_entries": 0, "hot_share": 0.05, "notes": {}}
    return TraceSummary(operations=total, families=given, **(filled | fields))


def made(facts: StoreFacts, of: TraceSummary) -> Profile:
    return profiled(with_trace(facts, of), "w")


def basis_of(profile: Profile, what: str) -> Basis:
    (one,) = (each for each in profile.findings if each.what == what)
    return one.basis


def test_a_trace_alone_makes_a_workload() -> None:
    found = made(StoreFacts(()), trace())
    workload = found.workload
    mix = workload.mix_of(workload.sessions[0])
    assert (mix.get, mix.put, mix.insert) == (0.7, 0.3, 0)
    assert (workload.key_bytes, workload.value.low) == (24, 300)
    assert workload.keys >= 5_000
    assert workload.preload.keys == workload.keys
    assert found.rate_ops_s == 2_000
    assert workload.sessions[0].arrival.operations_s == 2_000
    assert basis_of(found, "key size") is Basis.MEASURED
    assert basis_of(found, "keys") is Basis.ESTIMATED
    assert workload.families == ()


def test_the_database_has_the_data_and_the_trace_the_operations() -> None:
    counts = OperationCounts(gets=100, found_gets=75, memtable_hits=0, writes=900, seeks=0, steps=0)
    facts = StoreFacts((DATA,), seconds=9, counts=counts, growth_share=0.25)
    found = made(facts, trace())
    workload = found.workload
    assert (workload.keys, workload.key_bytes, workload.value.low) == (100_000, 20, 80)
    mix = workload.mix_of(workload.sessions[0])
    assert (mix.get, mix.get_absent, mix.put, mix.insert) == pytest.approx((0.525, 0.175, 0.15, 0.15))
    assert found.rate_ops_s == 2_000


def test_families_are_matched_by_number_and_have_mixes_of_their_own() -> None:
    found = made(StoreFacts((DATA, USERS)), trace(family(4, put=1_000), family(get=3_000)))
    workload = found.workload
    assert {each.name: each.share for each in workload.families} == {"default": 0.75, "users": 0.25}
    mixes = {each.name: each.mix for each in workload.families}
    assert mixes["users"] is not None
    assert mixes["users"].put == 1
    assert workload.sessions[0].mix is None
    assert basis_of(found, "share of each column family") is Basis.MEASURED


def test_what_only_one_side_has_is_named() -> None:
    found = made(StoreFacts((DATA, USERS)), trace(family(), family(9, get=5)))
    text = " ".join(found.left_out)
    assert "5 operations of the trace on column family number 9: no table of the database is of it." in text
    assert "users: the trace has no operation on this column family." in text
    assert found.workload.families == ()


def test_a_log_does_not_number_families() -> None:
    found = made(StoreFacts((replace(DATA, id=None),)), trace(family(3)))
    assert found.workload.keys == 100_000


def test_families_without_numbers_cannot_be_matched() -> None:
    unnumbered = StoreFacts((replace(DATA, id=None), replace(USERS, id=None)))
    with pytest.raises(UserError, match=r"families number 0, 4, and no table .* name the directory"):
        made(unnumbered, trace(family(), family(4)))


def test_families_of_a_trace_alone_are_named_by_number() -> None:
    names = [each.name for each in made(StoreFacts(()), trace(family(), family(2))).workload.families]
    assert names == ["default", "family-2"]


def test_lengths_of_scans_and_ranges() -> None:
    of = trace(family(scan=10, delete_range=5, put=85), scan_entries=300, range_keys=500)
    found = made(StoreFacts(()), of)
    assert found.workload.scan_length.low == 30
    assert found.workload.delete_range_keys is not None
    assert found.workload.delete_range_keys.low == 100
    assert basis_of(found, "scan length") is Basis.MEASURED
    unknown = of.model_copy(update={"notes": {"scans of unknown length assumed to read 100 entries": 10}})
    found = made(StoreFacts(()), unknown)
    assert basis_of(found, "scan length") is Basis.ASSUMED
    assert "The trace: 10 scans of unknown length assumed to read 100 entries." in found.left_out


def test_widths_of_range_deletes_are_known_with_a_trace() -> None:
    facts = StoreFacts((replace(DATA, range_deletions=7),))
    assert "whose widths nothing shows" in " ".join(made(facts, trace()).left_out)
    ranges = trace(family(delete_range=5, put=5), range_keys=50)
    assert "whose widths nothing shows" not in " ".join(made(facts, ranges).left_out)


def test_a_trace_without_values_and_without_time() -> None:
    of = trace(family().model_copy(update={"mean_value_bytes": 0}), span_us=0)
    found = made(StoreFacts(()), of)
    assert found.workload.value.low == 1024
    assert found.rate_ops_s is None
    assert basis_of(found, "value size") is Basis.ASSUMED


def test_a_trace_without_keys_shows_no_data() -> None:
    with pytest.raises(UserError, match="shows no data"):
        made(StoreFacts(()), trace(family(delete_range=5)))
