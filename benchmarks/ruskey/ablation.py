"""What Lerp's agent adds: Lerp, Lerp with an idle agent, the cost curve, true costs, thresholds, fixed K.

Five sessions in turn on a modelled store of the paper's size, in three lengths. Other load on the machine
changes no result, because nothing is timed but the controllers' decisions. A push moves files, as in RusKey's
section 7, or whole levels (`--granularity levels`), which the cost controller needs.

A difference of 10% matters. In three seeds the logarithm of the idle agent's time over Lerp's varied by 0.10
in sessions of 1,000 missions and by 0.28 in those of 400. So eight seeds decide 9% and 23%.
"""

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Any

import numpy as np
from scipy.stats import rankdata

from benchmarks.common.claims import Claim, Settings, decided, main, mean_interval, ratio_interval, reported
from benchmarks.common.figures import Panel, bars, write_figure
from benchmarks.common.flags import check_flags
from benchmarks.common.tables import append_rows, read_rows, record_of
from benchmarks.flsm.shared import ENTRY_BYTES
from benchmarks.ruskey.driver import SIZE_RATIO, costs_of, granularity_of, served
from benchmarks.ruskey.dynamic import GREEDY, PAPER_RANK, RANKED, SESSION_NAMES
from benchmarks.ruskey.shared import LEARNED, POLICIES
from rocktune.errors import UserError
from rocktune.online import DrivenMission
from rocktune.online.control import Controller, Curve, Decision, Mission, parse_controller
from rocktune.online.control.base import changed
from rocktune.online.control.curve import runs_of, writings_of
from rocktune.online.flsm import Granularity
from rocktune.online.modelled import ModelledStore, StoreCosts
from rocktune.workload import load_workload
from rocktune.workload.ruskey import ENTRIES

COSTS = "docs/evidence/ruskey/costs/costs.json"
OPERATIONS = 50_000
IDLE, CURVE, TWO_PASSES, TRUE_COSTS = "lerp-idle-agent", "curve", "curve-two-passes", "true-costs"
CONTROLLERS = (CURVE, TWO_PASSES, TRUE_COSTS, IDLE, *POLICIES, LEARNED, *GREEDY)
QUICK = (CURVE, TRUE_COSTS, "static:3", GREEDY[0])
MAX_OVER_TRUE_COSTS = 1.02
DATA = "sessions.csv"
Totals = dict[str, dict[int, float]]
"""By controller and seed, the seconds of all sessions."""
MODEL = {"engine": "a modelled store", "device": "none"}


@dataclass(frozen=True)
class Session:
    """What a controller did in one session.

    Attributes:
        seed: seed of the store's noise and of the controller.
        missions: missions of the session.
        controller: its name.
        session: index of the session, from 0.
        seconds: time of all missions; smaller is better.
        settled_after: missions before it settled for good; `missions` if it did not.
        policy: K of level 1 at the end.
        learner_ms: mean milliseconds of a decision.
    """

    seed: int
    missions: int
    controller: str
    session: int
    seconds: float
    settled_after: int
    policy: int
    learner_ms: float

    @property
    def drive(self) -> tuple[int, int, str]:
        """The drive that it belongs to: seed, missions and controller."""
        return self.seed, self.missions, self.controller


class IdleAgent:
    """An agent that asks for no step and learns nothing, in place of Lerp's."""

    def __init__(self) -> None:
        """Creates the agent; its replay buffer is itself, which keeps nothing."""
        self.replay = self

    def add(self, *experience: Any) -> None:
        """Forgets an experience."""

    def learn(self, steps: int) -> None:
        """Learns nothing."""

    def is_finite(self) -> bool:
        """Returns True."""
        return True

    def act(self, state: Any) -> Any:  # noqa: ARG002 - the agent's interface
        """Returns no step."""
        return np.zeros(1, np.float32)


