"""Beyond the paper: policies by predicted cost, on a modelled store with five sessions in random orders.

The rivals have equal memory: static policies, the published Lerp with uniform filters, and the best choice in
hindsight. Hindsight knows each session and chooses, by level, the K of `GRID` with the least cost in it.
Where PyTorch is missing, `--lerp recorded` drives the cost controller in the paper's order, on the stores of
the same seeds on which `benchmarks.ruskey.ablation --granularity levels` drove Lerp.
"""

from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np

from benchmarks.common.claims import (
    ROOT,
    Claim,
    Settings,
    decided,
    main,
    mean_interval,
    ratio_interval,
    reported,
)
from benchmarks.common.tables import read_rows, typed, write_csv
from benchmarks.flsm.shared import ENTRY_BYTES
from benchmarks.ruskey.driver import costs_of, served
from benchmarks.ruskey.dynamic import SESSION_NAMES
from benchmarks.ruskey.shared import Served, Turn, by_session, driven_turns, settled
from rocktune.errors import UserError, unknown_name
from rocktune.online import DrivenMission
from rocktune.online.control import Decision, parse_controller
from rocktune.online.flsm import Filters
from rocktune.online.modelled import ModelledStore, StoreCosts
from rocktune.workload.ruskey import ENTRIES, SHARES

SIZE_RATIO = 10
LEVELS = 6
OPERATIONS = 50_000
GRID = (1, 2, 3, 5, 7, 10)
"""K of each level from which hindsight chooses: all combinations of levels."""
COST, LERP, HINDSIGHT, PAPERS_ORDER = "cost", "lerp", "hindsight", "cost-in-the-papers-order"
STATICS = ("static:5", "static:7", "static:10")
"""Those that were the best ones with Monkey's filters."""
LERPS = ("yes", "no", "recorded")
MAX_OF_LERP, MAX_OF_HINDSIGHT, MAX_SETTLED = 0.65, 1.03, 10
SOURCE = "the cost controller"
COSTS = str(ROOT / "docs" / "evidence" / "ruskey" / "costs" / "costs.json")
RECORDED = ROOT / "docs" / "evidence" / "ruskey" / "ablation-levels" / "sessions.csv"

Sessions = Sequence[tuple[float, int]]
"""Share of lookups and number of missions of each session."""


def cost_controller(settings: Settings) -> list[Claim]:
    """Drives each controller through five sessions of `--missions` in an order by the seed.

    With `--out` each drive is appended to `drives.csv.gz` and is not made again. `sessions.csv` has the
    figures of sessions, which are the evidence; the missions of 20 seeds are megabytes.
    """
    if settings.extra["lerp"] not in LERPS:
        raise unknown_name("--lerp", str(settings.extra["lerp"]), LERPS)
    missions = 5 if settings.quick else int(settings.extra["missions"])
    repeats = 1 if settings.quick else int(settings.extra["repeats"])
    costs = costs_of(str(Path(str(settings.extra["costs"]))))
    names = [COST, HINDSIGHT, *STATICS]
    if settings.extra["lerp"] == "yes" and not settings.quick:
        names.append(LERP)

    def drive(name: str, seed: int) -> list[DrivenMission]:
        order = np.random.default_rng(seed).permutation(list(SHARES.values()))
        if name == PAPERS_ORDER:
            order = np.array([SHARES[workload.removeprefix("ruskey-")] for workload in SESSION_NAMES])
        sessions = [(float(share), missions) for share in order]
        if name == HINDSIGHT:
            return _hindsight(costs, sessions, seed)
        filters: Filters = "uniform" if name == LERP else "monkey"
        return _drive(costs, COST if name == PAPERS_ORDER else name, filters, sessions, seed)

    turns = driven_turns(settings, repeats, names, drive)
    seconds = {name: [sum(mission.seconds for mission in turn[name]) for turn in turns] for name in names}
    claims = [
        reported(
            f"{name.replace(':', '_')}_seconds",
            SOURCE,
            "s for all sessions",
            ratio_interval(seconds[name]),
            engine="a modelled store",
            device="none",
        )
        for name in names
    ]
    bounds = {LERP: MAX_OF_LERP, HINDSIGHT: MAX_OF_HINDSIGHT, **dict.fromkeys(STATICS, 1.0)}
    claims += [
        decided(
            reported(
                f"cost_over_{name.replace(':', '_')}",
                SOURCE,
                "ratio of total time",
                ratio_interval(
                    [own / other for own, other in zip(seconds[COST], seconds[name], strict=True)]
                ),
                engine="a modelled store",
                device="none",
            ),
            high=bounds[name],
        )
        for name in names[1:]
    ]
    claims.append(_settling([turn[COST] for turn in turns]))
    if settings.extra["lerp"] == "recorded" and not settings.quick:
        claims.append(over_recorded_lerp(settings, missions, drive))
    if settings.out is not None:
        # Read again, with the drives in the paper's order.
        every = enumerate(driven_turns(settings, 0, names, drive), settings.seed)
        write_csv(settings.out / "sessions.csv", (row for seed, turn in every for row in _rows(seed, turn)))
    return claims


