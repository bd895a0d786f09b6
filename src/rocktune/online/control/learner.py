"""The model of one level: what it sees, what it may do, what it is paid (RusKey, section 5.1)."""

from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
from scipy.stats import median_abs_deviation

from rocktune.online.control.curve import Tried, cheapest_policy
from rocktune.online.control.ddpg import DdpgAgent, DdpgSettings, Reals
from rocktune.online.control.mission import Mission
from rocktune.online.control.prices import Prices

STATES = 7
_STEP_THRESHOLD = 1 / 3
_MAX_DEVIATIONS = 5.0
"""Of a latency: a merge of deep levels in a mission says nothing about its policy."""


@dataclass(frozen=True)
class LatencyScale:
    """What is much and what is little of a latency, for a workload on a device.

    Attributes:
        middle_s: its median.
        deviation_s: its standard deviation, from the median of deviations, which a single merge of deep
            levels does not blow up; above 0.
    """

    middle_s: float
    deviation_s: float

    @classmethod
    def of(cls, latencies_s: Sequence[float]) -> "LatencyScale":
        """Returns the scale of what was measured, at least one value."""
        middle_s = float(np.median(latencies_s))
        deviation_s = float(median_abs_deviation(latencies_s, scale="normal"))
        return cls(middle_s, deviation_s or middle_s or 1.0)

    def deviations(self, latency_s: float) -> float:
        """Returns how far a latency is from the middle, in deviations; without a unit."""
        return (latency_s - self.middle_s) / self.deviation_s


class LearningDivergedError(ArithmeticError):
    """Weights have become infinite or no numbers, so that the agent is of no use any more."""

    def __init__(self, level: int) -> None:
        super().__init__(f"learning of level {level} has diverged")


@dataclass(frozen=True)
class LearnerSettings:
    """Hyper-parameters of a level's learner.

    Attributes:
        level_share: alpha, the weight of the level's own cost in the reward beside the end-to-end latency;
            RusKey's 1/2.
        sweeps: how often all policies are passed through before the actor decides, and when it rests where
            the curve through all missions does not have its minimum; at least 1.
        first_steps: of gradient descent after that.
        steps: of gradient descent after each mission.
        noise: deviation of the exploration noise at first, of an action from -1 to 1.
        min_noise: what it falls to.
        noise_missions: within which it falls to a third.
        window: missions during which policies have to stay together to count as settled.
        spread: how far apart they may be then, and from the curve's minimum.
        max_missions: after so many the curve decides alone.
        ddpg: of the agent.
    """

    level_share: float = 0.5
    sweeps: int = 2
    first_steps: int = 200
    steps: int = 8
    noise: float = 0.6
    min_noise: float = 0.1
    noise_missions: int = 30
    window: int = 15
    spread: int = 2
    max_missions: int = 100
    ddpg: DdpgSettings = field(
        default_factory=lambda: DdpgSettings(discount=0.5, target_rate=0.02, capacity=4000)
    )


@dataclass
class Pursuit:
    """How far the search for a workload's policy has come.

    Attributes:
        seen: its last missions, as many as the learner takes in.
        wanted: policies of the last missions, as many as tell whether it stays.
        passes_left: of those through all policies.
        direction: of the pass that there is, 1 or -1.
        swept: steps of all its passes.
        missions: of the workload.
        steps: of the actor, since it decides.
        noise: that was added to its last action.
        last: state and action, whose outcome is not known yet.
        tried: experiences that wait until it is known what is much and what is little.
        scales: what that is, and what clients pay; None as long as it is not known.
        best: where the curve through all missions has its minimum.
    """

    seen: deque[Mission]
    wanted: deque[int]
    passes_left: int
    direction: int = 1
    swept: int = 0
    missions: int = 0
    steps: int = 0
    noise: float = 0.0
    last: tuple[Reals, Reals] | None = None
    tried: list[tuple[Reals, Reals, Mission, Reals]] = field(default_factory=list)
    scales: tuple[Prices, LatencyScale, LatencyScale] | None = None
    best: int | None = None

    @classmethod
    def begun(cls, settings: LearnerSettings) -> "Pursuit":
        """Returns one that knows nothing."""
        return cls(
            deque(maxlen=settings.max_missions), deque(maxlen=settings.window), passes_left=settings.sweeps
        )

    def pass_again(self, passes: int) -> None:
        """Begins to go through all policies once more."""
        self.passes_left, self.direction, self.swept, self.steps = passes, 1, 0, 0
        self.wanted.clear()


