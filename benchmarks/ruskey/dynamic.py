"""Figures 7, 12 and 13, table 3: five workloads in turn, against fixed policies and thresholds."""

import numpy as np
from scipy.stats import rankdata

from benchmarks.common.claims import (
    Claim,
    Settings,
    decided,
    main,
    mean_interval,
    ratio_interval,
    reported,
)
from benchmarks.common.figures import Panel, lines, write_figure
from benchmarks.flsm.shared import Where, decided_at
from benchmarks.ruskey.driver import FLAGS, RIVALS, driver_of, is_stock, setting_of
from benchmarks.ruskey.shared import (
    LEARNED,
    POLICIES,
    Drives,
    Served,
    best_of,
    by_session,
    driven_turns,
    latency_us,
    settled,
)
from rocktune.online import SESSIONS

SESSION_NAMES = tuple(session.workload for session in SESSIONS["ruskey-dynamic"].sessions)
GREEDY = tuple(
    f"greedy:{low},{high}"
    for low, high in ((0.5, 0.5), (0.33, 0.67), (0.25, 0.75), (0.1, 0.9), (0.1, 0.5), (0.5, 0.9))
)
"""Symmetric thresholds, and biased ones to either side."""
RANKED = ("static:1", "static:5", "static:10", LEARNED)
"""The paper's four methods."""
PAPER_RANK = 1.2
MAX_REGRET = 0.1
BAD = 1.2


def dynamic(settings: Settings) -> list[Claim]:
    """Drives each controller through sessions of `--missions`; `--costs FILE` uses a modelled store.

    `--repeats 0` only evaluates the turns in `--out`.
    """
    controllers = ("static:1", "static:10", "leveled:4") if settings.quick else _controllers()
    missions = 3 if settings.quick else int(settings.extra["missions"])
    sessions = [(name, missions) for name in SESSION_NAMES]
    repeats = 1 if settings.quick else int(settings.extra["repeats"])
    with driver_of(settings, setting_of(settings)) as driver:
        known = driver.those_known(controllers)
        turns = driven_turns(
            settings, repeats, known, lambda controller, seed: driver.drive(controller, sessions, seed)
        )
        where = driver.where
    drives: Drives = {controller: [turn[controller] for turn in turns] for controller in known}
    _write(settings, drives)
    claims = [_total(drives, controller, where) for controller in drives]
    if not settings.quick:
        claims += [
            _regret(drives, where),
            *(_against(drives, rival, where) for rival in drives if rival != LEARNED),
            *_ranks(drives, where),
            *_exploring(drives, where),
            _learner(drives, where),
        ]
    return claims


def _controllers() -> tuple[str, ...]:
    return (*POLICIES, *GREEDY, LEARNED, *RIVALS)


def _seconds(missions: list[Served]) -> float:
    return sum(mission.seconds for mission in missions)


def _total(drives: Drives, controller: str, where: Where) -> Claim:
    return reported(
        f"{controller}_seconds",
        "RusKey, figures 7 and 12",
        "s for all sessions",
        mean_interval([_seconds(missions) for missions in drives[controller]]),
        engine=where.engine,
        device=where.device,
    )


def _regret(drives: Drives, where: Where) -> Claim:
    """Returns the time beyond that of the best fixed policy of each session, chosen in hindsight."""
    count = len(SESSION_NAMES)
    seconds = {
        policy: np.array([[_seconds(each) for each in by_session(missions)] for missions in drives[policy]])
        for policy in (*POLICIES, LEARNED)
    }
    hindsight = np.zeros(len(drives[LEARNED]))
    for session in range(count):
        best = best_of({policy: seconds[policy][:, session].tolist() for policy in POLICIES}, POLICIES)
        hindsight += seconds[best][:, session]
    total = seconds[LEARNED].sum(axis=1)
    return decided_at(
        "lerp_regret",
        "RusKey, figure 7",
        "share of the total time beyond the best policy of each session",
        mean_interval(((total - hindsight) / total).tolist()),
        high=MAX_REGRET,
        where=where,
    )


def _against(drives: Drives, rival: str, where: Where) -> Claim:
    ratios = [
        _seconds(theirs) / _seconds(own) for theirs, own in zip(drives[rival], drives[LEARNED], strict=True)
    ]
    claim = reported(
        f"{rival}_over_lerp",
        "RusKey, figure 7",
        "ratio of total time",
        ratio_interval(ratios),
        engine=where.engine,
        device=where.device,
    )
    return claim if is_stock(rival) else decided(claim, low=1.0)