def over_recorded_lerp(
    settings: Settings, missions: int, drive: Callable[[str, int], list[DrivenMission]]
) -> Claim:
    """Returns the cost controller's time over that of Lerp's recorded drives, both in the paper's order."""
    lerp: dict[int, float] = defaultdict(float)
    for row in read_rows(RECORDED, typed(seed=int, missions=int, seconds=float), advice="restore the file"):
        if (row["controller"], row["missions"]) == (LERP, missions):
            lerp[row["seed"]] += row["seconds"]
    if not lerp:
        raise UserError(f"--lerp recorded: {RECORDED.name} has no sessions of {missions} missions")
    # The ablation's seeds follow one another, as those of turns do.
    turns = driven_turns(replace(settings, seed=min(lerp)), len(lerp), [PAPERS_ORDER], drive)
    own = [sum(mission.seconds for mission in turn[PAPERS_ORDER]) for turn in turns]
    ratios = [seconds / lerp[seed] for seed, seconds in zip(sorted(lerp), own, strict=True)]
    claim = reported(
        "cost_over_recorded_lerp",
        SOURCE,
        "ratio of total time",
        ratio_interval(ratios),
        engine="a modelled store",
        device="none",
    )
    why = f"Each of the {len(ratios)} ratios is at most {max(ratios):.2f}, but Lerp's own time varies as much"
    return decided(claim, high=MAX_OF_LERP, why=why)


def _rows(seed: int, turn: Turn) -> Iterator[dict[str, str | int]]:
    """Yields the figures of the sessions of a turn."""
    for name, missions in turn.items():
        for number, session in enumerate(by_session(missions)):
            yield {
                "seed": seed,
                "drive": name,
                "session": number,
                "missions": len(session),
                "seconds": f"{sum(mission.seconds for mission in session):.6g}",
                "settled_after": len(session) - len(settled(session)),
                "policies": " ".join(map(str, session[-1].policies)),
            }


def _settling(drives: Sequence[list[Served]]) -> Claim:
    """Returns the median number of missions of a session until the controller has settled."""
    medians = [
        float(np.median([len(each) - len(settled(each)) for each in by_session(missions)]))
        for missions in drives
    ]
    claim = reported(
        "cost_settles_after",
        SOURCE,
        "missions of a session, median of its sessions",
        mean_interval(medians),
        engine="a modelled store",
        device="none",
    )
    return decided(claim, high=MAX_SETTLED)


def new_store(costs: StoreCosts, filters: Filters, policies: str | Sequence[int], seed: int) -> ModelledStore:
    """Returns a modelled store of the paper's size, whose lookups ask for absent keys."""
    return ModelledStore(
        costs,
        entries=ENTRIES,
        entry_bytes=ENTRY_BYTES,
        absent=True,
        policies=policies,
        size_ratio=SIZE_RATIO,
        levels=LEVELS,
        filters=filters,
        seed=seed,
    )


def _drive(
    costs: StoreCosts, name: str, filters: Filters, sessions: Sessions, seed: int
) -> list[DrivenMission]:
    chosen = parse_controller(name, SIZE_RATIO)
    store = new_store(costs, filters, chosen.policies, seed)
    if name in STATICS:
        return [each for number, session in enumerate(sessions) for each in _fixed(store, number, session)]
    return list(served(store, chosen.made(filters, seed), sessions, OPERATIONS))


def _fixed(store: ModelledStore, number: int, session: tuple[float, int]) -> Iterator[DrivenMission]:
    """Yields the missions of session `number` under the store's policies."""
    read_share, missions = session
    seconds = store.serve_fixed(OPERATIONS, read_share, missions).busy_s
    shape = store.shape()
    policies = tuple(level.policy for level in shape.levels[: shape.levels_in_use])
    for each in seconds:
        latency_us = float(each) / OPERATIONS * 1e6
        yield DrivenMission(number, float(each), latency_us, read_share, policies, Decision(), 0.0)


def _hindsight(costs: StoreCosts, sessions: Sessions, seed: int) -> list[DrivenMission]:
    """Returns the missions under the best K by level and session.

    A level is pushed when it is full, whatever its policy, so the levels' costs add up: one drive for each K
    of the grid tells the best of all combinations. Each session begins with the tree that the best of the
    session before has left.
    """
    chosen: list[list[int]] = []
    for _ in sessions:
        by_policy = [_costs_by_level(costs, sessions, [*chosen, [policy] * LEVELS], seed) for policy in GRID]
        chosen.append([GRID[place] for place in np.argmin(by_policy, axis=0)])
    store = new_store(costs, "monkey", [1], seed)
    missions: list[DrivenMission] = []
    for number, (session, policies) in enumerate(zip(sessions, chosen, strict=True)):
        _set_policies(store, policies)
        missions += _fixed(store, number, session)
    return missions


def _costs_by_level(
    costs: StoreCosts, sessions: Sessions, policies: Sequence[Sequence[int]], seed: int
) -> np.ndarray:
    """Returns the seconds of runs and merges by level in the last session that has policies."""
    store = new_store(costs, "monkey", [1], seed)
    level_s = np.zeros((1, LEVELS))
    for (read_share, missions), of_levels in zip(sessions[: len(policies)], policies, strict=True):
        _set_policies(store, of_levels)
        level_s = store.serve_fixed(OPERATIONS, read_share, missions).level_s
    return np.asarray(level_s.sum(axis=0))


def _set_policies(store: ModelledStore, policies: Sequence[int]) -> None:
    for level, policy in enumerate(policies, 1):
        store.set_policy(level, policy)


if __name__ == "__main__":
    main(
        "ruskey.cost_controller",
        cost_controller,
        scale=1,
        quick_scale=1,
        extra={"missions": 1000, "repeats": 20, "costs": COSTS, "lerp": "yes"},
    )
