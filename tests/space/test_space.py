from pathlib import Path

import numpy as np
import pytest

from rocktune.errors import UserError
from rocktune.space import CATALOGUE, Configuration, Space, load_space
from rocktune.space.memory import MemoryBudget
from rocktune.space.rules import dremel_rules

MIB = 1 << 20


def dremel() -> Space:
    return load_space("dremel", None, 0)


def test_the_users_options_win_over_pinned_ones_and_lose_to_knobs() -> None:
    space = dremel().with_base_options(
        {"cf": {"compression": "kZSTD", "num_levels": "3"}, "table": {"block_cache": "1"}}
    )
    options = space.options(space.default())
    assert options["cf"]["compression"] == "kZSTD"
    assert options["cf"]["num_levels"] == "10"
    # Equal memory: the cache is the budget's remainder whatever the file says.
    assert options["table"]["block_cache"] == str(616 * MIB)
    assert dremel().options(dremel().default())["cf"]["compression"] == "kSnappyCompression"


def test_the_users_filter_counts_against_the_budget() -> None:
    space = load_space("dremel", None, 8 * MIB).with_base_options(
        {"table": {"filter_policy": "bloomfilter:20:false"}}
    )
    # 2^23 keys * 20 bits / 8 = 20 MiB of 616.
    assert space.options(space.default())["table"]["block_cache"] == str(596 * MIB)
    assert space.columns([space.default()])["bloom_bits"].tolist() == [20]


def test_jobs_have_no_effect_beside_numbers_of_threads() -> None:
    jobs, flushes = CATALOGUE["max_background_jobs"], CATALOGUE["max_background_flushes"]
    fixed = Space("fixed", "", (jobs,), MIB, {"db": {"max_background_flushes": "3"}})
    columns = fixed.columns([{"max_background_jobs": 8}])
    assert columns["max_background_flushes"].tolist() == [3]
    assert columns["max_background_compactions"].tolist() == [1]
    both = Space("both", "", (jobs, flushes), MIB)
    columns = both.columns([{"max_background_jobs": 8, "max_background_flushes": 3}])
    assert columns["max_background_flushes"].tolist() == [3]
    assert columns["max_background_compactions"].tolist() == [1]


def test_configuration_from_options_keeps_what_is_out_of_bounds() -> None:
    seen = dremel().configuration_from_options(
        {
            "db": {"max_background_jobs": "8"},
            "cf": {"num_levels": "40", "max_bytes_for_level_multiplier": "8.0"},
        }
    )
    assert seen["num_levels"] == 40
    assert seen["max_bytes_for_level_multiplier"] == 8
    assert seen["max_background_compactions"] == 6
    # Absent: RocksDB's default, not the tuning guide's.
    assert seen["max_write_buffer_number"] == 2
    assert set(seen) == set(dremel().default())


def test_options_that_do_not_fit_the_budget_are_refused() -> None:
    with pytest.raises(UserError, match=r"rule 4 .*16 write buffers of 64MiB take 1GiB"):
        dremel().options(dremel().default().replaced({"max_write_buffer_number": 16}))


def test_options_of_an_unknown_knob_are_refused() -> None:
    with pytest.raises(
        UserError, match="unknown option of space 'dremel': 'num_level': did you mean 'num_levels'"
    ):
        dremel().options({"num_level": 3})


def test_validate_says_which_rule_with_its_numbers() -> None:
    with pytest.raises(UserError, match=r"^rule 5 \(.*\) is broken: 16, 8, 16$"):
        dremel().validate(dremel().default().replaced({"level0_file_num_compaction_trigger": 16}))


def test_every_broken_rule_is_listed() -> None:
    broken = dremel().broken_rules(
        dremel()
        .default()
        .replaced({"level0_file_num_compaction_trigger": 16, "target_file_size_multiplier": 10})
    )
    # Level 0 of 16 * 2 * 64 MiB = 2 GiB is 8 times level 1, so rule 8 is broken as well.
    assert [line[:6] for line in broken] == ["rule 5", "rule 6", "rule 8"]


def _with_knobs(**bounds: tuple[int, int]) -> Space:
    knobs = tuple(CATALOGUE[name].narrowed(low=low, high=high) for name, (low, high) in bounds.items())
    rules = dremel_rules(MemoryBudget(1000 * MIB, 0))
    return Space("mine", "", knobs, memory_bytes=1000 * MIB, rules=rules)


def test_sampling_an_empty_space_names_the_rule() -> None:
    # RocksDB's default stop trigger is 36, so rule 2 refuses everything; the loop must end.
    with pytest.raises(
        UserError, match=r"space 'mine': no configuration keeps rule 2 \(level0_stop_writes_trigger"
    ):
        _with_knobs(num_levels=(2, 9)).sample(1, np.random.default_rng(0))


def test_sampling_a_space_without_memory_names_the_smallest_budget() -> None:
    space = _with_knobs(write_buffer_size=(512 * MIB, 600 * MIB), max_write_buffer_number=(3, 4))
    # Three buffers of 512 MiB over 0.616 are 2493.5 MiB. Other rules are broken less often than rule 4.
    space = Space("mine", "", space.knobs, 1000 * MIB, rules=(dremel_rules(space.budget)[3],))
    with pytest.raises(UserError, match="use at least 2494MiB"):
        space.sample(1, np.random.default_rng(0))


def test_columns_of_nothing_are_empty() -> None:
    assert dremel().columns([]) == {}


def test_configuration_is_immutable_data() -> None:
    first, second = Configuration({"b": 1, "a": True}), Configuration({"a": True, "b": 1})
    assert first == second
    assert hash(first) == hash(second)
    assert first.key == '{"a":true,"b":1}'
    assert first != Configuration({"a": 1, "b": 1})
    assert dict(first.replaced({"b": 2})) == {"a": True, "b": 2}
    assert first["b"] == 1
    assert first != {"a": True, "b": 1}


def test_the_grid_has_every_valid_configuration_once() -> None:
    space = load_space("jia-chen", None, 1e8)
    grid = space.grid()
    assert len(grid) == len(set(grid)) == 2160
    assert set(space.sample(100, np.random.default_rng(1))) <= set(grid)


NARROW = """
base = "jia-chen"
[fixed]
max_background_flushes = 1
max_background_compactions = 1
[knobs.level0_file_num_compaction_trigger]
choices = [4]
[knobs.max_write_buffer_number]
choices = [2]
[knobs.block_cache]
choices = [1073741824]
"""


@pytest.mark.parametrize(
    ("knob", "values"),
    [("[knobs.max_subcompactions]\nlow = 2\nhigh = 4\n", 3), ("[knobs.bloom_bits]\nlow = 9\nhigh = 12\n", 4)],
)
def test_a_grid_counts_whole_numbers(tmp_path: Path, knob: str, values: int) -> None:
    path = tmp_path / "s.toml"
    path.write_text(NARROW + knob)
    assert len(load_space(str(path), None, 1e8).grid()) == 4 * values


def test_a_real_knob_has_no_grid(tmp_path: Path) -> None:
    path = tmp_path / "s.toml"
    path.write_text(f"{NARROW}[knobs.memtable_prefix_bloom_size_ratio]\nlow = 0.0\nhigh = 0.2\n")
    space = load_space(str(path), None, 1e8)
    if all(knob.choices or isinstance(knob.low, int) for knob in space.knobs):
        pytest.fail("the space has no real knob")
    with pytest.raises(UserError, match="has no grid: memtable_prefix_bloom_size_ratio: takes any real"):
        space.grid()
