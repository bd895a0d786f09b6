"""The model of one level: what it sees, what it may do, what it is paid (RusKey, section 5.1)."""

from collections import deque
from dataclasses import dataclass, field

import numpy as np

from rocktune.online.control.ddpg import DdpgAgent, DdpgSettings, Reals
from rocktune.online.control.mission import Mission

STATES = 7
_STEP_THRESHOLD = 1 / 3


class LearningDivergedError(ArithmeticError):
    """Weights have become infinite or no numbers, so that the agent is of no use any more."""

    def __init__(self, level: int) -> None:
        super().__init__(f"learning of level {level} has diverged")


@dataclass(frozen=True)
class LearnerSettings:
    """Hyper-parameters of a level's learner.

    Attributes:
        level_share: alpha, the weight of the level's own latency in the reward beside the end-to-end latency;
            RusKey's 1/2.
        sweeps: how often all policies are passed through before the actor decides, and when it rests where
            another policy was clearly better, so that the critic has seen them; at least 1.
        first_steps: of gradient descent after that.
        steps: of gradient descent after each mission.
        noise: deviation of the exploration noise at first, of an action from -1 to 1.
        least_noise: what it falls to.
        noise_missions: within which it falls to a third.
        window: missions during which policies have to stay together to count as settled.
        spread: how far apart they may be then.
        most_missions: after so many the best policy seen is taken, settled or not.
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
    most_missions: int = 300
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
        self._tried: list[tuple[Reals, Reals, float, Reals]] = []
        self._scale: tuple[float, float] | None = None
        self._costs_s: dict[int, list[float]] = {}

    def _begin_sweep(self) -> None:
        self._passes_left, self._direction, self._swept = self._settings.sweeps, 1, 0
        self._steps = 0
        self._wanted: deque[int] = deque(maxlen=self._settings.window)

    def learn(self, mission: Mission) -> int:
        """Learns from a mission, and returns the policy for the next one."""
        policy = mission.levels[self.level - 1].policy
        state, cost_s = self._state(mission), self._cost_s(mission)
        self.missions += 1
        self._costs_s.setdefault(policy, []).append(cost_s)
        if self._last is not None:
            self._remember(*self._last, cost_s, state)
        step = self._sweeping_step(policy, mission.size_ratio)
        if step is None:
            if self._scale is None:
                self._begin_to_learn()
            self.agent.learn(self._settings.steps)
            if not self.agent.is_finite():
                raise LearningDivergedError(self.level)
            step = self._step(state)
        wanted = min(mission.size_ratio, max(1, policy + step))
        # What was done, not what was wished: beyond the ends nothing is.
        self._last = state, np.array([wanted - policy], np.float32)
        self._wanted.append(wanted)
        if self._stays() and not self._is_among_the_best(int(np.median(self._wanted))):
            # It rests where others were better: it has to look at them again.
            self._begin_sweep()
        return wanted

    def forget(self) -> None:
        """Begins with a new agent, which has learned and tried nothing."""
        self.agent = DdpgAgent(STATES, 1, self._settings.ddpg, self._seed)
        self.restart()

    def settled(self) -> int | None:
        """Returns the policy that the level has settled on, None as long as it has not.

        Settled is who stays where it is, unless another policy was clearly better when it was tried.
        """
        if self._stays():
            return int(np.median(self._wanted))
        if self.missions >= self._settings.most_missions:
            return min(self._costs_s, key=lambda policy: float(np.mean(self._costs_s[policy])))
        return None

    def _stays(self) -> bool:
        long_enough = self._scale is not None and len(self._wanted) == self._settings.window
        return long_enough and max(self._wanted) - min(self._wanted) <= self._settings.spread

    def _is_among_the_best(self, policy: int) -> bool:
        own = self._costs_s.get(policy, [])
        if len(own) < 2:
            return False
        errors = {each: _standard_error(costs) for each, costs in self._costs_s.items() if len(costs) > 1}
        return all(
            np.mean(own) - np.mean(self._costs_s[other]) <= 2 * np.hypot(errors[policy], error)
            for other, error in errors.items()
        )

    def _cost_s(self, mission: Mission) -> float:
        share = self._settings.level_share
        return share * mission.level_latency_s(self.level) + (1 - share) * mission.latency_s

    def _remember(self, state: Reals, action: Reals, cost_s: float, then: Reals) -> None:
        """Keeps an experience; rewards have to wait until it is known what is much and what is little."""
        if self._scale is None:
            self._tried.append((state, action, cost_s, then))
        else:
            self.agent.replay.add(state, action, self._reward(cost_s), then, True)

    def _begin_to_learn(self) -> None:
        costs_s = [cost_s for _, _, cost_s, _ in self._tried]
        self._scale = float(np.mean(costs_s)), float(np.std(costs_s)) or 1.0
        for state, action, cost_s, then in self._tried:
            self.agent.replay.add(state, action, self._reward(cost_s), then, True)
        self._tried = []
        self.agent.learn(self._settings.first_steps)

    def _reward(self, cost_s: float) -> float:
        """Returns the negative of the latencies, in deviations of this workload's, which suit any device."""
        assert self._scale is not None
        mean_s, deviation_s = self._scale
        return float(np.clip((mean_s - cost_s) / deviation_s, -5, 5))

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


def _standard_error(values: list[float]) -> float:
    return float(np.std(values, ddof=1) / np.sqrt(len(values)))
