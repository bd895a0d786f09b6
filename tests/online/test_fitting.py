"""Tests for finding what operations cost."""

from dataclasses import replace

import pytest

from rocktune.errors import UserError
from rocktune.online.control.mission import Mission, Served
from rocktune.online.fitting import fitted_costs
from rocktune.online.modelled import ModelledStore, StoreCosts

COSTS = StoreCosts(
    lookup_s=8e-6, probe_s=5e-7, read_s=9e-5, write_s=2e-5, compaction_s_per_byte=2e-8, noise=0.02
)


def served(
    costs: StoreCosts, policy: int, read_share: float, bits: float, missions: int = 60
) -> list[Mission]:
    store = ModelledStore(costs, entries=300_000, policies=[policy], bits_per_key=bits, seed=policy)
    return [store.serve(10_000, read_share) for _ in range(missions)]


def test_the_costs_of_a_modelled_store_are_found_again() -> None:
    drives = [
        served(COSTS, policy, share, bits)
        for policy in (1, 10)
        for share in (0.1, 0.5, 0.9)
        for bits in (2.0, 8.0)
    ]
    found = fitted_costs(drives)
    assert found.read_s == pytest.approx(COSTS.read_s, rel=0.1)
    assert found.write_s == pytest.approx(COSTS.write_s, rel=0.1)
    assert found.compaction_s_per_byte == pytest.approx(COSTS.compaction_s_per_byte, rel=0.1)
    own = served(COSTS, 5, 0.5, 8.0)
    modelled = served(found, 5, 0.5, 8.0)
    assert sum(m.busy_s for m in modelled) == pytest.approx(sum(m.busy_s for m in own), rel=0.03)


def test_no_cost_is_below_nothing() -> None:
    free = StoreCosts(lookup_s=0, probe_s=0, read_s=1e-4, write_s=0, compaction_s_per_byte=0, noise=0.1)
    drives = [served(free, policy, share, 2.0) for policy in (1, 4, 10) for share in (0.2, 0.8)]
    found = fitted_costs(drives)
    assert min(found.lookup_s, found.probe_s, found.write_s, found.compaction_s_per_byte) >= 0
    assert found.noise == pytest.approx(0.1, rel=0.5)
    own, modelled = served(free, 5, 0.5, 2.0), served(found, 5, 0.5, 2.0)
    assert sum(m.busy_s for m in modelled) == pytest.approx(sum(m.busy_s for m in own), rel=0.05)


def test_noise_leaves_the_mean_as_it_is() -> None:
    noisy = served(replace(COSTS, noise=0.8), 3, 0.5, 8.0, 3000)
    quiet = served(replace(COSTS, noise=0.0), 3, 0.5, 8.0, 3000)
    # The mean of 3,000 has a deviation of 1.7%.
    assert sum(m.busy_s for m in noisy) == pytest.approx(sum(m.busy_s for m in quiet), rel=0.08)


def test_too_few_drives_are_refused() -> None:
    with pytest.raises(UserError, match="give those of at least 5 drives"):
        fitted_costs([served(COSTS, 1, 0.5, 8.0, 90)] * 4)


def test_ranges_are_refused() -> None:
    nothing = Served(0, 0.0, 0, 0.0, 0)
    with pytest.raises(UserError, match="scan ranges"):
        fitted_costs([[Mission(0, 1, 0, 1.0, nothing, nothing, 10, ())]])