class LevelLearner:
    """Learns the policy of one level for the workload that there is."""

    def __init__(self, level: int, settings: LearnerSettings, seed: int) -> None:
        """Knows nothing yet; the level counts from 1."""
        self.level = level
        self._settings = settings
        self._seed = seed
        self.agent = DdpgAgent(STATES, 1, settings.ddpg, seed)
        self._rng = np.random.default_rng(seed)
        self.restart()

    def restart(self, pursuit: Pursuit | None = None) -> None:
        """Explores for another workload, anew or from where a pursuit was left. What was learned is kept."""
        self.pursuit = pursuit or Pursuit.begun(self._settings)
        # What was done before it was left had its outcome under another workload.
        self.pursuit.last = None

    def learn(self, mission: Mission) -> int:
        """Learns from a mission, and returns the policy for the next one."""
        at = self.pursuit
        policy = mission.levels[self.level - 1].policy
        state = self._state(mission)
        at.missions += 1
        at.seen.append(mission)
        if at.last is not None:
            self._remember(*at.last, mission, state)
        step = self._sweeping_step(policy, mission.size_ratio)
        if step is None:
            if at.scales is None:
                self._begin_to_learn()
            self.agent.learn(self._settings.steps)
            if not self.agent.is_finite():
                raise LearningDivergedError(self.level)
            step = self._step(state)
        wanted = min(mission.size_ratio, max(1, policy + step))
        # What was done, not what was wished: beyond the ends nothing is.
        at.last = state, np.array([wanted - policy], np.float32)
        at.wanted.append(wanted)
        at.best = self._cheapest(mission.size_ratio)
        if self._stays() and not self._agrees():
            # It rests where others seem better: it has to look at them again.
            at.pass_again(self._settings.sweeps)
        return wanted

    def forget(self) -> None:
        """Begins with a new agent, which has learned and tried nothing."""
        self.agent = DdpgAgent(STATES, 1, self._settings.ddpg, self._seed)
        self.restart()

    def settled(self) -> int | None:
        """Returns the policy that the level has settled on, None as long as it has not.

        It has when the actor stays about where the curve through all missions has its minimum, which of the
        two is the more exact; or when it has had its time.
        """
        at = self.pursuit
        if at.missions >= self._settings.max_missions or (self._stays() and self._agrees()):
            return at.best
        return None

    def _stays(self) -> bool:
        at = self.pursuit
        long_enough = at.scales is not None and len(at.wanted) == self._settings.window
        return long_enough and max(at.wanted) - min(at.wanted) <= self._settings.spread

    def _agrees(self) -> bool:
        at = self.pursuit
        rests_at = float(np.median(at.wanted))
        return at.best is not None and abs(rests_at - at.best) <= self._settings.spread

    def _cheapest(self, size_ratio: int) -> int | None:
        at = self.pursuit
        if at.scales is None:
            return None
        prices = Prices.of(at.seen)
        return cheapest_policy([self._tried(seen, prices) for seen in at.seen], size_ratio)

    def _tried(self, seen: Mission, prices: Prices) -> Tried:
        level = seen.levels[self.level - 1]
        return Tried(
            level.policy, level.runs, prices.false_positive_read_s(seen, level), prices.merges_s(seen, level)
        )

    def _level_s(self, seen: Mission, prices: Prices) -> float:
        """Returns what the level costs an operation: t_i."""
        level = seen.levels[self.level - 1]
        return prices.reads_s(seen, level) + prices.merges_s(seen, level)

    def _cost(self, seen: Mission) -> float:
        """Returns alpha t_i + (1 - alpha) t', each in its own deviations, which suit any device.

        In seconds the end-to-end latency, in which other levels' merges come and go, would drown the level's
        own.
        """
        at = self.pursuit
        assert at.scales is not None
        share = self._settings.level_share
        prices, own, whole = at.scales
        parts = own.deviations(self._level_s(seen, prices)), whole.deviations(seen.latency_s)
        level, latency = (float(np.clip(part, -_MAX_DEVIATIONS, _MAX_DEVIATIONS)) for part in parts)
        return share * level + (1 - share) * latency

    def _remember(self, state: Reals, action: Reals, seen: Mission, then: Reals) -> None:
        """Keeps an experience; rewards have to wait until it is known what is much and what is little."""
        at = self.pursuit
        if at.scales is None:
            at.tried.append((state, action, seen, then))
        else:
            self.agent.replay.add(state, action, -self._cost(seen), then, True)

    def _begin_to_learn(self) -> None:
        at = self.pursuit
        prices = Prices.of(at.seen)
        own = [self._level_s(seen, prices) for seen in at.seen]
        at.scales = prices, LatencyScale.of(own), LatencyScale.of([seen.latency_s for seen in at.seen])
        for experience in at.tried:
            self._remember(*experience)
        at.tried = []
        self.agent.learn(self._settings.first_steps)

    def _sweeping_step(self, policy: int, size_ratio: int) -> int | None:
        """Returns the way up and down through all policies, None after it."""
        at = self.pursuit
        if not 1 <= policy + at.direction <= size_ratio:
            at.direction = -at.direction
            at.passes_left -= 1
        at.swept += 1
        # A store that does not do what it is asked to would never come to an end.
        if at.passes_left < 1 or at.swept > self._settings.sweeps * size_ratio:
            return None
        return at.direction

    def _step(self, state: Reals) -> int:
        at = self.pursuit
        settings = self._settings
        deviation = settings.noise * 3 ** (-at.steps / settings.noise_missions)
        deviation = max(settings.min_noise, deviation)
        at.steps += 1
        # An Ornstein-Uhlenbeck process of that deviation, as in DDPG: what wanders visits more policies.
        at.noise += -0.15 * at.noise + 0.53 * deviation * float(self._rng.normal())
        action = float(self.agent.act(state)[0]) + at.noise
        return int(action > _STEP_THRESHOLD) - int(action < -_STEP_THRESHOLD)

    def _state(self, mission: Mission) -> Reals:
        level, ratio = mission.levels[self.level - 1], mission.size_ratio
        return np.array(
            [
                2 * level.policy / ratio - 1,
                2 * min(2.0, level.runs / ratio) - 1,
                2 * min(1.5, level.filled) - 1,
                2 * mission.read_share - 1,
                2 * mission.scans / mission.operations - 1,
                np.tanh(level.passed / mission.operations),
                np.tanh(level.compaction_s / max(1e-9, mission.busy_s)),
            ],
            np.float32,
        )
