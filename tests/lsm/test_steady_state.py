"""The model of compactions: its picks by hand, and its amplification against long runs of RocksDB."""

import math
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import spearmanr

from rocktune.lsm import ROUGH, SETTLED, DistinctKeys, TreeData, TreeShape, steady_amplification
from rocktune.lsm.leveled_tree import LeveledTree
from rocktune.lsm.universal_tree import UniversalTree
from rocktune.space import load_space
from rocktune.workload import key_popularity, load_workload

MIB = 1 << 20
KEYS = 10**9
GUIDE = TreeShape(
    style="leveled",
    trigger=4,
    slowdown=8,
    stop=16,
    flush_bytes=128 * MIB,
    level_base_bytes=256 * MIB,
    level_ratio=10,
    file_bytes=64 * MIB,
    file_ratio=1,
    levels=10,
)
# So many keys that writes do not repeat, and entries of one byte: sizes are numbers of writes.
SPARSE = TreeData(DistinctKeys(np.array([float(KEYS)]), np.array([1 / KEYS])), 1.0, 1.0)


def universal(*runs: float, **changes: Any) -> UniversalTree:
    """Returns a tree with these runs above the last one, oldest first."""
    tree = UniversalTree(replace(GUIDE, style="universal", **changes), SPARSE)
    for writes in runs:
        tree.flush(writes)
    return tree


def read_by(tree: UniversalTree | LeveledTree) -> float | None:
    merge = tree.next_merge()
    return None if merge is None else merge.read_bytes


def test_universal_waits_for_the_trigger() -> None:
    assert read_by(universal(10, 10)) is None


def test_universal_merges_runs_of_similar_size() -> None:
    # Newest first 10, 10, 20, then the last: 10 <= 10.1, then 20 <= 20.2, so three are merged.
    assert read_by(universal(20, 10, 10)) == pytest.approx(40, rel=1e-3)


def test_universal_starts_behind_a_small_run() -> None:
    # 1 does not reach 100, but 100 and 100 are alike.
    assert read_by(universal(100, 100, 1)) == pytest.approx(200, rel=1e-3)


def test_universal_brings_the_number_down_to_the_trigger() -> None:
    # Five runs above the last, none alike: with a trigger of 4, the newest 6 - 4 + 1 = 3 are merged.
    assert read_by(universal(10_000, 1000, 100, 10, 1)) == pytest.approx(111, rel=1e-3)


def test_universal_merges_no_more_runs_than_the_maximum_width() -> None:
    # 10, 10 and 20 are alike; a width of 2 ends after the second.
    assert read_by(universal(20, 10, 10, max_merge_width=2)) == pytest.approx(20, rel=1e-3)
    # Six runs, none alike, need a merge of three; two are taken.
    unlike = (10_000, 1000, 100, 10, 1)
    assert read_by(universal(*unlike, max_merge_width=2)) == pytest.approx(11, rel=1e-3)


def test_universal_waits_for_the_minimum_width() -> None:
    # Bringing five runs down to four would take a merge of two.
    unlike = (1000, 100, 10, 1)
    assert read_by(universal(*unlike)) == pytest.approx(11, rel=1e-3)
    assert read_by(universal(*unlike, min_merge_width=3)) is None


@pytest.mark.parametrize(
    ("max_runs", "read"),
    [
        # Six runs; as many as the trigger stay.
        (-1, 111),
        (5, 11),
        (6, None),
        # A buffer of 1.4e8, then runs of 1.41e8, 2.84e8, 5.71e8 and 11.5e8: the fifth is as large as the
        # last run of 1e9, so that five may stay.
        (0, 11),
    ],
)
def test_universal_brings_the_number_down_to_the_maximum_of_runs(max_runs: int, read: float | None) -> None:
    tree = universal(10_000, 1000, 100, 10, 1, max_runs=max_runs, buffer_bytes=1.4e8)
    found = read_by(tree)
    assert found == (read if read is None else pytest.approx(read, rel=1e-3))