@dataclass(frozen=True)
class TrueCosts:
    """A controller that minimises equation 5 with the model's own costs, as soon as the mix changes.

    Attributes:
        costs: costs of the modelled store.
        false_positive_rate: that of the filters of all levels, from 0 to 1.
    """

    costs: StoreCosts
    false_positive_rate: float

    def decide(self, mission: Mission) -> Decision:
        """See `Controller.decide`."""
        share = mission.read_share
        run_s = share * (self.costs.probe_s + self.false_positive_rate * self.costs.read_s)
        # A compaction reads what it writes.
        writing_s = (1 - share) * 2 * ENTRY_BYTES * self.costs.compaction_s_per_byte

        def cost_s(policy: int) -> float:
            return run_s * runs_of(policy, SIZE_RATIO) + writing_s * writings_of(policy, SIZE_RATIO)

        best = min(range(1, SIZE_RATIO + 1), key=cost_s)
        return Decision(changed(mission, dict.fromkeys(range(1, len(mission.levels) + 1), best)))


def ablation(settings: Settings) -> list[Claim]:
    """Drives each controller through sessions of each of `--missions`, with `--repeats` seeds.

    With `--out` each drive is appended to `sessions.csv` and is not made again. `--repeats 0` only evaluates
    the drives that are there.
    """
    lengths = [4] if settings.quick else [int(each) for each in str(settings.extra["missions"]).split(",")]
    controllers = QUICK if settings.quick else CONTROLLERS
    repeats = 1 if settings.quick else int(settings.extra["repeats"])
    costs = costs_of(str(settings.extra["costs"]))
    granularity = granularity_of(str(settings.extra["granularity"]))
    path = None if settings.out is None else settings.out / DATA
    check_flags(settings)
    sessions = read_rows(path, record_of(Session))
    known = {session.drive for session in sessions}
    for seed in range(settings.seed, settings.seed + repeats):
        for drive in ((seed, missions, name) for name in controllers for missions in lengths):
            if drive in known:
                continue
            own = list(_driven(costs, granularity, *drive))
            settings.say(f"{drive}: {sum(session.seconds for session in own):.0f} s")
            sessions += own
            append_rows(path, own)
    totals = {missions: _totals(sessions, controllers, missions) for missions in lengths}
    _write_figure(settings, totals)
    return [claim for missions in lengths for claim in _claims(totals[missions], sessions, missions)]


def _driven(
    costs: StoreCosts, granularity: Granularity, seed: int, missions: int, name: str
) -> Iterator[Session]:
    shares = [_read_share(workload) for workload in SESSION_NAMES]
    chosen = parse_controller(name if name in (*POLICIES, *GREEDY) else CURVE, SIZE_RATIO)
    store = ModelledStore(
        costs,
        entries=ENTRIES,
        entry_bytes=ENTRY_BYTES,
        policies=chosen.policies,
        size_ratio=SIZE_RATIO,
        absent=True,
        granularity=granularity,
        seed=seed,
    )
    controller = _controller(name, costs, store, seed)
    done = served(store, controller, [(share, missions) for share in shares], OPERATIONS)
    for number, group in groupby(done, key=lambda mission: mission.session):
        yield _session(seed, name, number, list(group))


def _controller(name: str, costs: StoreCosts, store: ModelledStore, seed: int) -> Controller:
    if name == TWO_PASSES:
        return Curve("uniform", passes=2)
    if name == TRUE_COSTS:
        return TrueCosts(costs, store.false_positive_rates[0])
    if name != IDLE:
        return parse_controller(name, SIZE_RATIO).made("uniform", seed)
    # Here, because smoke runs go without PyTorch.
    from rocktune.online.control.lerp import Lerp

    lerp = Lerp("uniform", seed=seed)
    for learner in lerp.learners:
        learner.agent = IdleAgent()  # type: ignore[attr-defined]
    return lerp


def _read_share(workload: str) -> float:
    spec = load_workload(workload)
    return spec.mix_of(spec.sessions[0]).get


def _session(seed: int, name: str, number: int, done: Sequence[DrivenMission]) -> Session:
    open_until = [at for at, mission in enumerate(done, 1) if not mission.decision.converged]
    return Session(
        seed,
        len(done),
        name,
        number,
        round(sum(mission.seconds for mission in done), 2),
        max(open_until, default=0),
        done[-1].policies[0],
        round(float(np.mean([mission.learner_ms for mission in done])), 3),
    )


def _totals(sessions: Sequence[Session], controllers: Sequence[str], missions: int) -> Totals:
    """Returns the totals of the controllers that were driven.

    Raises:
        UserError: none was.
    """
    totals: Totals = {}
    for session in sessions:
        if session.missions == missions:
            own = totals.setdefault(session.controller, {})
            own[session.seed] = own.get(session.seed, 0.0) + session.seconds
    if not totals:
        raise UserError(f"--repeats 0: no drive of {missions} missions; give --out, or 1 or more")
    return {name: totals[name] for name in controllers if name in totals}


