import pytest

from rocktune.device import load_device
from rocktune.engine import run_options
from rocktune.errors import UserError
from rocktune.space import Space, load_space
from rocktune.testing.spaces import SpaceConformance
from rocktune.trial import Experiment
from rocktune.workload import load_workload

MIB = 1 << 20


class TestFlsm(SpaceConformance):
    @pytest.fixture
    def space(self) -> Space:
        return load_space("flsm", None, 1e8)


@pytest.mark.parametrize(
    ("name", "policy", "largest"),
    [("flsm", 1, 0), ("flsm-moderate", 5, 0), ("flsm-lazy", 10, 0), ("flsm-lazy-leveling", 10, 1)],
)
def test_each_static_policy_is_a_baseline(name: str, policy: int, largest: int) -> None:
    default = load_space(name, None, 1e8).default()
    assert [default[f"flsm_policy_{level}"] for level in (1, 2, 3)] == [policy] * 3
    assert (default["flsm_deepest_policy"], default["flsm_size_ratio"]) == (largest, 10)


def test_what_filters_take_is_counted_by_the_stores_own_bits() -> None:
    # 1e8 keys * 8 bits / 8 = 1e8 bytes, beside two write buffers of 64 MiB.
    space = load_space("flsm", None, 1e8)
    options = space.options(space.default())
    assert options["table"]["block_cache"] == str((1000 - 2 * 64) * MIB - 100_000_000)


def test_a_small_budget_makes_memtables_smaller_and_a_smaller_one_is_refused() -> None:
    # 96 MiB of filters, two write buffers of at least 16 MiB, and a cache of 38.4%.
    with pytest.raises(UserError, match=r"memory budget of 206MiB is too small for 1e\+08 keys; .* 207MiB"):
        load_space("flsm", 206 * MIB, 1e8)
    space = load_space("flsm", 207 * MIB, 1e8)
    assert space.default()["write_buffer_size"] == 16 * MIB


def test_a_level_has_no_more_runs_than_it_is_larger() -> None:
    space = load_space("flsm", None, 1e8)
    wrong = space.default().replaced({"flsm_size_ratio": 4, "flsm_policy_2": 5})
    assert space.broken_rules(wrong) == [
        "rule 1 (flsm_policy of each level at most flsm_size_ratio) is broken: 1, 5, 1 and 4"
    ]


def test_a_configuration_is_a_store_with_that_layout() -> None:
    space = load_space("flsm", None, 1e8)
    experiment = Experiment(load_workload("ruskey-balanced"), load_device("nvme"), 64, space)
    options = run_options(experiment, space.default().replaced({"flsm_policy_2": 3}))
    assert options["flsm"]["policy_2"] == "3"
    assert options["flsm"]["level1_bytes"] == str(640 * MIB)
