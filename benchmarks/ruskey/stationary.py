"""Beyond the paper: whether the cost controller leaves a stationary workload alone, on modelled stores.

Each session is an hour or so on a store of its own: about 3 s for a mission of the paper's size. Its share of
lookups is random, and varies from mission to mission. Other load on the machine changes no result.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy import stats

from benchmarks.common.claims import Claim, Measured, Settings, decided, exactly, main, reported
from benchmarks.common.flags import check_flags
from benchmarks.common.tables import append_rows, read_rows, record_of
from benchmarks.ruskey.cost_controller import COST, COSTS, OPERATIONS, SIZE_RATIO, new_store
from benchmarks.ruskey.driver import costs_of
from rocktune.online.control import parse_controller
from rocktune.online.control.cost import CostBased
from rocktune.online.modelled import StoreCosts

SHARES = (0.05, 0.95)
"""Range of the sessions' shares of lookups."""
SPREAD = 0.02
"""Standard deviation of the share of lookups between missions of a session."""
MAX_ALARMS_PER_MISSION = 1 / 20_000
"""The rate that the controller states."""
MAX_SETTLED = 10
SOURCE = "the cost controller: a stationary workload"
DATA = "sessions.csv"
MODEL = {"engine": "a modelled store", "device": "none"}


@dataclass(frozen=True)
class Session:
    """What the controller did in one session.

    Attributes:
        seed: seed of the session's share, of its missions and of the store's noise.
        missions: number of missions.
        read_share: mean share of lookups.
        seconds: time of all missions on the model.
        settled_after: missions until it settled for the first time.
        alarms: number of times that it found another workload.
        changes: number of decisions to change policies after it had settled.
    """

    seed: int
    missions: int
    read_share: float
    seconds: float
    settled_after: int
    alarms: int
    changes: int


def stationary(settings: Settings) -> list[Claim]:
    """Serves `--repeats` sessions of `--missions`, each with a seed of its own.

    With `--out` each session is appended to `sessions.csv` and is not served again.
    """
    missions = 20 if settings.quick else int(settings.extra["missions"])
    repeats = 2 if settings.quick else int(settings.extra["repeats"])
    costs = costs_of(str(settings.extra["costs"]))
    path = None if settings.out is None else settings.out / DATA
    check_flags(settings)
    known = {session.seed: session for session in read_rows(path, record_of(Session))}
    for seed in range(settings.seed, settings.seed + repeats):
        if seed in known:
            continue
        known[seed] = _served(costs, seed, missions)
        settings.say(f"{known[seed]}")
        append_rows(path, [known[seed]])
    return claims_of([session for _, session in sorted(known.items())])


def _served(costs: StoreCosts, seed: int, missions: int) -> Session:
    rng = np.random.default_rng(seed)
    # Four digits, as in the data.
    mean = round(float(rng.uniform(*SHARES)), 4)
    store = new_store(costs, "monkey", [1], seed)
    controller = parse_controller(COST, SIZE_RATIO).made("monkey", seed)
    assert isinstance(controller, CostBased)
    seconds, settled_after, changes = 0.0, 0, 0
    for number in range(1, missions + 1):
        mission = store.serve(OPERATIONS, float(np.clip(rng.normal(mean, SPREAD), 0, 1)))
        decision = controller.decide(mission)
        for level, policy in decision.policies.items():
            store.set_policy(level, policy)
        seconds += mission.busy_s
        changes += settled_after > 0 and bool(decision.policies)
        if decision.converged and settled_after == 0:
            settled_after = number
    alarms = sum(entry.what == "workload" for entry in controller.log)
    return Session(seed, missions, mean, round(seconds, 1), settled_after or missions, alarms, changes)


def claims_of(sessions: Sequence[Session]) -> list[Claim]:
    """Returns the claims of sessions that were served."""
    settled_after = [session.settled_after for session in sessions]
    rate = reported(
        "false_alarms_per_mission",
        SOURCE,
        "share of missions, with Clopper and Pearson's interval",
        _rate(sum(session.alarms for session in sessions), sum(session.missions for session in sessions)),
        **MODEL,
    )
    changing = sum(session.changes > 0 for session in sessions)
    changed = reported(
        "sessions_with_changes_after_settling", SOURCE, "sessions", exactly(changing, len(sessions)), **MODEL
    )
    settles = reported(
        "settles_after",
        SOURCE,
        "missions, median with the minimum and the maximum of sessions",
        Measured(float(np.median(settled_after)), min(settled_after), max(settled_after), len(settled_after)),
        **MODEL,
    )
    hours = reported(
        "hours_of_a_session",
        SOURCE,
        "h on the model, mean",
        exactly(float(np.mean([session.seconds for session in sessions])) / 3600, len(sessions)),
        **MODEL,
    )
    return [
        decided(rate, high=MAX_ALARMS_PER_MISSION),
        decided(changed, high=0),
        decided(settles, high=MAX_SETTLED),
        hours,
    ]


def _rate(alarms: int, missions: int) -> Measured:
    """Returns the share of missions with an alarm, with Clopper and Pearson's 95% interval."""
    low = 0.0 if alarms == 0 else float(stats.beta.ppf(0.025, alarms, missions - alarms + 1))
    high = float(stats.beta.ppf(0.975, alarms + 1, missions - alarms))
    return Measured(alarms / missions, low, high, missions)


if __name__ == "__main__":
    main(
        "ruskey.stationary",
        stationary,
        scale=1,
        quick_scale=1,
        extra={"missions": 1100, "repeats": 200, "costs": COSTS},
    )
