"""The native cost controller on a modelled store."""

import pytest

from rocktune.errors import UserError
from rocktune.online.control import Mission, Served, parse_controller
from rocktune.online.control.cost import CostBased
from rocktune.online.modelled import ModelledStore, StoreCosts
from rocktune.units import MIB


def store(noise: float = 0.05) -> ModelledStore:
    costs = StoreCosts(read_s=5e-4, write_s=2.5e-5, compaction_s_per_byte=6e-9, noise=noise)
    return ModelledStore(costs, entries=2_000_000, absent=True, filters="monkey", levels=4, policies=[3])


def serve(served: ModelledStore, controller: CostBased, read_share: float, missions: int) -> list[int]:
    """Serves missions and returns the numbers of those after which a policy changed."""
    changed = []
    for number in range(missions):
        decision = controller.decide(served.serve(5_000, read_share))
        for level, policy in decision.policies.items():
            served.set_policy(level, policy)
            changed.append(number)
    return changed


def test_it_settles_within_ten_missions_and_then_changes_nothing() -> None:
    served, controller = store(), CostBased()
    assert serve(served, controller, 0.1, 10)
    assert controller.decide(served.serve(5_000, 0.1)).converged
    assert not serve(served, controller, 0.1, 60)


def test_it_follows_the_workload_and_says_why() -> None:
    served, controller = store(), CostBased()
    serve(served, controller, 0.1, 20)
    written = [level.policy for level in served.shape().levels[:3]]
    serve(served, controller, 0.99, 20)
    read = [level.policy for level in served.shape().levels[:3]]
    assert sum(read) < sum(written)
    assert [entry.mission for entry in controller.log if entry.what == "workload"] == [22]
    workload = next(entry for entry in controller.log if entry.what == "workload")
    assert workload.why == "new workload: share of reads 0.99 instead of 0.1"


def test_predictions_hold_on_the_modelled_store() -> None:
    served, controller = store(noise=0.0), CostBased()
    serve(served, controller, 0.5, 17)
    last = controller.log[-1]
    assert (last.what, last.observed_missions) == ("settled", 8)
    assert last.observed_s == pytest.approx(last.predicted_s, rel=0.15)


def test_a_mission_without_a_shape_is_refused() -> None:
    nothing = Served(0, 0, 0, 0, 0)
    with pytest.raises(UserError, match="has no shape"):
        CostBased().decide(Mission(1, 0, 1, 1.0, nothing, nothing, 10, ()))


def test_it_has_a_name_and_takes_the_bytes_of_a_flush() -> None:
    chosen, served = parse_controller("cost", 10), store()
    mission = served.serve(5_000, 0.1)
    by_default, derived, quarter = (
        chosen.made("monkey", 1, flush_bytes=flush_bytes) for flush_bytes in (0, 2 * MIB, MIB // 2)
    )
    assert isinstance(by_default, CostBased)
    first = by_default.decide(mission)
    assert first.policies
    assert derived.decide(mission) == first
    # Smaller flushes make more runs in level 1, so that another decision is predicted to be worth less.
    assert quarter.decide(mission) != first


def test_a_store_that_pushes_files_is_refused() -> None:
    with pytest.raises(UserError, match="controller 'cost' needs granularity levels, not files"):
        parse_controller("cost", 10).made("monkey", 1, granularity="files")
