"""Workloads made of facts."""

from dataclasses import replace

import numpy as np
import pytest

from rocktune.analysis.profile import (
    Basis,
    FamilyFacts,
    Finding,
    OperationCounts,
    Profile,
    RatePoint,
    StoreFacts,
    profiled,
)
from rocktune.errors import UserError

FAMILY = FamilyFacts(
    "default",
    file_bytes=60_000_000,
    entries=1_000_000,
    deletions=100_000,
    key_bytes=24.2,
    value_bytes=99.7,
    compressed_fraction=0.4567,
    written_entries=2_000,
    written_deletions=200,
    memtable_entries=10_000,
)
COUNTS = OperationCounts(
    gets=6_000, found_gets=4_500, memtable_hits=0, writes=3_000, seeks=1_000, steps=9_000
)
FACTS = StoreFacts((FAMILY,), seconds=100, counts=COUNTS)


def finding(profile: Profile, what: str) -> Finding:
    (one,) = (each for each in profile.findings if each.what == what)
    return one


def test_counts_become_a_mix() -> None:
    found = profiled(FACTS, "mine")
    (session,) = found.workload.sessions
    assert session.mix is not None
    mix = session.mix.model_dump()
    assert mix == pytest.approx(
        {"get": 0.45, "get_absent": 0.15, "put": 0.27, "insert": 0, "delete": 0.03, "scan": 0.1,
         "read_modify_write": 0}
    )  # fmt: skip
    assert found.workload.scan_length.low == 10
    assert (session.arrival.kind, session.arrival.operations_s) == ("fixed_rate", 100)
    assert found.rate_ops_s == 100


def test_tables_become_data() -> None:
    workload = profiled(FACTS, "mine").workload
    assert (workload.keys, workload.preload.keys, workload.preload.random_order) == (800_000, 800_000, True)
    assert (workload.key_bytes, workload.value.low, workload.value_compressed_fraction) == (24, 100, 0.457)
    assert workload.name == "mine"


def test_entries_outside_the_largest_level_are_older_versions_unless_the_store_grows() -> None:
    levelled = replace(FACTS, families=(replace(FAMILY, largest_run_share=0.9),))
    assert profiled(levelled, "w").workload.keys == 720_000
    growing = replace(levelled, growth_share=0.4567 / 2)
    found = profiled(growing, "w")
    assert found.workload.keys == 760_000
    mix = found.workload.mix_of(found.workload.sessions[0])
    assert mix.insert == pytest.approx(mix.put)


def test_little_growth_is_no_insert() -> None:
    found = profiled(replace(FACTS, growth_share=0.01), "w")
    assert found.workload.mix_of(found.workload.sessions[0]).insert == 0


def test_without_statistics_reads_are_assumed_and_the_rate_follows_the_writes() -> None:
    found = profiled(replace(FACTS, counts=None, written_keys=4_000), "w")
    mix = found.workload.mix_of(found.workload.sessions[0])
    assert (mix.get, mix.put, mix.delete) == (0.5, 0.45, 0.05)
    assert finding(found, "share of reads").basis is Basis.ASSUMED
    assert "statistics" in finding(found, "share of reads").why
    assert found.rate_ops_s == pytest.approx(80)
    assert finding(found, "rate").basis is Basis.ESTIMATED


def test_tables_alone_are_enough() -> None:
    found = profiled(StoreFacts((replace(FAMILY, written_entries=None, memtable_entries=None),)), "w")
    assert found.workload.sessions[0].arrival.kind == "closed"
    assert found.rate_ops_s is None
    assert finding(found, "deletes among writes").basis is Basis.ESTIMATED
    assert finding(found, "skew").basis is Basis.ASSUMED


def test_a_period_becomes_a_sine_of_the_whole_rate() -> None:
    times = np.arange(0, 3 * 86_400, 600)
    rates = tuple(RatePoint(t, 600, 30 + 15 * np.sin(2 * np.pi * t / 86_400)) for t in map(float, times))
    found = profiled(replace(FACTS, rates=rates), "w")
    arrival = found.workload.sessions[0].arrival
    assert (arrival.kind, arrival.operations_s) == ("sine", 100)
    assert arrival.amplitude_operations_s == pytest.approx(50, rel=0.05)
    assert finding(found, "period").basis is Basis.FITTED


def test_the_skew_shows_its_error() -> None:
    counts = replace(COUNTS, memtable_hits=900)
    found = profiled(replace(FACTS, counts=counts, cache_bytes=1 << 20, cache_hit_share=0.9), "w")
    skew = finding(found, "skew")
    assert skew.basis is Basis.FITTED
    assert "poor fit" in skew.why
    assert found.workload.key_chooser.kind == "scrambled_zipfian"


def test_hits_of_compactions_are_no_skew() -> None:
    counts = OperationCounts(gets=0, found_gets=0, memtable_hits=0, writes=3_000, seeks=0, steps=0)
    facts = replace(FACTS, counts=counts, cache_bytes=1 << 20, cache_hit_share=0.0)
    found = finding(profiled(facts, "mine"), "skew")
    assert (found.basis, found.value) == (Basis.ASSUMED, "0 (uniform keys)")
    assert found.why.startswith("no reads")


def test_families_share_operations_by_what_they_flush() -> None:
    events = replace(FAMILY, name="events", entries=3_000_000, written_entries=6_000)
    found = profiled(replace(FACTS, families=(FAMILY, events, FamilyFacts("empty"))), "w")
    assert [(each.name, each.share) for each in found.workload.families] == [
        ("default", 0.25),
        ("events", 0.75),
    ]
    assert found.main_family == "events"
    assert found.workload.keys == 800_000 + 2_800_000
    assert finding(found, "events: keys").value == "2,800,000"


def test_families_without_flushes_share_by_their_keys() -> None:
    events = replace(FAMILY, name="events", entries=3_200_000, deletions=0, written_entries=None)
    found = profiled(replace(FACTS, families=(FAMILY, events)), "w")
    assert [each.share for each in found.workload.families] == [0.2, 0.8]
    assert finding(found, "share of each column family").basis is Basis.ASSUMED


def test_what_a_workload_lacks_is_named() -> None:
    odd = replace(
        FAMILY,
        merge_operands=5,
        range_deletions=7,
        expiry=(("ttl", "60"),),
        compaction_style="kCompactionStyleFIFO",
    )
    found = profiled(replace(FACTS, families=(odd,), notes=("A note.",)), "w")
    text = " ".join(found.left_out)
    for part in ("A note.", "5 merge operands", "7 range deletions", "delete_range_keys", "ttl=60"):
        assert part in text
    assert not found.is_steady


@pytest.mark.parametrize(("size", "used"), [(2.0, 8), (5000.0, 1024)])
def test_key_sizes_stay_within_a_workloads_bounds_and_say_so(size: float, used: int) -> None:
    found = profiled(replace(FACTS, families=(replace(FAMILY, key_bytes=size),)), "w")
    assert found.workload.key_bytes == used
    assert "bounds" in finding(found, "key size").why


def test_sizes_of_levels_stand_for_unknown_entries() -> None:
    found = profiled(StoreFacts((FamilyFacts("default", file_bytes=1_040_000),)), "w")
    assert found.workload.keys == 2_000
    assert finding(found, "key size").basis is Basis.ASSUMED


def test_a_source_without_data_is_refused() -> None:
    with pytest.raises(UserError, match="shows no data"):
        profiled(StoreFacts((FamilyFacts("default"),)), "w")
