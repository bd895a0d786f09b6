import json
import textwrap
from pathlib import Path

import numpy as np
import pytest

from rocktune.errors import UserError
from rocktune.space import (
    Configuration,
    Space,
    load_space,
    scaled_options,
    space_document,
    space_file,
    space_from_document,
    space_names,
)
from rocktune.testing.spaces import SpaceConformance

MIB = 1 << 20

FILE = """
base = "dremel"
summary = "small buffers"
memory = "256MiB"
level0_size_tolerance = 4

[knobs.write_buffer_size]
low = "4MiB"
high = "32MiB"

[knobs.max_bytes_for_level_base]
low = "16MiB"
high = "512MiB"
default = "128MiB"

[knobs.block_size]
choices = [4096, "16KiB"]

[knobs.max_subcompactions]
choices = [1, 2, 4]

[knobs.bloom_bits]
low = 5
high = 15
default = 10

[knobs.memtable_prefix_bloom_size_ratio]
low = 0
high = 0.1

[knobs.compression]
choices = ["kNoCompression", "kLZ4Compression"]

[knobs.optimize_filters_for_hits]
section = "cf"
choices = [false, true]

[knobs.max_successive_merges]
section = "cf"
low = 1
high = 1000
log = true
acts_on = "live"

[fixed]
num_levels = 7
max_background_compactions = 2
cf.periodic_compaction_seconds = 0
cf.force_consistency_checks = false
"""


def written(folder: Path, text: str) -> str:
    path = folder / "mine.toml"
    path.write_text(text)
    return str(path)


class TestSpaceFile(SpaceConformance):
    @pytest.fixture
    def space(self, tmp_path: Path) -> Space:
        return load_space(written(tmp_path, FILE), None, 1e6)


def test_file_changes_the_base(tmp_path: Path) -> None:
    space = load_space(written(tmp_path, FILE), None, 1e6)
    assert (space.name, space.summary, space.memory_bytes) == ("mine", "small buffers", 256 * MIB)
    knobs = {knob.name: knob for knob in space.knobs}
    assert (knobs["write_buffer_size"].low, knobs["write_buffer_size"].high) == (4 * MIB, 32 * MIB)
    # 256 * 0.616 = 157.7 MiB for memtables, less 1.2 of filters; six of 26 MiB are 156.
    assert knobs["write_buffer_size"].default == 26 * MIB
    assert knobs["block_size"].choices == (4096, 16384)
    assert knobs["max_subcompactions"].acts_on == "live"
    assert knobs["max_bytes_for_level_base"].default == 128 * MIB
    assert "num_levels" not in knobs
    assert "max_background_compactions" not in knobs
    own = knobs["optimize_filters_for_hits"]
    assert (own.default, own.acts_on, own.live_change, own.scaled) == (False, "all_files", "reopen", False)
    assert (knobs["max_successive_merges"].acts_on, knobs["max_successive_merges"].log) == ("live", True)
    options = space.options(space.default())
    assert options["cf"]["num_levels"] == "7"
    assert options["cf"]["periodic_compaction_seconds"] == "0"
    assert options["cf"]["force_consistency_checks"] == "false"
    assert options["db"]["max_background_compactions"] == "2"
    assert options["table"]["filter_policy"] == "bloomfilter:10:false"


def test_fixed_values_count_in_rules_and_formulas(tmp_path: Path) -> None:
    space = load_space(written(tmp_path, "[fixed]\nmax_write_buffer_number = 8\n"), None, 0)
    assert set(space.columns(space.sample(5, np.random.default_rng(0)))["max_write_buffer_number"]) == {8}
    # 8 * 77 = 616 MiB: exactly rule 4's limit. Level 0 of 4 * 2 * 77 MiB is like a level 1 of 512.
    default = space.default().replaced({"max_bytes_for_level_base": 512 * MIB})
    space.validate(default.replaced({"write_buffer_size": 77 * MIB}))
    with pytest.raises(UserError, match="8 write buffers of 78MiB"):
        space.validate(default.replaced({"write_buffer_size": 78 * MIB}))


def test_the_documented_example_works(tmp_path: Path) -> None:
    example = textwrap.dedent((space_file.__doc__ or "").split("\n", 1)[1])
    space = load_space(written(tmp_path, example), None, 0)
    assert {"max_subcompactions", "bottommost_compression"} <= set(space.default())
    assert space.options(space.default())["cf"]["periodic_compaction_seconds"] == "0"


def test_memory_given_wins_over_the_files(tmp_path: Path) -> None:
    assert load_space(written(tmp_path, 'memory = "2GiB"'), None, 0).memory_bytes == 2048 * MIB
    assert load_space(written(tmp_path, 'memory = "2GiB"'), 3 << 30, 0).memory_bytes == 3 << 30


