"""Drives of a modelled store by a controller, for the tests of controllers."""

from functools import cache

from rocktune.online.control import Controller
from rocktune.online.flsm import Filters
from rocktune.online.modelled import ModelledStore, StoreCosts

OPERATIONS = 20_000


def store(filters: Filters = "uniform", policy: int = 1, noise: float = 0.02) -> ModelledStore:
    return ModelledStore(StoreCosts(noise=noise), entries=400_000, filters=filters, policies=[policy])


def policies_of(served: ModelledStore) -> list[int]:
    return [level.policy for level in served.shape().levels if level.run_bytes]


def driven(controller: Controller, served: ModelledStore, read_share: float, most: int) -> int:
    """Serves until the controller has settled; returns after how many missions."""
    for number in range(1, most + 1):
        decision = controller.decide(served.serve(OPERATIONS, read_share))
        for level, policy in decision.policies.items():
            served.set_policy(level, policy)
        if decision.converged:
            return number
    raise AssertionError(f"not settled after {most} missions")


@cache
def latencies_us(read_share: float) -> dict[int, float]:
    """Returns the mean latency of each K, without noise."""
    latencies = {}
    for policy in range(1, 11):
        served = store(policy=policy, noise=0)
        missions = [served.serve(OPERATIONS, read_share) for _ in range(40)]
        latencies[policy] = sum(mission.latency_s for mission in missions) / 40 * 1e6
    return latencies
