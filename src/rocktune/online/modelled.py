"""A modelled store: the simulated FLSM-tree with a cost for each kind of work.

Uses RusKey's cost model (section 5.2, equation 5), but with the present runs of the tree instead of full
levels.
"""

from collections.abc import Sequence
from copy import copy, deepcopy
from dataclasses import dataclass
from typing import Self

import numpy as np

from rocktune import _native
from rocktune.online.control.mission import LevelMission, Mission, Served
from rocktune.online.flsm.layout import LEVELWISE_LEVEL0_RUNS, Filters, Granularity, Transition, flsm_layout
from rocktune.online.flsm.shape import FlsmShape
from rocktune.online.flsm.simulator import FlsmSimulator
from rocktune.units import MIB

_PARTS = 8
"""Parts of a mission. Lookups see the tree at the end of each part, since writes change it all along."""


@dataclass(frozen=True)
class StoreCosts:
    """The costs of operations in seconds of a client's time.

    Attributes:
        lookup_s: fixed seconds of a lookup, apart from runs.
        probe_s: seconds of asking one run's filter (c_r).
        read_s: seconds of reading one run that its filter let pass (I_r).
        write_s: fixed seconds of a put.
        compaction_s_per_byte: seconds that clients wait for each byte that compactions read or write.
        noise: standard deviation of the logarithm of a mission's time; no unit.
    """

    lookup_s: float = 5e-6
    probe_s: float = 2e-7
    read_s: float = 1e-4
    write_s: float = 5e-6
    compaction_s_per_byte: float = 1e-8
    noise: float = 0.05


@dataclass(frozen=True, eq=False)
class FixedMissions:
    """The costs of missions during which no policy changed.

    Attributes:
        busy_s: seconds that clients spent in operations, by mission.
        level_s: seconds of reads of runs without the key and of compactions, by mission and level.
    """

    busy_s: np.ndarray
    level_s: np.ndarray


@dataclass(frozen=True, eq=False)
class _Work:
    """The work of missions: `busy_s` by mission, the others by mission and level; see `LevelMission`."""

    busy_s: np.ndarray
    reached: np.ndarray
    passed: np.ndarray
    false_positive_read_s: np.ndarray
    read_s: np.ndarray
    compaction_s: np.ndarray
    moved_bytes: np.ndarray