def test_small_buffers_make_a_small_budget_possible(tmp_path: Path) -> None:
    # 64 MiB are too few for Dremel's smallest buffers, not for these.
    space = load_space(
        written(
            tmp_path,
            '[knobs.write_buffer_size]\nlow = "4MiB"\nhigh = "16MiB"\n'
            '[knobs.max_bytes_for_level_base]\nlow = "16MiB"\nhigh = "128MiB"\n',
        ),
        64 * MIB,
        0,
    )
    # 64 * 0.616 = 39.4 MiB for six buffers of 6; level 0 of 4 * 2 * 6 is less than half of 128.
    assert space.default()["write_buffer_size"] == 6 * MIB
    assert space.default()["max_bytes_for_level_base"] == 48 * MIB
    space.validate(space.default())


def test_document_is_plain_data_that_makes_the_same_space(tmp_path: Path) -> None:
    path = written(tmp_path, FILE)
    document = json.loads(json.dumps(space_document(path)))
    Path(path).unlink()
    assert space_from_document(document, None, 1e6).options({}) is not None
    assert space_from_document(space_document("dremel"), None, 5) == load_space("dremel", None, 5)


def test_a_file_that_makes_it_an_flsm_store_counts_its_filters(tmp_path: Path) -> None:
    path = written(tmp_path, 'base = "dremel"\n[knobs.flsm_bits_per_key]\nlow = 8\nhigh = 80\n')
    space = load_space(path, None, 1e8)
    # 1e8 keys * 80 bits / 8 are more than all there is.
    assert space.broken_rules(space.default()) == []
    assert "rule 4" in space.broken_rules(space.default().replaced({"flsm_bits_per_key": 80.0}))[0]


def test_names() -> None:
    flsm = ["flsm", "flsm-moderate", "flsm-lazy", "flsm-lazy-leveling"]
    assert list(space_names()) == ["dremel", "jia-chen", "full", "alabed", *flsm]
    assert "14 knobs" in space_names()["dremel"]


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("base = 'dremmel'", "unknown base space 'dremmel': did you mean 'dremel'?"),
        ("based = 'dremel'", "unknown field 'based': did you mean 'base'?"),
        ("x = \n", "line 1"),
        (
            "[knobs.write_bufer_size]\nlow = 1",
            "unknown option 'write_bufer_size': did you mean 'write_buffer_size'?",
        ),
        ("[knobs.my_option]\nunit = 'bytes'\nlow = 1", "add section"),
        ("[knobs.my_option]\nsection = 'cf'\nlow = 1", "give low and high, or choices"),
        ("[knobs.my_option]\nsection = 'sst'\nlow = 1", "knobs.my_option.section"),
        ("[knobs.my_option]\nsection = 'cf'\nlow = 3\nhigh = 1", "low 3 is above high 1"),
        ("[knobs.my_option]\nsection = 'cf'\nchoices = [1, 'a']", "choices have different types"),
        ("[knobs.num_levels]\nsection = 'cf'\nlow = 1", "section is known and cannot be changed"),
        ("[knobs.num_levels]\nlo = 1", "unknown field 'lo'"),
        ("[knobs.num_levels]\nlow = 1", "num_levels: 1 is outside 2 to 32"),
        ("[knobs.num_levels]\nlow = 8\nhigh = 4", "num_levels: low 8 is above high 4"),
        ("[knobs.num_levels]\nlow = 2\nhigh = 4\ndefault = 5", "num_levels: 5 is outside 2 to 4"),
        ("[knobs.my_option]\nsection = 'cf'\nlow = 0.0\nhigh = 1.0\nlog = true", "low 0.0 has no logarithm"),
        (
            "[knobs.my_option]\nsection = 'cf'\nlow = 0.0\nhigh = 4\ndefault = 'x'",
            "my_option: 'x' is not a number",
        ),
        ("[knobs.my_option]\nsection = 'cf'\nlow = -8\nhigh = 4\nlog = true", "low -8 has no logarithm"),
        (
            "[knobs.memtable_prefix_bloom_size_ratio]\nlow = 0\nhigh = 0.1\nlog = true",
            "memtable_prefix_bloom_size_ratio: low 0.0 has no logarithm; leave log out",
        ),
        ("[knobs.num_levels]\nlow = 2.5", "num_levels: 2.5 is not a whole number"),
        ("[knobs.num_levels]\nlow = '0x2'", "num_levels: '0x2' is not a whole number"),
        ("[knobs.write_buffer_size]\nlow = '-1'", "write_buffer_size: '-1' is not a size"),
        ("[knobs.block_size]\nlow = 4096", "give both low and high"),
        ("[knobs.block_size]\nlow = 4096\nhigh = 8192\nchoices = [4096]", "either choices or bounds"),
        ("[knobs.compression]\nchoices = ['kZstd']", "'kZstd' is not one of kNoCompression"),
        ("[knobs.block_cache]\nlow = 1", "block_cache: cannot be set, because it gets the rest"),
        ("[fixed]\nblock_cache = 1", "block_cache: cannot be set"),
        ("[fixed]\nnum_level = 4", "unknown option 'num_level': did you mean 'num_levels'?"),
        ("[fixed]\ncv.a = 4", "unknown section of options 'cv': did you mean 'cf'?"),
        ("[fixed]\nnum_levels = 100", "num_levels: 100 is outside 2 to 32"),
        ("level0_size_tolerance = 1", "level0_size_tolerance: 1"),
        ("memory = '1 potato'", "memory: '1 potato' is not a size"),
        ("memory = '9999999999GiB'", "memory: 9999999999GiB is too large; give less than"),
        ("memory = '100MiB'", "a memory budget of 100MiB is too small"),
        ("[fixed]\nmax_bytes_for_level_base = '64GiB'", "its default values break a rule; rule 8"),
    ],
)
def test_wrong_files_are_refused_in_one_line(tmp_path: Path, text: str, told: str) -> None:
    path = written(tmp_path, text)
    with pytest.raises(UserError) as refusal:
        load_space(path, None, 0)
    assert str(refusal.value).startswith(path)
    assert told in str(refusal.value)
    assert "\n" not in str(refusal.value)