def _ranks(drives: Drives, where: Where) -> list[Claim]:
    """Returns ranks of the paper's four methods by latency after Lerp has settled in each session.

    Ties share a rank.
    """
    ranks = []
    for turn in range(len(drives[LEARNED])):
        sessions = {controller: by_session(drives[controller][turn]) for controller in RANKED}
        for session in range(len(SESSION_NAMES)):
            after = len(settled(sessions[LEARNED][session]))
            latencies = [latency_us(sessions[controller][session][-after:]) for controller in RANKED]
            # What differs by less than a hundredth is a tie.
            ranks.append(rankdata(np.round(np.log(latencies) / np.log(1.01)), method="min"))
    means = np.array(ranks, float)
    return [
        reported(
            f"{controller}_average_rank",
            "RusKey, table 3",
            "rank among four, from 1",
            mean_interval(means[:, place].tolist()),
            PAPER_RANK if controller == LEARNED else None,
            engine=where.engine,
            device=where.device,
        )
        for place, controller in enumerate(RANKED)
    ]


def _exploring(drives: Drives, where: Where) -> list[Claim]:
    """Returns the share of missions that were much slower than the session's best policy.

    The best policy has slow missions too, because merges of deep levels slow missions under every policy.
    Only the excess of Lerp is the price of exploring, so both shares are reported.
    """
    lerp, itself = [], []
    for turn, missions in enumerate(drives[LEARNED]):
        policies = [by_session(drives[policy][turn]) for policy in POLICIES]
        bad_lerp, bad_itself = 0, 0
        for session, own in enumerate(by_session(missions)):
            best = min((each[session] for each in policies), key=_seconds)
            limit_us = BAD * float(np.median([mission.latency_us for mission in best]))
            bad_lerp += sum(mission.latency_us > limit_us for mission in own)
            bad_itself += sum(mission.latency_us > limit_us for mission in best)
        lerp.append(bad_lerp / len(missions))
        itself.append(bad_itself / len(missions))
    return [
        reported(
            f"{name}_missions_much_worse",
            "the cost of exploring",
            f"share of missions {BAD - 1:.0%} slower than the median of the session's best policy",
            mean_interval(shares),
            engine=where.engine,
            device=where.device,
        )
        for name, shares in (("lerp", lerp), ("the_best_policys_own", itself))
    ]


def _learner(drives: Drives, where: Where) -> Claim:
    each = [float(np.mean([mission.learner_ms for mission in missions])) for missions in drives[LEARNED]]
    return reported(
        "learner_ms_per_mission",
        "RusKey, figure 13",
        "ms; below 30 is 1% of a mission of 3 s",
        mean_interval(each),
        19,
        engine=where.engine,
        device=where.device,
    )


def _write(settings: Settings, drives: Drives) -> None:
    if settings.out is None:
        return

    def smooth(controller: str) -> list[float]:
        median = np.median([[m.latency_us for m in missions] for missions in drives[controller]], axis=0)
        return [float(value) for value in np.convolve(median, np.ones(15) / 15, mode="valid")]

    shown = [controller for controller in drives if not controller.startswith("greedy")]
    panels = [
        Panel(
            "Latency", "mission", "us an operation, mean of 15 missions",
            [lines(name, list(range(8, 8 + len(smooth(name)))), smooth(name)) for name in shown],
        )
    ]  # fmt: skip
    if LEARNED in drives:
        first = drives[LEARNED][0]
        levels = max(len(mission.policies) for mission in first)
        traces = [
            lines(
                f"level {level + 1}",
                list(range(1, len(first) + 1)),
                [mission.policies[level] if level < len(mission.policies) else 0 for mission in first],
            )
            for level in range(levels)
        ]
        panels.append(Panel("Lerp's policies, first turn", "mission", "K", traces))
    write_figure(settings, "Five workloads in turn", panels, columns=1)


if __name__ == "__main__":
    main(
        "ruskey.dynamic",
        dynamic,
        scale=128,
        quick_scale=2048,
        extra=FLAGS | {"missions": 400, "repeats": 3},
    )
