"""The actor-critic of one level: its states, actions and rewards (RusKey, section 5.1)."""

from collections import deque
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray
from scipy.stats import median_abs_deviation

from rocktune.online.control.ddpg import DdpgAgent, DdpgSettings, Reals
from rocktune.online.control.levelwise import LearningDivergedError
from rocktune.online.control.mission import Mission
from rocktune.online.control.passes import Passes
from rocktune.online.control.prices import Prices

STATES = 7
# RusKey's actor chooses among -1, 0 and 1 (section 5.1); these thresholds cut tanh's range into three equal
# parts.
_STEP_THRESHOLD = 1 / 3
_MAX_DEVIATIONS = 5.0
"""Bound of a latency in the reward: merges of deep levels multiply latency, whatever the level's policy."""


@dataclass(frozen=True)
class LatencyScale:
    """The scale on which latencies of one workload and device are compared.

    Attributes:
        middle_s: median latency in seconds.
        deviation_s: standard deviation in seconds, above 0. It is estimated from the median of deviations, so
            that one merge of deep levels does not inflate it.
    """

    middle_s: float
    deviation_s: float

    @classmethod
    def of(cls, latencies_s: Sequence[float]) -> "LatencyScale":
        """Returns the scale of measured latencies, at least one."""
        middle_s = float(np.median(latencies_s))
        deviation_s = float(median_abs_deviation(latencies_s, scale="normal"))
        # Equal latencies have no deviation, and it is a divisor.
        return cls(middle_s, deviation_s or middle_s or 1.0)

    def deviations(self, latency_s: float) -> float:
        """Returns the distance of a latency from the median, in deviations."""
        return (latency_s - self.middle_s) / self.deviation_s


@dataclass(frozen=True)
class ActorSettings:
    """The hyper-parameters of a level's actor.

    Attributes:
        level_share: alpha, the weight of the level's own cost in the reward; the rest is the end-to-end
            latency. RusKey has 1/2.
        passes: number of passes over all K before the actor takes over, at least 1.
        first_steps: steps of gradient descent when the actor takes over.
        steps: steps of gradient descent after each later mission.
        noise: first standard deviation of the exploration noise, on actions from -1 to 1.
        min_noise: least standard deviation of the noise.
        noise_missions: missions in which the noise falls to a third.
        window: number of missions in which K must stay within `spread` to count as settled.
        spread: largest difference between these K.
        max_missions: number of missions after which a level settles even if K does not stay.
        ddpg: hyper-parameters of the agent.
    """

    level_share: float = 0.5
    passes: int = 2
    first_steps: int = 200
    steps: int = 8
    noise: float = 0.6
    min_noise: float = 0.1
    noise_missions: int = 100
    window: int = 15
    spread: int = 2
    max_missions: int = 600
    ddpg: DdpgSettings = field(
        default_factory=lambda: DdpgSettings(discount=0.5, target_rate=0.02, capacity=4000)
    )


@dataclass
class Pursuit:
    """The state of an actor's search for the policy of one workload.

    Attributes:
        passes: passes over all K.
        wanted: policies asked for in the last missions, at most `ActorSettings.window`.
        missions: number of missions of the workload.
        steps: number of the actor's steps since it took over.
        noise: exploration noise of its last action.
        last: state and action whose outcome the next mission shows; None at first.
        seen: missions of the passes.
        tried: experiences that wait for `scales` to get a reward: state, action, mission and next state.
        scales: prices, and scales of the level's cost and of the latency; None until the passes are done.
    """

    passes: Passes
    wanted: deque[int]
    missions: int = 0
    steps: int = 0
    noise: float = 0.0
    last: tuple[Reals, Reals] | None = None
    seen: list[Mission] = field(default_factory=list)
    tried: list[tuple[Reals, Reals, Mission, Reals]] = field(default_factory=list)
    scales: tuple[Prices, LatencyScale, LatencyScale] | None = None

    @classmethod
    def begun(cls, settings: ActorSettings) -> "Pursuit":
        """Returns the state at the beginning of a search."""
        return cls(Passes.begun(settings.passes), deque(maxlen=settings.window))