def test_everything_fixed_leaves_nothing_to_tune(tmp_path: Path) -> None:
    default = load_space("dremel", None, 0).default()
    lines = "\n".join(f"{name} = {value}" for name, value in default.items())
    with pytest.raises(UserError, match="every knob is fixed"):
        load_space(written(tmp_path, f"[fixed]\n{lines}"), None, 0)


def test_unknown_and_missing_spaces() -> None:
    with pytest.raises(UserError, match="unknown space 'dremmel': did you mean 'dremel'"):
        load_space("dremmel", None, 0)
    with pytest.raises(UserError, match=r"no/such\.toml: cannot be read"):
        load_space("no/such.toml", None, 0)


def test_a_knob_of_the_base_that_is_no_catalogued_option_can_be_narrowed(tmp_path: Path) -> None:
    path = tmp_path / "s.toml"
    path.write_text('base = "jia-chen"\n[knobs.threads]\nchoices = [2, 4]\n[fixed]\nblock_cache = "1GiB"\n')
    space = load_space(str(path), None, 1e8)
    assert {knob.name: knob.choices for knob in space.knobs}["threads"] == (2, 4)
    assert space.fixed_options["table"]["block_cache"] == str(1 << 30)
    assert "block_cache" not in space.default()
    path.write_text('base = "jia-chen"\n[knobs.threads]\nchoices = [3]\n')
    with pytest.raises(UserError, match="threads: 3 is not one of 1, 2, 4, 8"):
        load_space(str(path), None, 1e8)
    path.write_text('base = "jia-chen"\n[fixed]\nthreads = 2\n')
    with pytest.raises(
        UserError, match=r"threads: belongs to the workload; write \[knobs.threads\] choices = \[2\]"
    ):
        load_space(str(path), None, 1e8)


def test_an_flsm_stores_layout_is_knobs(tmp_path: Path) -> None:
    path = tmp_path / "shaped.toml"
    path.write_text(
        'base = "alabed"\n[knobs.flsm_policy_1]\nlow = 1\nhigh = 10\n'
        "[fixed]\nflsm_level1_bytes = '640MiB'\nflsm_filters = 'monkey'\n"
    )
    space = load_space(str(path), None, 1000)
    drawn = space.options(space.default().replaced({"flsm_policy_1": 4}))
    assert drawn["flsm"] == {"policy_1": "4", "level1_bytes": str(640 << 20), "filters": "monkey"}
    assert scaled_options(drawn, 16)["flsm"]["level1_bytes"] == str(40 << 20)


def test_a_governors_settings_are_knobs(tmp_path: Path) -> None:
    path = tmp_path / "governed.toml"
    path.write_text(
        'base = "alabed"\n[knobs.governor_debt_runs]\nlow = 50\nhigh = 500\n'
        "[knobs.governor_debt_bytes]\nlow = '1GiB'\nhigh = '64GiB'\n[fixed]\ngovernor_mode = 'toggle'\n"
    )
    space = load_space(str(path), None, 1000)
    drawn = space.options(
        space.default().replaced({"governor_debt_runs": 70, "governor_debt_bytes": 8 << 30})
    )
    assert drawn["governor"] == {"mode": "toggle", "debt_runs": "70", "debt_bytes": str(8 << 30)}
    model = scaled_options(drawn, 16)
    assert model["governor"]["debt_bytes"] == str(8 << 26)
    assert model["governor"]["debt_runs"] == "70"
    assert model["governor"]["interval_us"] == "625000"
    assert "governor" not in scaled_options(load_space("alabed", None, 1000).options(Configuration({})), 16)