class ModelledStore:
    """A store that serves missions of uniform lookups and updates on a simulated tree, with seeded noise."""

    def __init__(
        self,
        costs: StoreCosts,
        *,
        entries: int,
        entry_bytes: int = 1024,
        absent: bool = False,
        policies: str | Sequence[int] = "aggressive",
        size_ratio: int = 10,
        levels: int = 6,
        filters: Filters = "uniform",
        bits_per_key: float = 8.0,
        granularity: Granularity = "levels",
        level0_runs: int = LEVELWISE_LEVEL0_RUNS,
        write_buffer_bytes: int = 2 * MIB,
        level1_bytes: int = 0,
        seed: int = 1,
    ) -> None:
        """Creates a store and loads its entries.

        Args:
            costs: costs of operations.
            entries: number of entries to load.
            entry_bytes: bytes of one entry.
            absent: whether lookups ask for keys that the store does not have.
            policies: preset, or K of each level; see `FlsmStore`.
            size_ratio: T.
            levels: maximum number of levels.
            filters: how Bloom filters share their memory among the levels.
            bits_per_key: mean bits of filters for each key.
            granularity: what a push moves, "levels" or "files" of 64 MiB.
            level0_runs: number of flushed files that may stay in level 0 as runs of level 1.
            write_buffer_bytes: bytes of one flush.
            level1_bytes: capacity of the first level in bytes; 0 for T write buffers.
            seed: seed of the noise.

        Raises:
            UserError: an argument is out of its range.
        """
        self._costs, self._entry_bytes, self._absent = costs, entry_bytes, absent
        self._rng = np.random.default_rng(seed)
        self._tree = FlsmSimulator(
            policies=policies,
            size_ratio=size_ratio,
            levels=levels,
            level1_bytes=level1_bytes,
            level0_runs=level0_runs,
            granularity=granularity,
            write_buffer_bytes=write_buffer_bytes,
        )
        self._tree.write(entries * entry_bytes)
        layout = flsm_layout(
            policies=policies, size_ratio=size_ratio, level1_bytes=level1_bytes, levels=levels,
            filters=filters, bits_per_key=bits_per_key,
        )  # fmt: skip
        deepest = self.shape().levels_in_use
        rates = _native.flsm_false_positive_rates(layout, deepest)
        # Levels that appear later get the rate of the deepest level that was loaded.
        self.false_positive_rates = np.array(rates + rates[-1:] * (levels - deepest))

    def shape(self) -> FlsmShape:
        """Returns the present shape of the tree."""
        return self._tree.shape()

    def set_policy(self, level: int, policy: int, transition: Transition = "flexible") -> None:
        """Changes the policy of a level; see `FlsmStore.set_policy`."""
        self._tree.set_policy(level, policy, transition)

    def serve(self, operations: int, read_share: float) -> Mission:
        """Serves a mission of lookups and puts, and returns its statistics.

        Args:
            operations: number of operations.
            read_share: share of lookups, from 0 to 1.
        """
        lookups = round(operations * read_share)
        work = self._work(lookups, operations - lookups, 1)
        return self._mission(
            lookups,
            operations - lookups,
            float(work.busy_s[0]),
            work.reached[0],
            work.passed[0],
            work.false_positive_read_s[0],
            work.read_s[0],
            work.compaction_s[0],
            work.moved_bytes[0],
        )

    def copy(self) -> Self:
        """Returns a store in the same state, with the same noise to come, which then goes its own way."""
        made = copy(self)
        made._tree, made._rng = self._tree.copy(), deepcopy(self._rng)
        return made

    def serve_fixed(self, operations: int, read_share: float, missions: int) -> FixedMissions:
        """Serves missions under the present policies, in a small part of the time that `serve` takes.

        Args:
            operations: number of operations of each mission.
            read_share: share of lookups, from 0 to 1.
            missions: number of missions.
        """
        lookups = round(operations * read_share)
        work = self._work(lookups, operations - lookups, missions)
        return FixedMissions(work.busy_s, work.false_positive_read_s + work.compaction_s)

    def _work(self, lookups: int, writes: int, missions: int) -> _Work:
        """Serves missions with so many lookups and writes each, and returns what they cost."""
        before = self._tree.level_bytes
        course = self._tree.course(writes * self._entry_bytes // _PARTS, _PARTS * missions)
        held, runs = (
            np.array(values, float).reshape(missions, _PARTS, -1)
            for values in (course.held_bytes, course.runs)
        )
        moved = np.diff(np.array([before, *course.level_bytes[_PARTS - 1 :: _PARTS]], float), axis=0)
        reached, passed, false_positive_read_s, read_s = self._looked_up(lookups / _PARTS, held, runs)
        compaction_s = moved * self._costs.compaction_s_per_byte
        fixed_s = lookups * self._costs.lookup_s + writes * self._costs.write_s
        # One factor for the levels and the whole, because the same disturbance slows both. Its mean is 1.
        noise = self._costs.noise
        factors = np.exp(self._rng.normal(-noise * noise / 2, noise, missions))
        by_level = factors[:, np.newaxis]
        return _Work(
            busy_s=(fixed_s + (read_s.sum(1) + compaction_s.sum(1))) * factors,
            reached=reached,
            passed=passed,
            false_positive_read_s=false_positive_read_s * by_level,
            read_s=read_s * by_level,
            compaction_s=compaction_s * by_level,
            moved_bytes=moved,
        )

    def _looked_up(self, lookups: float, held: np.ndarray, runs: np.ndarray) -> tuple[np.ndarray, ...]:
        """Returns lookups that reach a level, runs read, seconds on runs without the key, and on all.

        Args:
            lookups: lookups of each part of a mission.
            held: bytes by mission, part and level.
            runs: sorted runs by mission, part and level.

        Returns:
            Four arrays by mission and level.
        """
        # A lookup of a present key ends at the level that has it; a lookup of an absent key asks every run.
        here = np.zeros(held.shape) if self._absent else held / np.maximum(1.0, held.sum(2, keepdims=True))
        above = np.cumsum(here, axis=2)[:, :, :-1]
        reached = lookups * (1.0 - np.pad(above, ((0, 0), (0, 0), (1, 0))))
        # Runs of the level that has the key all count as asked, newest first or not: an upper bound, as in
        # equation 5.
        asked, found = reached * runs, lookups * here
        false_positive_read_s = asked * (self._costs.probe_s + self.false_positive_rates * self._costs.read_s)
        return (
            reached.sum(1),
            (asked * self.false_positive_rates + found).sum(1),
            false_positive_read_s.sum(1),
            (false_positive_read_s + found * self._costs.read_s).sum(1),
        )

    def _mission(
        self,
        lookups: int,
        writes: int,
        busy_s: float,
        reached: np.ndarray,
        passed: np.ndarray,
        false_positive_read_s: np.ndarray,
        read_s: np.ndarray,
        compaction_s: np.ndarray,
        moved: np.ndarray,
    ) -> Mission:
        """Returns the statistics of a mission from its costs by level."""
        shape = self.shape()
        levels = tuple(
            LevelMission(
                policy=level.policy,
                runs=shape.runs_of(place + 1),
                filled=shape.held_bytes_of(place + 1) / level.capacity_bytes,
                reached=float(reached[place]),
                passed=float(passed[place]),
                read_s=float(read_s[place]),
                false_positive_read_s=float(false_positive_read_s[place]),
                scanned=0.0,
                compaction_s=float(compaction_s[place]),
                compaction_bytes=float(moved[place]),
            )
            for place, level in enumerate(shape.levels[: shape.levels_in_use])
        )
        waited_s = float(compaction_s.sum())
        # The model has no clock for merges: their waiting time goes to `merging` as operations without
        # number, so that `Prices` charges exactly that time to their bytes.
        quiet = Served(
            lookups + writes, busy_s - waited_s, float(passed.sum()), float(read_s.sum()), scanned=0.0
        )
        merging = Served(0.0, waited_s, 0.0, 0.0, 0.0)
        flushed_bytes = float(writes * self._entry_bytes)
        return Mission(
            lookups, 0, writes, busy_s, quiet, merging, shape.size_ratio, levels, flushed_bytes, shape
        )
