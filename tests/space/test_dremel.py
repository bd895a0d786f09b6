import numpy as np
import pytest

from rocktune.errors import UserError
from rocktune.space import Space, dremel_space, load_space
from rocktune.testing.spaces import SpaceConformance

MIB = 1 << 20


class TestDremelSpace(SpaceConformance):
    @pytest.fixture
    def space(self) -> Space:
        return load_space("dremel", None, 1e7)


class TestDremelSpaceWithLittleMemory(SpaceConformance):
    @pytest.fixture
    def space(self) -> Space:
        return load_space("dremel", 128 * MIB, 1e6)


class TestDremelSpaceWithMuchMemory(SpaceConformance):
    @pytest.fixture
    def space(self) -> Space:
        return load_space("dremel", 8192 * MIB, 1e9)


def test_default_is_table_1() -> None:
    space = load_space("dremel", None, 0)
    assert dict(space.default()) == {
        "level0_file_num_compaction_trigger": 4,
        "level0_slowdown_writes_trigger": 8,
        "level0_stop_writes_trigger": 16,
        "max_bytes_for_level_multiplier": 10,
        "max_bytes_for_level_base": 256 * MIB,
        "target_file_size_multiplier": 1,
        "target_file_size_base": 64 * MIB,
        "num_levels": 10,
        "max_write_buffer_number": 6,
        "write_buffer_size": 64 * MIB,
        "min_write_buffer_number_to_merge": 2,
        "block_size": 4096,
        "max_background_compactions": 1,
        "max_background_flushes": 1,
    }
    # 1000 - 6 * 64 = 616 MiB, table 1's cache_size, while there are no keys to filter.
    assert space.options(space.default())["table"]["block_cache"] == str(616 * MIB)


def test_filters_come_out_of_the_block_cache() -> None:
    space = load_space("dremel", None, 8e6)
    # 8e6 keys * 10 bits / 8 = 1e7 bytes.
    assert space.options(space.default())["table"]["block_cache"] == str(616 * MIB - 10_000_000)
    assert space.options(space.default())["table"]["filter_policy"] == "bloomfilter:10:false"


def _draws(count: int) -> tuple[Space, dict[str, np.ndarray]]:
    space = dremel_space(1000 * MIB, 1e7)
    rng = np.random.default_rng(7)
    return space, {knob.name: knob.sample(count, rng) for knob in space.knobs}


def test_an_eighth_of_uniform_draws_is_valid() -> None:
    space, columns = _draws(100_000)
    assert 0.11 < float(space.valid(columns).mean()) < 0.14


def test_a_sixteenth_is_valid_when_the_cache_is_drawn_too() -> None:
    # The paper draws cache_size from [384, 1024] MB: about half of the draws exceed the budget.
    space, columns = _draws(100_000)
    cache_bytes = np.random.default_rng(8).integers(384, 1024, size=100_000, endpoint=True) * MIB
    left = space.budget.block_cache_bytes({**columns, "bloom_bits": 10})
    assert 0.05 < float((space.valid(columns) & (cache_bytes <= left)).mean()) < 0.075


def test_samples_reach_all_of_the_ranges() -> None:
    space = load_space("dremel", None, 1e7)
    columns = space.columns(space.sample(4000, np.random.default_rng(0)))
    for knob in space.knobs:
        if knob.high - knob.low < 20 and not knob.choices:
            assert set(columns[knob.name].tolist()) >= set(range(int(knob.low) + 1, int(knob.high)))
        if knob.unit == "bytes" and knob.name != "block_size":
            assert set((columns[knob.name] % MIB).tolist()) == {0}
    assert set(columns["block_size"].tolist()) == {2048, 4096, 8192, 16384}


def test_default_shrinks_with_the_budget() -> None:
    # 512 MiB: 512 * 0.616 = 315.4 MiB for memtables; six buffers of 52 MiB are 312.
    default = load_space("dremel", 512 * MIB, 0).default()
    assert (default["write_buffer_size"], default["max_write_buffer_number"]) == (52 * MIB, 6)
    # 200 MiB: 123.2 MiB; the smallest buffer is 32 MiB, so three of them, still merging two.
    default = load_space("dremel", 200 * MIB, 0).default()
    assert (default["write_buffer_size"], default["max_write_buffer_number"]) == (32 * MIB, 3)
    assert default["min_write_buffer_number_to_merge"] == 2
    # 110 MiB: 67.8 MiB; two buffers, of which rule 7 lets only one be merged.
    default = load_space("dremel", 110 * MIB, 0).default()
    assert (default["max_write_buffer_number"], default["min_write_buffer_number_to_merge"]) == (2, 1)


def test_budget_too_small_names_the_smallest() -> None:
    # Two buffers of 32 MiB over 0.616: 103.9 MiB, so 104.
    with pytest.raises(UserError, match=r"budget of 103MiB is too small for 0 keys; use at least 104MiB"):
        load_space("dremel", 103 * MIB, 0)
    space = load_space("dremel", 104 * MIB, 0)
    assert space.sample(3, np.random.default_rng(1))
    # With 1e8 keys, 125e6 B = 119.2 MiB of filters: (64 + 119.2) / 0.616 = 297.4.
    with pytest.raises(UserError, match="at least 298MiB"):
        load_space("dremel", 297 * MIB, 1e8)
    assert load_space("dremel", 298 * MIB, 1e8).sample(1, np.random.default_rng(1))
