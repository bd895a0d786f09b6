"""Modelled stores that differ in one action and have the same memory, with the best K in hindsight."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from benchmarks.flsm.shared import ENTRY_BYTES
from rocktune.online.control import Mission
from rocktune.online.modelled import ModelledStore, StoreCosts
from rocktune.units import MIB

LEVELS = 12
OPERATIONS = 50_000
STEP = 8
"""Missions that are served at once, since nothing is decided within a session."""
BITS = 8.0
BUFFERS = 2
"""Write buffers at a time."""
GRID = (1, 2, 3, 5, 7, 10, 16)
"""K from which hindsight chooses for each level, as far as T allows; T itself is always among them."""
FITS = 2
"""How often bits are fitted to runs, and then K to bits."""
LN2_SQUARED = float(np.log(2.0) ** 2)

Sessions = Sequence[tuple[float, int]]
"""Share of lookups and number of missions of each session."""


@dataclass(frozen=True)
class Candidate:
    """A fixed choice of one action.

    Attributes:
        action: name of the action.
        buffer_bytes: bytes of a write buffer.
        level1_bytes: capacity of level 1; 0 for T buffers.
        size_ratio: T.
        cache_bytes: bytes of block cache.
        fits_bits: whether each session has the bits per level that fit its runs.
    """

    action: str
    buffer_bytes: int = 2 * MIB
    level1_bytes: int = 0
    size_ratio: int = 10
    cache_bytes: int = 0
    fits_bits: bool = False

    @property
    def name(self) -> str:
        """The action and its value."""
        value = {
            "buffer": self.buffer_bytes // MIB,
            "flush": self.buffer_bytes // MIB,
            "level1": self.level1_bytes // MIB,
            "ratio": self.size_ratio,
            "cache": self.cache_bytes // MIB,
        }.get(self.action)
        return self.action if value is None else f"{self.action}_{value}"


K_ALONE = Candidate("k")
CANDIDATES = (
    K_ALONE,
    *(Candidate("buffer", buffer_bytes=size * MIB) for size in (4, 8, 16)),
    *(Candidate("flush", buffer_bytes=size * MIB, level1_bytes=20 * MIB) for size in (4, 8, 16)),
    *(Candidate("level1", level1_bytes=size * MIB) for size in (40, 80, 160)),
    *(Candidate("ratio", size_ratio=ratio) for ratio in (4, 6, 16)),
    Candidate("bits", fits_bits=True),
    Candidate("cache", cache_bytes=8 * MIB),
)


@dataclass(frozen=True)
class Row:
    """The time of one candidate in one session.

    Attributes:
        entries: number of entries that were loaded.
        seed: seed of the sessions' order.
        missions: missions of a session.
        candidate: name of the candidate.
        session: index of the session, from 0.
        read_share: share of lookups.
        bits_per_key: mean bits of a key of full levels.
        policies: K of each level in use at the end, in hindsight.
        seconds: time of the session; smaller is better.
    """

    entries: int
    seed: int
    missions: int
    candidate: str
    session: int
    read_share: float
    bits_per_key: float
    policies: str
    seconds: float


@dataclass(frozen=True)
class Stores:
    """Modelled stores for one order of sessions, all with the same memory.

    Attributes:
        costs: costs of operations, without noise.
        entries: number of entries that are loaded.
        sessions: the sessions.
    """

    costs: StoreCosts
    entries: int
    sessions: Sessions

    def hindsight(self, candidate: Candidate, seed: int) -> list[Row]:
        """Returns the sessions of a candidate under the best K by level and session.

        Each session begins with the tree that the best of the session before has left.
        """
        bits = self.bits_of(candidate)
        grid = sorted({policy for policy in GRID if policy <= candidate.size_ratio} | {candidate.size_ratio})
        store = self.store(candidate, bits)
        rows = []
        for number, session in enumerate(self.sessions):
            policies = best_policies(store, session, grid)
            for _ in range(FITS if candidate.fits_bits else 0):
                runs, held = _shape_means(_served(store.copy(), session, policies))
                store.false_positive_rates = fitted_rates(runs, held, self.wanted_bits(candidate))
                policies = best_policies(store, session, grid)
            missions = _served(store, session, policies)
            used = " ".join(str(level.policy) for level in missions[-1].levels)
            own_s = sum(mission.busy_s for mission in missions)
            share, count = session
            rows.append(
                Row(
                    self.entries,
                    seed,
                    count,
                    candidate.name,
                    number,
                    share,
                    round(bits, 3),
                    used,
                    round(own_s, 2),
                )
            )
        return rows

    def store(self, candidate: Candidate, bits_per_key: float) -> ModelledStore:
        """Returns a loaded store."""
        missed = 1 - candidate.cache_bytes / (self.entries * ENTRY_BYTES)
        return ModelledStore(
            replace(self.costs, read_s=self.costs.read_s * missed),
            entries=self.entries,
            entry_bytes=ENTRY_BYTES,
            absent=True,
            size_ratio=candidate.size_ratio,
            levels=LEVELS,
            filters="monkey",
            bits_per_key=bits_per_key,
            write_buffer_bytes=candidate.buffer_bytes,
            level1_bytes=candidate.level1_bytes,
        )

    def wanted_bits(self, candidate: Candidate) -> float:
        """Returns the bits of an entry that buffers and cache leave for filters."""
        further = BUFFERS * (candidate.buffer_bytes - K_ALONE.buffer_bytes) + candidate.cache_bytes
        return BITS - 8 * further / self.entries

    def bits_of(self, candidate: Candidate) -> float:
        """Returns the `bits_per_key` with which an entry has the wanted bits in the mean of the sessions."""
        # One bit more for a key of full levels is one bit more for each entry.
        return BITS + self.wanted_bits(candidate) - mean_bits(self.store(candidate, BITS), self.sessions)


def _served(store: ModelledStore, session: tuple[float, int], policies: Sequence[int]) -> list[Mission]:
    """Serves a session under the policies and returns its steps."""
    for level, policy in enumerate(policies, 1):
        store.set_policy(level, policy)
    share, missions = session
    return [store.serve(STEP * OPERATIONS, share) for _ in range(missions // STEP)]


def best_policies(store: ModelledStore, session: tuple[float, int], grid: Sequence[int]) -> list[int]:
    """Returns K of each level with the least cost of its runs and merges in a session.

    A level is pushed when it is full, whatever its policy, so the levels' costs add up: one drive for each K
    of the grid tells the best of all combinations.
    """
    costs = np.zeros((len(grid), LEVELS))
    for place, policy in enumerate(grid):
        for mission in _served(store.copy(), session, [policy] * LEVELS):
            for number, level in enumerate(mission.levels):
                costs[place, number] += level.false_positive_read_s + level.compaction_s
    return [grid[place] for place in np.argmin(costs, axis=0)]


def _shape_means(missions: Sequence[Mission]) -> tuple[np.ndarray, np.ndarray]:
    """Returns the means of runs and bytes by level over the ends of missions."""
    runs, held = np.zeros((2, LEVELS))
    for mission in missions:
        assert mission.shape is not None
        for number, level in enumerate(mission.shape.levels):
            runs[number] += len(level.run_bytes) / len(missions)
            held[number] += level.held_bytes / len(missions)
    return runs, held


def mean_bits(store: ModelledStore, sessions: Sessions) -> float:
    """Returns the mean bits of an entry over the sessions; K changes nothing about it."""
    bits = -np.log(store.false_positive_rates) / LN2_SQUARED
    means = []
    for session in sessions:
        for mission in _served(store, session, [1] * LEVELS):
            _, held = _shape_means([mission])
            means.append(held @ bits / held.sum())
    return float(np.mean(means))


def fitted_rates(runs: np.ndarray, held: np.ndarray, bits: float) -> np.ndarray:
    """Returns the false-positive rates by level with the fewest vain reads.

    Args:
        runs: mean number of runs by level.
        held: bytes by level.
        bits: mean bits of an entry.

    The vain reads of a level are runs x rate, and its filters are bytes x ln(1 / rate). So the best rates are
    in proportion to bytes over runs, and at most 1.
    """
    share = np.where(held > 0, held, 0.0) / np.maximum(runs, 1e-9)
    low, high = 0.0, 1.0 / share[share > 0].min()
    for _ in range(100):
        middle = (low + high) / 2
        rates = np.clip(middle * share, 1e-12, 1.0)
        used = -(held @ np.log(rates)) / LN2_SQUARED / held.sum()
        low, high = (middle, high) if used > bits else (low, middle)
    return np.asarray(np.clip(high * share, 1e-12, 1.0))