def test_universal_merges_runs_of_similar_size_alone_if_asked() -> None:
    # 30 is within 1% of 15 and 15 together, and not of the second 15.
    assert read_by(universal(30, 15, 15)) == pytest.approx(60, rel=1e-3)
    assert read_by(universal(30, 15, 15, similar_sizes=True)) == pytest.approx(30, rel=1e-3)
    # 1 is much smaller than 100, so that the merge begins behind 100.
    assert read_by(universal(1, 1, 100, similar_sizes=True)) == pytest.approx(2, rel=1e-3)


def test_universal_rewrites_everything_for_size_amplification() -> None:
    merge = universal(KEYS * 3.0, 1, 2, max_size_amplification=50).next_merge()
    assert merge is not None
    assert merge.written_bytes == pytest.approx(KEYS)


def test_universal_keeps_what_is_flushed_during_a_merge() -> None:
    tree = universal(20, 10, 10)
    merge = tree.next_merge()
    assert merge is not None
    tree.flush(7)
    merge.finish()
    assert tree.stalling_runs == 3


def leveled(*flushes: float, **changes: Any) -> LeveledTree:
    shape = replace(GUIDE, **({"level_base_bytes": 1000.0, "file_bytes": 100.0, "levels": 8} | changes))
    tree = LeveledTree(shape, SPARSE)
    for writes in flushes:
        tree.flush(writes)
    return tree


def test_leveled_waits_for_level_0() -> None:
    assert read_by(leveled(100, 100, 100)) is None
    assert read_by(leveled(100, 100, 100, 100)) == pytest.approx(400, rel=1e-3)


def test_leveled_compacts_a_large_level_0_early() -> None:
    assert read_by(leveled(600, 600)) == pytest.approx(1200, rel=1e-3)


def test_a_level_above_its_size_gives_away_one_file() -> None:
    tree = leveled(1500, 1500)
    merges = []
    for _ in range(2):
        merge = tree.next_merge()
        assert merge is not None
        merge.finish()
        merges.append(merge)
    # 3,000 of 1,000 bytes in level 1. A file covers 100 / (3000 / 256) = 9 of 256 slices, and level 2 was
    # empty: the first file moved without a rewrite.
    assert merges[1].read_bytes == 0
    assert tree.next_merge() is not None


def test_dynamic_levels_start_at_the_last() -> None:
    tree = leveled(100, 100, 100, 100, dynamic_levels=True, levels=4, level_base_bytes=1e9)
    merge = tree.next_merge()
    assert merge is not None
    # With all keys in the last level and a base as large, level 0 is merged into it.
    assert merge.read_bytes == pytest.approx(KEYS + 400)


# Bytes flushed, read and written per byte of user writes, from 1,600 to 4,800 s (full size) of runs at 1/64
# and 100 MB/s with RocksDB 7.8.3. `python -m benchmarks.rocktune.what_lasts --scale 1/64` measures the like.
MEASURED = {
    ("dremel-write-heavy", "guide"): (0.585, 3.327, 2.886),
    ("dremel-write-heavy", "winner"): (0.583, 1.925, 1.412),
    ("dremel-write-heavy", "universal-4"): (0.587, 3.089, 2.508),
    ("dremel-write-heavy", "universal-8"): (0.586, 2.094, 1.545),
    ("dremel-write-heavy", "universal-12"): (0.586, 1.622, 1.127),
    ("dremel-write-heavy", "dynamic-levels"): (0.586, 3.111, 2.661),
    ("dremel-preloaded", "guide"): (0.428, 2.196, 1.954),
    ("dremel-preloaded", "winner"): (0.395, 1.334, 1.007),
    ("dremel-preloaded", "universal-4"): (0.427, 2.49, 2.179),
    ("dremel-preloaded", "universal-8"): (0.428, 1.256, 1.009),
    ("dremel-preloaded", "universal-12"): (0.427, 1.13, 0.822),
    ("ycsb-a", "guide"): (0.348, 1.727, 1.625),
    ("ycsb-a", "winner"): (0.318, 1.111, 0.873),
}
SHAPES = {
    "guide": GUIDE,
    "winner": replace(
        GUIDE, trigger=12, slowdown=20, stop=22, level_base_bytes=1937768448.0, flush_bytes=256.0 * MIB
    ),
    "universal-4": replace(GUIDE, style="universal"),
    "universal-8": replace(GUIDE, style="universal", trigger=8),
    "universal-12": replace(GUIDE, style="universal", trigger=12, slowdown=12),
    "dynamic-levels": replace(GUIDE, dynamic_levels=True),
}


