from itertools import product

import numpy as np
import pytest

from rocktune.device import load_device
from rocktune.engine import run_options
from rocktune.errors import UserError
from rocktune.space import Configuration, Space, load_space
from rocktune.trial import Experiment
from rocktune.workload import load_workload


@pytest.fixture
def space() -> Space:
    return load_space("jia-chen", None, 1e8)


def test_it_has_the_papers_2160_configurations_and_all_are_valid(space: Space) -> None:
    names = [knob.name for knob in space.knobs]
    every = [
        dict(zip(names, values, strict=True)) for values in product(*(knob.choices for knob in space.knobs))
    ]
    assert len(every) == 5 * 4 * 3 * 3 * 4 * 3 == 2160
    for configuration in every:
        space.validate(configuration)
    assert {Configuration(each).key for each in every} >= {
        each.key for each in space.sample(50, np.random.default_rng(1))
    }


def test_a_configuration_sets_options_and_the_workloads_threads(space: Space) -> None:
    values = (16, 8, 4, 4 << 30, 8, 2)
    configuration = Configuration(dict(zip([knob.name for knob in space.knobs], values, strict=True)))
    experiment = Experiment(load_workload("zipfian"), load_device("nvme"), 64, space)
    options = run_options(experiment, configuration)
    assert options["cf"]["max_write_buffer_number"] == "16"
    assert options["cf"]["write_buffer_size"] == str(32 << 20)
    assert options["table"]["block_cache"] == str(4 << 30)
    assert options["db"]["max_background_flushes"] == "4"
    assert not any("threads" in texts for texts in options.values())
    assert experiment.workload.threads == 1
    assert experiment.loaded_by(configuration).workload.threads == 8
    assert experiment.loaded_by(Configuration({})) == experiment


def test_the_memory_budget_bounds_the_cache() -> None:
    caches = {knob.name: knob.choices for knob in load_space("jia-chen", 3 << 30, 1e8).knobs}["block_cache"]
    assert caches == (1 << 30, 2 << 30)
    with pytest.raises(UserError, match=r"a memory budget of 1GiB is too small; use at least 1\.5GiB"):
        load_space("jia-chen", 1 << 30, 1e8)


def test_the_three_workloads_hold_100_gigabytes() -> None:
    for name in ("zipfian", "hotspot", "random"):
        workload = load_workload(name)
        assert workload.preload.keys * workload.entry_bytes == pytest.approx(100e9, rel=1e-6)