class LevelActor:
    """A DDPG agent that finds the policy of one level; a `LevelLearner` (RusKey, section 5.1)."""

    def __init__(self, level: int, settings: ActorSettings, seed: int) -> None:
        """Creates an actor that has learned nothing.

        Args:
            level: level to learn, from 1.
            settings: hyper-parameters.
            seed: seed of the agent and of the exploration noise.
        """
        self.level = level
        self._settings = settings
        self._seed = seed
        self.agent = DdpgAgent(STATES, 1, settings.ddpg, seed)
        self._rng = np.random.default_rng(seed)
        self.restart()

    def restart(self, pursuit: Pursuit | None = None) -> None:
        """Starts the search for another workload, or continues one. The agent keeps its weights.

        Args:
            pursuit: state of the search to continue; None starts a new one.
        """
        self.pursuit = pursuit or Pursuit.begun(self._settings)
        # The outcome of its last action was measured under another workload.
        self.pursuit.last = None

    def learn(self, mission: Mission) -> int:
        """Learns from a mission and returns the K for the next one.

        Raises:
            LearningDivergedError: the agent's weights are no longer finite.
        """
        at = self.pursuit
        policy = mission.levels[self.level - 1].policy
        state = self._state(mission)
        at.missions += 1
        if at.scales is None:
            at.seen.append(mission)
        if at.last is not None:
            self._remember(*at.last, mission, state)
        step = at.passes.step(policy, mission.size_ratio)
        if step is None:
            if at.scales is None:
                self._begin_to_learn()
            self.agent.learn(self._settings.steps)
            if not self.agent.is_finite():
                self.agent = DdpgAgent(STATES, 1, self._settings.ddpg, self._seed)
                self.restart()
                raise LearningDivergedError(self.level)
            step = self._step(state)
        wanted = min(mission.size_ratio, max(1, policy + step))
        # The effective step, not the wanted one: at K = 1 and K = T a step beyond does nothing, and the
        # critic must not learn that it does.
        at.last = state, np.array([wanted - policy], np.float32)
        at.wanted.append(wanted)
        return wanted

    def settled(self) -> int | None:
        """Returns the K that the actor has settled on, None before that.

        The actor settles when its exploration has died away and K stays within `spread`, or after
        `max_missions`. Its K is then the median of the last ones: the actor's own choice, whatever the
        critic or a cost model would say.
        """
        at, settings = self.pursuit, self._settings
        if at.missions < settings.max_missions and not self._stays():
            return None
        return round(float(np.median(at.wanted)))

    def arrays(self) -> dict[str, NDArray[np.generic]]:
        """Returns weights and experiences of the agent."""
        return self.agent.arrays()

    def restore(self, arrays: Mapping[str, NDArray[np.generic]]) -> None:
        """Restores an agent; see `LevelLearner.restore`."""
        self.agent.restore(arrays)

    def _stays(self) -> bool:
        """Returns whether the actor's last K are within `spread` of each other, without much noise."""
        at, settings = self.pursuit, self._settings
        explored = (
            at.steps >= settings.window and self._deviation(at.steps - settings.window) <= settings.min_noise
        )
        return explored and max(at.wanted) - min(at.wanted) <= settings.spread

    def _level_s(self, seen: Mission, prices: Prices) -> float:
        """Returns t_i of section 5.1: the level's cost in seconds per operation."""
        level = seen.levels[self.level - 1]
        return prices.reads_s(seen, level) + prices.merges_s(seen, level)

    def _cost(self, seen: Mission) -> float:
        """Returns the negative reward of section 5.1: alpha t_i + (1 - alpha) t'.

        Each time is measured in deviations of its own scale, so the weights suit any device. In seconds, t'
        would drown t_i, because the merges of all levels come and go in it.
        """
        at = self.pursuit
        assert at.scales is not None
        share = self._settings.level_share
        prices, own, whole = at.scales
        parts = own.deviations(self._level_s(seen, prices)), whole.deviations(seen.latency_s)
        level, latency = (float(np.clip(part, -_MAX_DEVIATIONS, _MAX_DEVIATIONS)) for part in parts)
        return share * level + (1 - share) * latency

    def _remember(self, state: Reals, action: Reals, seen: Mission, then: Reals) -> None:
        """Adds an experience to the replay buffer.

        Before rewards can be computed it keeps the experience in `Pursuit.tried` instead.
        """
        at = self.pursuit
        if at.scales is None:
            at.tried.append((state, action, seen, then))
        else:
            # A store serves without end, so no experience is the last of an episode.
            self.agent.replay.add(state, action, -self._cost(seen), then, True)

    def _begin_to_learn(self) -> None:
        """Prepares the actor's first step, after the passes.

        It fixes prices and scales, gives the waiting experiences their rewards, and learns from them.
        """
        at = self.pursuit
        prices = Prices.of(at.seen)
        own = [self._level_s(seen, prices) for seen in at.seen]
        # Fixed for the whole search: a scale that moved would change the meaning of rewards already in the
        # buffer.
        at.scales = prices, LatencyScale.of(own), LatencyScale.of([seen.latency_s for seen in at.seen])
        for experience in at.tried:
            self._remember(*experience)
        at.tried, at.seen = [], []
        self.agent.learn(self._settings.first_steps)

    def _deviation(self, steps: int) -> float:
        """Returns the standard deviation of the noise after so many of the actor's steps."""
        settings = self._settings
        return max(settings.min_noise, settings.noise * 3 ** (-steps / settings.noise_missions))

    def _step(self, state: Reals) -> int:
        """Returns the actor's step with exploration noise: -1, 0 or 1."""
        at = self.pursuit
        deviation = self._deviation(at.steps)
        at.steps += 1
        # An Ornstein-Uhlenbeck process (DDPG, section 7) with theta 0.15. The factor 0.53 = sqrt(1 - 0.85²)
        # makes its standard deviation equal `deviation`. Correlated noise wanders over more K than
        # independent steps.
        at.noise += -0.15 * at.noise + 0.53 * deviation * float(self._rng.normal())
        # Our own noise instead of the agent's, which is independent from step to step.
        action = float(self.agent.act(state)[0]) + at.noise
        return int(action > _STEP_THRESHOLD) - int(action < -_STEP_THRESHOLD)

    def _state(self, mission: Mission) -> Reals:
        """Returns the state of section 5.1: seven numbers without a unit, each about -1 to 1."""
        level, ratio = mission.levels[self.level - 1], mission.size_ratio
        return np.array(
            [
                2 * level.policy / ratio - 1,
                2 * min(2.0, level.runs / ratio) - 1,
                2 * min(1.5, level.filled) - 1,
                2 * mission.read_share - 1,
                2 * mission.scans / mission.operations - 1,
                # Both ratios have no upper bound; tanh keeps their order and bounds them.
                np.tanh(level.passed / mission.operations),
                np.tanh(level.compaction_s / max(1e-9, mission.busy_s)),
            ],
            np.float32,
        )
