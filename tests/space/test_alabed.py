import numpy as np
import pytest

from rocktune.device import load_device
from rocktune.engine import run_options
from rocktune.space import Space, load_space
from rocktune.trial import Experiment
from rocktune.tuners.unit_cube import UnitCube
from rocktune.workload import load_workload


@pytest.fixture
def space() -> Space:
    return load_space("alabed", None, 5e7)


def test_it_has_table_2s_bounds_and_defaults(space: Space) -> None:
    bounds = {knob.name: (knob.low, knob.high, knob.default) for knob in space.knobs}
    assert len(bounds) == 10
    assert bounds["write_buffer_size"] == (1, 150_000_000, 64 << 20)
    assert bounds["block_size"] == (1, 500_000, 4096)
    assert bounds["level0_slowdown_writes_trigger"] == (1, 1024, 20)
    assert bounds["max_bytes_for_level_multiplier"] == (5, 15, 10)


def test_every_whole_number_may_be_drawn_and_nothing_is_refused_beforehand(space: Space) -> None:
    drawn = space.sample(2000, np.random.default_rng(1))
    assert len({configuration["write_buffer_size"] for configuration in drawn}) > 1990
    contradictory = [
        each
        for each in drawn
        if int(each["level0_stop_writes_trigger"]) < int(each["level0_file_num_compaction_trigger"])
    ]
    assert contradictory
    space.validate(contradictory[0])
    cube = UnitCube(space)
    assert [cube.configuration(cube.point(each)) for each in drawn[:50]] == drawn[:50]


def test_the_cache_is_listing_1s_whatever_the_memtables_take(space: Space) -> None:
    experiment = Experiment(load_workload("alabed-text"), load_device("nvme"), 64, space)
    large = space.default().replaced({"max_write_buffer_number": 128, "write_buffer_size": 150_000_000})
    for configuration in (space.default(), large):
        options = run_options(experiment, configuration)
        assert options["table"]["block_cache"] == str(256 << 20)
        assert "filter_policy" not in options["table"]


def test_the_workloads_are_the_texts_and_the_listings() -> None:
    text, listing = load_workload("alabed-text"), load_workload("alabed-listing")
    mix = text.mix_of(text.sessions[0])
    assert (mix.get, mix.put, mix.delete, mix.scan) == (0.78, 0.13, 0.06, 0.03)
    assert listing.mix_of(listing.sessions[0]).delete == 0
    assert listing.key_chooser.kind == "uniform"
    assert text.preload.keys == text.keys == 50_000_000
    assert 30 < text.value.mean < 40
