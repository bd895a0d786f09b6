"""A store that is only modelled: the simulated tree, and what operations cost on it.

RusKey's cost model (section 5.2, equation 5) with the tree as it stands instead of full levels.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from rocktune import _native
from rocktune.online.control.mission import LevelMission, Mission, Served
from rocktune.online.flsm.layout import STEERED_LEVEL0_RUNS, Filters, Transition, flsm_layout
from rocktune.online.flsm.shape import FlsmShape
from rocktune.online.flsm.simulator import FlsmSimulator
from rocktune.units import MIB

_PARTS = 8
"""Of a mission, between which lookups see the tree as it then is."""


@dataclass(frozen=True)
class StoreCosts:
    """What operations cost, all in seconds of a client.

    Attributes:
        lookup_s: of a lookup, whatever the tree looks like.
        probe_s: of asking a run's filter (c_r).
        read_s: of reading a run that the filter let pass (I_r).
        write_s: of a put, whatever the tree looks like.
        compaction_s_per_byte: that clients wait for each byte that compactions read or write.
        noise: standard deviation of the logarithm of what a mission takes.
    """

    lookup_s: float = 5e-6
    probe_s: float = 2e-7
    read_s: float = 1e-4
    write_s: float = 5e-6
    compaction_s_per_byte: float = 1e-8
    noise: float = 0.05


class ModelledStore:
    """Serves missions of uniform lookups and updates. What is random comes from the seed."""

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
        write_buffer_bytes: int = 2 * MIB,
        seed: int = 1,
    ) -> None:
        """Loads a tree.

        Args:
            costs: of operations.
            entries: that are loaded.
            entry_bytes: of each.
            absent: whether lookups look for keys that are not there.
            policies: see `FlsmStore`; likewise what follows.
            size_ratio: T.
            levels: at most so many.
            filters: how they share out their memory.
            bits_per_key: of filters, on average.
            write_buffer_bytes: what is flushed at a time.
            seed: decides the noise.

        Raises:
            UserError: something of it makes no sense.
        """
        self._costs, self._entry_bytes, self._absent = costs, entry_bytes, absent
        self._rng = np.random.default_rng(seed)
        self._tree = FlsmSimulator(
            policies=policies,
            size_ratio=size_ratio,
            levels=levels,
            level0_runs=STEERED_LEVEL0_RUNS,
            write_buffer_bytes=write_buffer_bytes,
        )
        self._tree.write(entries * entry_bytes)
        layout = flsm_layout(
            policies=policies, size_ratio=size_ratio, level1_bytes=0, levels=levels,
            filters=filters, bits_per_key=bits_per_key,
        )  # fmt: skip
        deepest = self.shape().levels_in_use
        rates = _native.flsm_false_positive_rates(layout, deepest)
        self._rates = np.array(rates + rates[-1:] * (levels - deepest))

    def shape(self) -> FlsmShape:
        """Returns what the tree looks like now."""
        return self._tree.shape()

    def set_policy(self, level: int, policy: int, transition: Transition = "flexible") -> None:
        """Changes a level's policy; see `FlsmStore.set_policy`."""
        self._tree.set_policy(level, policy, transition)

    def serve(self, operations: int, read_share: float) -> Mission:
        """Serves a mission of lookups and puts, and returns what it gave."""
        lookups = round(operations * read_share)
        writes = operations - lookups
        before = np.array(self._tree.level_bytes, float)
        passed, false_positive_read_s, read_s = (np.zeros(len(before)) for _ in range(3))
        for _ in range(_PARTS):
            self._tree.write(writes * self._entry_bytes // _PARTS)
            part_passed, part_vain_s, part_read_s = self._looked_up(lookups / _PARTS)
            passed, false_positive_read_s, read_s = (
                passed + part_passed,
                false_positive_read_s + part_vain_s,
                read_s + part_read_s,
            )
        moved = np.array(self._tree.level_bytes, float) - before
        # Of a level and of the whole alike: what disturbs the one disturbs the other. 1 on average.
        noise = self._costs.noise
        disturbed = float(np.exp(self._rng.normal(-noise * noise / 2, noise)))
        compaction_s = moved * self._costs.compaction_s_per_byte
        busy_s = (
            lookups * self._costs.lookup_s
            + writes * self._costs.write_s
            + float(read_s.sum() + compaction_s.sum())
        )
        return self._mission(
            lookups,
            writes,
            busy_s * disturbed,
            passed,
            false_positive_read_s * disturbed,
            read_s * disturbed,
            compaction_s * disturbed,
            moved,
        )

    def _looked_up(self, lookups: float) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Returns, by level, how many runs so many lookups read, how long that takes in vain and at all."""
        shape = self.shape()
        numbers = range(1, len(shape.levels) + 1)
        held = np.array([shape.held_bytes_of(number) for number in numbers], float)
        runs = np.array([shape.runs_of(number) for number in numbers], float)
        held, runs = (np.pad(values, (0, len(self._rates) - len(values))) for values in (held, runs))
        here = np.zeros(len(held)) if self._absent else held / max(1.0, held.sum())
        reached = 1.0 - np.concatenate([[0.0], np.cumsum(here)[:-1]])
        asked, found = lookups * reached * runs, lookups * here
        false_positive_read_s = asked * (self._costs.probe_s + self._rates * self._costs.read_s)
        return (
            asked * self._rates + found,
            false_positive_read_s,
            false_positive_read_s + found * self._costs.read_s,
        )

    def _mission(
        self,
        lookups: int,
        writes: int,
        busy_s: float,
        passed: np.ndarray,
        false_positive_read_s: np.ndarray,
        read_s: np.ndarray,
        compaction_s: np.ndarray,
        moved: np.ndarray,
    ) -> Mission:
        shape = self.shape()
        levels = tuple(
            LevelMission(
                policy=level.policy,
                runs=shape.runs_of(place + 1),
                filled=shape.held_bytes_of(place + 1) / level.capacity_bytes,
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
        quiet = Served(
            lookups + writes, busy_s - waited_s, float(passed.sum()), float(read_s.sum()), scanned=0.0
        )
        merging = Served(0.0, waited_s, 0.0, 0.0, 0.0)
        return Mission(lookups, 0, writes, busy_s, quiet, merging, shape.size_ratio, levels)
