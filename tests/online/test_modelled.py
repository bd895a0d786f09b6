"""Tests for the store that is only modelled."""

import pytest

from rocktune.online.modelled import ModelledStore, StoreCosts

SILENT = StoreCosts(lookup_s=1, probe_s=0, read_s=0, write_s=2, compaction_s_per_byte=0, noise=0)


def test_operations_cost_what_they_are_said_to_cost() -> None:
    store = ModelledStore(SILENT, entries=100_000)
    mission = store.serve(1000, 0.3)
    assert (mission.lookups, mission.writes) == (300, 700)
    assert mission.busy_s == pytest.approx(300 + 1400)


def test_lookups_read_the_run_that_has_the_key_and_others_by_mistake() -> None:
    store = ModelledStore(StoreCosts(0, 0, 1.0, 0, 0, 0), entries=200_000, policies=[10], bits_per_key=8)
    mission = store.serve(1000, 1.0)
    passed = sum(level.passed for level in mission.levels)
    assert passed == pytest.approx(mission.busy_s)
    # Each key is somewhere; a filter of 8 bits errs in 2.1% of the runs that are asked in vain.
    assert 1000 < passed < 1000 * (1 + 0.0216 * sum(level.runs for level in mission.levels))


def test_absent_keys_are_read_by_mistake_alone() -> None:
    store = ModelledStore(StoreCosts(0, 0, 1.0, 0, 0, 0), entries=200_000, policies=[10], absent=True)
    mission = store.serve(1000, 1.0)
    runs = sum(level.runs for level in mission.levels)
    assert sum(level.passed for level in mission.levels) == pytest.approx(1000 * runs * 0.0214, rel=0.01)


def test_lazier_policies_write_less_and_have_more_runs() -> None:
    busy_s, runs = {}, {}
    for policy in (1, 10):
        store = ModelledStore(StoreCosts(0, 0, 0, 0, 1.0, 0), entries=200_000, policies=[policy])
        missions = [store.serve(10_000, 0.0) for _ in range(50)]
        busy_s[policy] = sum(mission.busy_s for mission in missions)
        runs[policy] = sum(level.runs for mission in missions for level in mission.levels)
    assert busy_s[10] < 0.5 * busy_s[1]
    assert runs[10] > 2 * runs[1]


def test_noise_repeats_with_its_seed() -> None:
    def busy_s(seed: int) -> list[float]:
        store = ModelledStore(StoreCosts(noise=0.1), entries=100_000, seed=seed)
        return [store.serve(1000, 0.5).busy_s for _ in range(5)]

    assert busy_s(1) == busy_s(1)
    assert busy_s(1) != busy_s(2)


def test_a_copy_goes_its_own_way() -> None:
    store = ModelledStore(StoreCosts(noise=0.1), entries=100_000, policies=[3])
    other = store.copy()
    assert other.serve(20_000, 0.1).busy_s == store.serve(20_000, 0.1).busy_s
    before = store.shape()
    other.set_policy(1, 7)
    other.serve(20_000, 0.0)
    assert store.shape() == before
    assert other.shape() != before


def test_level_1_may_hold_more_than_its_buffers() -> None:
    store = ModelledStore(SILENT, entries=100_000, level1_bytes=80 << 20)
    assert [level.capacity_bytes >> 20 for level in store.shape().levels[:2]] == [80, 800]


@pytest.mark.parametrize("absent", [False, True])
def test_fixed_missions_are_those_of_a_store_whose_policies_stay(absent: bool) -> None:
    one_by_one, at_once = (
        ModelledStore(StoreCosts(noise=0.1), entries=200_000, absent=absent, policies=[4]) for _ in range(2)
    )
    missions = [one_by_one.serve(10_000, 0.4) for _ in range(5)]
    fixed = at_once.serve_fixed(10_000, 0.4, 5)
    assert fixed.busy_s == pytest.approx([mission.busy_s for mission in missions])
    for level_s, mission in zip(fixed.level_s, missions, strict=True):
        levels = [level.false_positive_read_s + level.compaction_s for level in mission.levels]
        # The arrays have a place for each level that may come.
        assert level_s == pytest.approx([*levels, *[0.0] * (len(level_s) - len(levels))])
    assert at_once.serve(10_000, 0.9).busy_s == pytest.approx(one_by_one.serve(10_000, 0.9).busy_s)
