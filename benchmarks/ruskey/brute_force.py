"""Learning without separate levels, and without propagation: the worth of the paper's two ideas.

Runs on a modelled store, because the paper gave each method a day: 100 GB, 50% lookups, equal missions for
all. `--costs FILE` takes the costs of operations from `benchmarks.ruskey.costs`. A push moves files, as in
RusKey's section 7.
"""

from typing import Any

import numpy as np

from benchmarks.common.claims import Claim, Settings, main, mean_interval, reported
from benchmarks.common.figures import Panel, lines, write_figure
from benchmarks.common.tables import write_csv
from benchmarks.ruskey.driver import ON_A_STORE, costs_of, served
from rocktune.online.control import Controller, Decision, Mission, Static
from rocktune.online.modelled import ModelledStore, StoreCosts
from rocktune.workload.ruskey import ENTRIES

SOURCE = "RusKey, section 7: brute force"
OPERATIONS = 50_000
READ_SHARE = 0.5
LEVELS = 4
METHODS = ("lerp", "every level learns", "one agent for all levels")
PAPER = {
    "lerp": "600",
    "every level learns": "not within 24 hours from level 3 on",
    "one agent for all levels": "not within 24 hours",
}
"""Missions until a method has learned, on the balanced workload."""
POLICIES = (1, 2, 3, 5, 7, 10)
END = 100
"""Missions at the end, over which methods are compared."""
NEAR = 1.05
"""Latency over that of the best policy of all levels alike from which on a method counts as near it."""
SMOOTHED = 100
"""Missions whose mean latency is compared with it. Means of 25 missions exceed it now and then under the best
policy itself, because merges of the deepest level come in bursts."""


class OneAgent:
    """A controller with one DDPG agent that changes the policies of all levels at once."""

    def __init__(self, levels: int, seed: int) -> None:
        """Creates a controller of the first `levels` levels."""
        # Here, because smoke runs go without PyTorch.
        from rocktune.online.control.ddpg import DdpgAgent, DdpgSettings

        self._levels = levels
        self._agent = DdpgAgent(
            3 * levels + 1, levels, DdpgSettings(discount=0.5, target_rate=0.02, capacity=4000), seed
        )
        self._seen: list[float] = []
        self._last: tuple[Any, Any] | None = None

    def decide(self, mission: Mission) -> Decision:
        """See `Controller.decide`."""
        self._seen.append(mission.latency_s)
        first = self._seen[:20]
        state = self._state(mission)
        if self._last is not None:
            reward = (float(np.mean(first)) - mission.latency_s) / (float(np.std(first)) or 1.0)
            self._agent.replay.add(*self._last, float(np.clip(reward, -5, 5)), state, True)
            self._agent.learn(8)
        noise = max(0.1, 0.6 * 3 ** (-len(self._seen) / 100))
        steps = np.round(self._agent.act(state, noise)).astype(int)
        wanted = {
            level: int(np.clip(mission.levels[level - 1].policy + steps[level - 1], 1, mission.size_ratio))
            for level in range(1, min(self._levels, len(mission.levels)) + 1)
        }
        self._last = state, steps.astype(np.float32)
        return Decision(wanted, converged=False)

    def _state(self, mission: Mission) -> Any:
        values = [2 * mission.read_share - 1]
        for number in range(self._levels):
            if number < len(mission.levels):
                level = mission.levels[number]
                values += [
                    2 * level.policy / mission.size_ratio - 1,
                    2 * level.runs / mission.size_ratio - 1,
                    2 * min(1.5, level.filled) - 1,
                ]
            else:
                values += [0.0, 0.0, 0.0]
        return np.array(values, np.float32)


def brute_force(settings: Settings) -> list[Claim]:
    """Runs each method for `--missions` missions with `--seeds` seeds, and each fixed policy."""
    missions = 30 if settings.quick else int(settings.extra["missions"])
    seeds = range(settings.seed, settings.seed + (1 if settings.quick else int(settings.extra["seeds"])))
    path = str(settings.extra["costs"])
    costs = StoreCosts() if path == ON_A_STORE else costs_of(path)
    runs: dict[str, list[list[float]]] = {}
    for policy in POLICIES[:2] if settings.quick else POLICIES:
        runs[f"K = {policy}"] = [_run(costs, Static(), policy, missions, seed) for seed in seeds]
    for method in () if settings.quick else METHODS:
        runs[method] = [_run(costs, _controller(method, seed), 1, missions, seed) for seed in seeds]
        settings.say(f"{method}: done")
    best = min(float(np.mean([each[-END:] for each in runs[name]])) for name in runs if name.startswith("K"))
    claims = [
        reported(
            f"{name.replace(' ', '_')}_over_the_best",
            SOURCE,
            f"latency in the last {END} of {missions} missions over that of the best of all levels alike",
            mean_interval([float(np.mean(each[-END:])) / best for each in turns]),
            engine="a modelled store",
            device="none",
        )
        for name, turns in runs.items()
    ]
    claims += [
        reported(
            f"{name.replace(' ', '_')}_missions_until_near_the_best",
            SOURCE,
            f"missions until the mean of {SMOOTHED} stays below {NEAR} times the best; at most {missions}",
            mean_interval([_until_near(each, best) for each in turns]),
            PAPER.get(name),
            engine="a modelled store",
            device="none",
        )
        for name, turns in runs.items()
    ]
    _write(settings, runs)
    return claims


def _until_near(latencies_us: list[float], best_us: float) -> float:
    """Returns after how many missions a run's latency stays near the best."""
    smooth = np.convolve(latencies_us, np.ones(SMOOTHED) / SMOOTHED, mode="valid")
    far = np.flatnonzero(smooth > NEAR * best_us)
    return float(far[-1] + SMOOTHED) if len(far) else 0.0


def _controller(method: str, seed: int) -> Controller:
    from rocktune.online.control.lerp import Lerp, LerpSettings

    if method == "one agent for all levels":
        return OneAgent(LEVELS, seed)
    return Lerp(
        "uniform", LerpSettings(learned_levels=LEVELS if method == "every level learns" else None), seed
    )


def _run(costs: StoreCosts, controller: Controller, policy: int, missions: int, seed: int) -> list[float]:
    """Returns the latencies of missions in microseconds."""
    store = ModelledStore(costs, entries=ENTRIES, policies=[policy], granularity="files", seed=seed)
    done = served(store, controller, [(READ_SHARE, missions)], OPERATIONS)
    return [mission.latency_us for mission in done]


def _write(settings: Settings, runs: dict[str, list[list[float]]]) -> None:
    if settings.out is None:
        return
    medians = {name: np.median(turns, axis=0) for name, turns in runs.items()}
    rows = [
        {"method": name, "mission": number, "median_latency_us": f"{value:.5g}"}
        for name, values in medians.items()
        for number, value in enumerate(values.tolist(), 1)
    ]
    write_csv(settings.out / "latencies.csv", rows)
    traces = []
    for name, values in medians.items():
        smooth = np.convolve(values, np.ones(SMOOTHED) / SMOOTHED, mode="valid")
        traces.append(lines(name, list(range(SMOOTHED // 2, SMOOTHED // 2 + len(smooth))), smooth.tolist()))
    panel = Panel("Median of all seeds", "mission", f"us an operation, mean of {SMOOTHED} missions", traces)
    write_figure(settings, "What levels and propagation are worth", [panel], columns=1)


if __name__ == "__main__":
    main(
        "ruskey.brute_force",
        brute_force,
        scale=1,
        quick_scale=1,
        extra={"missions": 2000, "seeds": 5, "costs": ON_A_STORE},
    )
