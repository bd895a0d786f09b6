"""The model of one level: what it sees, what it may do, what it is paid (RusKey, section 5.1)."""

from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from rocktune.online.control.curve import cheapest_policy
from rocktune.online.control.ddpg import DdpgAgent, DdpgSettings, Reals
from rocktune.online.control.mission import Mission
from rocktune.online.control.prices import Prices

STATES = 7
_STEP_THRESHOLD = 1 / 3
_NORMAL = 1.4826
"""The standard deviation of normal numbers over the median of their deviations."""
_MOST_DEVIATIONS = 5.0
"""Of a latency: a merge of deep levels in a mission says nothing about its policy."""


@dataclass(frozen=True)
class Scale:
    """What is much and what is little of a latency, for a workload on a device.

    Attributes:
        middle_s: its median.
        deviation_s: its standard deviation, from the median of deviations, which a single merge of deep
            levels does not blow up; above 0.
    """

    middle_s: float
    deviation_s: float

    @classmethod
    def of(cls, latencies_s: Sequence[float]) -> "Scale":
        """Returns the scale of what was measured, at least one value."""
        middle_s = float(np.median(latencies_s))
        deviation_s = _NORMAL * float(np.median(np.abs(np.subtract(latencies_s, middle_s))))
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
        least_noise: what it falls to.
        noise_missions: within which it falls to a third.
        window: missions during which policies have to stay together to count as settled.
        spread: how far apart they may be then, and from the curve's minimum.
        most_missions: after so many the curve decides alone.
        ddpg: of the agent.
    """

    level_share: float = 0.5
    sweeps: int = 2
    first_steps: int = 200
    steps: int = 8
    noise: float = 0.6
    least_noise: float = 0.1
    noise_missions: int = 30
    window: int = 15
    spread: int = 2
    most_missions: int = 100
    ddpg: DdpgSettings = field(
        default_factory=lambda: DdpgSettings(discount=0.5, target_rate=0.02, capacity=4000)
    )


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

    def restart(self) -> None:
        """Explores anew, for another workload. What was learned and tried is kept."""
        self.missions = 0
        self._noise = 0.0
        self._begin_sweep()
        self._last: tuple[Reals, Reals] | None = None
        self._tried: list[tuple[Reals, Reals, Mission, Reals]] = []
        self._seen: deque[Mission] = deque(maxlen=self._settings.most_missions)
        self._scales: tuple[Prices, Scale, Scale] | None = None
        self._best: int | None = None

    def _begin_sweep(self) -> None:
        self._passes_left, self._direction, self._swept = self._settings.sweeps, 1, 0
        self._steps = 0
        self._wanted: deque[int] = deque(maxlen=self._settings.window)

    def learn(self, mission: Mission) -> int:
        """Learns from a mission, and returns the policy for the next one."""
        policy = mission.levels[self.level - 1].policy
        state = self._state(mission)
        self.missions += 1
        self._seen.append(mission)
        if self._last is not None:
            self._remember(*self._last, mission, state)
        step = self._sweeping_step(policy, mission.size_ratio)
        if step is None:
            if self._scales is None:
                self._begin_to_learn()
            self.agent.learn(self._settings.steps)
            if not self.agent.is_finite():
                raise LearningDivergedError(self.level)
            step = self._step(state)
        wanted = min(mission.size_ratio, max(1, policy + step))
        # What was done, not what was wished: beyond the ends nothing is.
        self._last = state, np.array([wanted - policy], np.float32)
        self._wanted.append(wanted)
        self._best = self._cheapest(mission.size_ratio)
        if self._stays() and not self._agrees():
            # It rests where others seem better: it has to look at them again.
            self._begin_sweep()
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
        if self.missions >= self._settings.most_missions or (self._stays() and self._agrees()):
            return self._best
        return None

    def _stays(self) -> bool:
        long_enough = self._scales is not None and len(self._wanted) == self._settings.window
        return long_enough and max(self._wanted) - min(self._wanted) <= self._settings.spread

    def _agrees(self) -> bool:
        rests_at = float(np.median(self._wanted))
        return self._best is not None and abs(rests_at - self._best) <= self._settings.spread

    def _cheapest(self, size_ratio: int) -> int | None:
        if self._scales is None:
            return None
        prices = Prices.of(self._seen)
        reads_s, merges_s = zip(*(self._costs_s(seen, prices) for seen in self._seen), strict=True)
        policies = [seen.levels[self.level - 1].policy for seen in self._seen]
        return cheapest_policy(policies, reads_s, merges_s, size_ratio)

    def _costs_s(self, seen: Mission, prices: Prices) -> tuple[float, float]:
        """Returns what the level's reads and its merges cost an operation."""
        place = self.level - 1
        return prices.levels_reads_s(seen)[place], prices.merges_s(seen, seen.levels[place])

    def _cost(self, seen: Mission) -> float:
        """Returns alpha t_i + (1 - alpha) t', each in its own deviations, which suit any device.

        In seconds the end-to-end latency, in which other levels' merges come and go, would drown the level's
        own.
        """
        assert self._scales is not None
        share = self._settings.level_share
        prices, own, whole = self._scales
        parts = own.deviations(sum(self._costs_s(seen, prices))), whole.deviations(seen.latency_s)
        level, latency = (float(np.clip(part, -_MOST_DEVIATIONS, _MOST_DEVIATIONS)) for part in parts)
        return share * level + (1 - share) * latency

    def _remember(self, state: Reals, action: Reals, seen: Mission, then: Reals) -> None:
        """Keeps an experience; rewards have to wait until it is known what is much and what is little."""
        if self._scales is None:
            self._tried.append((state, action, seen, then))
        else:
            self.agent.replay.add(state, action, -self._cost(seen), then, True)

    def _begin_to_learn(self) -> None:
        prices = Prices.of(self._seen)
        own = [sum(self._costs_s(seen, prices)) for seen in self._seen]
        self._scales = prices, Scale.of(own), Scale.of([seen.latency_s for seen in self._seen])
        for experience in self._tried:
            self._remember(*experience)
        self._tried = []
        self.agent.learn(self._settings.first_steps)

    def _sweeping_step(self, policy: int, size_ratio: int) -> int | None:
        """Returns the way up and down through all policies, None after it."""
        if not 1 <= policy + self._direction <= size_ratio:
            self._direction = -self._direction
            self._passes_left -= 1
        self._swept += 1
        # A store that does not do what it is asked to would never come to an end.
        if self._passes_left < 1 or self._swept > self._settings.sweeps * size_ratio:
            return None
        return self._direction

    def _step(self, state: Reals) -> int:
        settings = self._settings
        deviation = settings.noise * 3 ** (-self._steps / settings.noise_missions)
        deviation = max(settings.least_noise, deviation)
        self._steps += 1
        # An Ornstein-Uhlenbeck process of that deviation, as in DDPG: what wanders visits more policies.
        self._noise += -0.15 * self._noise + 0.53 * deviation * float(self._rng.normal())
        action = float(self.agent.act(state)[0]) + self._noise
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