def _claims(totals: Totals, sessions: Sequence[Session], missions: int) -> list[Claim]:
    seconds = [
        reported(
            f"{name}_seconds_of_{missions}",
            "RusKey, figure 7",
            "s",
            mean_interval(list(own.values())),
            **MODEL,
        )
        for name, own in totals.items()
    ]
    return [
        *seconds,
        *_of_the_curve(totals, missions),
        *_of_lerp(totals, sessions, missions),
        *_ranks(sessions, missions),
    ]


def _of_the_curve(totals: Totals, missions: int) -> Iterator[Claim]:
    over_true = _ratio(totals, CURVE, TRUE_COSTS, missions, "Ours: the cost curve")
    if over_true is not None:
        yield decided(over_true, high=MAX_OVER_TRUE_COSTS)


def _of_lerp(totals: Totals, sessions: Sequence[Session], missions: int) -> Iterator[Claim]:
    if LEARNED not in totals:
        return
    adds, rivals = "Ours: what the agent adds", "RusKey, figures 7 and 12"
    for name, source in ((IDLE, adds), *((each, rivals) for each in (*POLICIES, *GREEDY))):
        ratio = _ratio(totals, name, LEARNED, missions, source)
        if ratio is not None:
            yield decided(ratio, low=1.0)
    for name in (CURVE, TWO_PASSES, TRUE_COSTS):
        ratio = _ratio(totals, name, LEARNED, missions, adds)
        if ratio is not None:
            yield ratio
    settled = [session.settled_after for session in sessions if session.drive[1:] == (missions, LEARNED)]
    yield reported(
        f"lerp_missions_to_settle_of_{missions}",
        "RusKey, section 7",
        "missions of a session",
        mean_interval(settled),
        "300 to 600",
        **MODEL,
    )


def _ranks(sessions: Sequence[Session], missions: int) -> Iterator[Claim]:
    """Yields the ranks of the paper's four methods by the time of each session; ties share a rank."""
    seconds = {
        (session.seed, session.session, session.controller): session.seconds
        for session in sessions
        if session.missions == missions
    }
    of_lerp = [key[:2] for key in seconds if key[2] == LEARNED]
    ranks = [
        # What differs by less than a hundredth is a tie, as in `benchmarks.ruskey.dynamic`.
        rankdata(np.round([math.log(seconds[*key, name], 1.01) for name in RANKED]), method="min")
        for key in of_lerp
        if all((*key, name) in seconds for name in RANKED)
    ]
    for place, name in enumerate(RANKED if ranks else ()):
        yield reported(
            f"{name}_average_rank_of_{missions}",
            "RusKey, table 3",
            "rank among four by the time of whole sessions, from 1",
            mean_interval([float(rank[place]) for rank in ranks]),
            PAPER_RANK if name == LEARNED else None,
            **MODEL,
        )


def _ratio(totals: Totals, name: str, other: str, missions: int, source: str) -> Claim | None:
    """Returns the ratio of two controllers' times over the seeds of both; None without such a seed."""
    own, theirs = totals.get(name, {}), totals.get(other, {})
    ratios = [own[seed] / theirs[seed] for seed in sorted({*own} & {*theirs})]
    if not ratios:
        return None
    name = f"{name}_over_{other}_of_{missions}"
    return reported(name, source, "ratio of total time", ratio_interval(ratios), **MODEL)


def _write_figure(settings: Settings, totals_of: Mapping[int, Totals]) -> None:
    panels = []
    for missions, totals in totals_of.items():
        shares = {name: float(np.mean(list(own.values()))) / 3600 for name, own in totals.items()}
        order = sorted(shares, key=shares.__getitem__)
        bar = bars(f"{missions} missions", order, [shares[name] for name in order])
        panels.append(Panel(f"Sessions of {missions} missions", "controller", "hours of all sessions", [bar]))
    write_figure(settings, "What the agent adds", panels, columns=1)


if __name__ == "__main__":
    main(
        "ruskey.ablation",
        ablation,
        scale=1,
        quick_scale=1,
        extra={"missions": "200,400,1000", "repeats": 4, "costs": COSTS, "granularity": "files"},
    )