@pytest.mark.parametrize(("workload", "configuration"), MEASURED)
def test_the_model_is_near_long_runs(workload: str, configuration: str) -> None:
    scale = 64
    spec = load_workload(workload).scaled(scale)
    popularity = key_popularity(spec.key_chooser, spec.keys)
    data = TreeData(DistinctKeys(popularity.counts, popularity.probabilities), spec.entry_bytes, 613.0)
    shape = SHAPES[configuration]
    model = replace(
        shape,
        flush_bytes=shape.flush_bytes / scale * 0.963,
        level_base_bytes=shape.level_base_bytes / scale,
        file_bytes=shape.file_bytes / scale,
    )
    found = steady_amplification(model, data)
    flush, read, written = MEASURED[workload, configuration]
    assert found.total == pytest.approx(flush + read + written, rel=0.15)
    assert found.flush == pytest.approx(flush, rel=0.05)


def test_later_compactions_cost_less() -> None:
    spec = load_workload("dremel-write-heavy").scaled(64)
    popularity = key_popularity(spec.key_chooser, spec.keys)
    data = TreeData(DistinctKeys(popularity.counts, popularity.probabilities), 1040.0, 613.0)
    small = replace(GUIDE, flush_bytes=2.0 * MIB, level_base_bytes=4.0 * MIB, file_bytes=1.0 * MIB)
    totals = [
        steady_amplification(replace(small, style="universal", trigger=trigger), data).total
        for trigger in (4, 8, 16)
    ]
    assert totals == sorted(totals, reverse=True)


def test_a_tree_that_stops_for_good_has_an_amplification() -> None:
    # Runs of equal size are merged by six; writes stop at five.
    data = TreeData(DistinctKeys(np.array([1e6]), np.array([1e-6])), 1000.0, 500.0)
    stuck = replace(GUIDE, style="universal", stop=5, min_merge_width=6, flush_bytes=1e4)
    assert steady_amplification(stuck, data).compaction_read == 0
    assert steady_amplification(replace(stuck, stop=12), data).compaction_read > 0


@settings(max_examples=60)
@given(
    style=st.sampled_from(["leveled", "universal"]),
    trigger=st.integers(1, 60),
    slowdown=st.integers(1, 80),
    stop=st.integers(1, 100),
    flush_bytes=st.floats(1e4, 1e9),
    level_base_bytes=st.floats(1e4, 1e9),
    level_ratio=st.floats(1.1, 20),
    file_bytes=st.floats(1e4, 1e9),
    file_ratio=st.floats(1, 8),
    levels=st.integers(2, 10),
    dynamic_levels=st.booleans(),
    min_merge_width=st.integers(1, 20),
    max_merge_width=st.integers(2, 40),
    max_runs=st.integers(-1, 40),
    buffer_bytes=st.floats(1e4, 1e9),
    similar_sizes=st.booleans(),
)
def test_any_shape_has_a_finite_amplification(**shape: Any) -> None:
    data = TreeData(DistinctKeys(np.array([1e5]), np.array([1e-5])), 1000.0, 500.0)
    found = steady_amplification(TreeShape(**shape), data)
    assert math.isfinite(found.total)
    assert 0 < found.flush <= 1
    assert found.compaction_read >= 0


def test_a_rough_horizon_orders_shapes_as_the_long_one() -> None:
    """On random configurations of space `full`."""
    space = load_space("full", None, 1e6)
    columns = space.columns(space.sample(60, np.random.default_rng(1)))
    data = TreeData(DistinctKeys(np.array([1e6]), np.array([1e-6])), 1040.0, 580.0)
    totals = []
    for row in range(60):
        shape = TreeShape.of_values({name: column[row].item() for name, column in columns.items()})
        totals.append([steady_amplification(shape, data, each).total for each in (ROUGH, SETTLED)])
    assert spearmanr(totals)[0] > 0.95
