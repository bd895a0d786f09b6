"""A simulator of FLSM-trees without data: shows within seconds how policies shape a store of any size."""

import json
from collections.abc import Sequence
from copy import copy
from dataclasses import dataclass
from typing import Self

from rocktune import _native
from rocktune.errors import UserError
from rocktune.online.flsm.layout import Granularity, Transition, flsm_layout
from rocktune.online.flsm.shape import FlsmShape, flsm_shape_of
from rocktune.units import MIB, format_bytes

# As many as the simulator follows in some seconds; beyond it a caller would seem to hang.
_MAX_FLUSHES = 4_000_000


@dataclass(frozen=True)
class FlsmCourse:
    """The states of a simulated tree after each of several writes, by write and level.

    Attributes:
        held_bytes: bytes of all runs; level 1 includes level 0's files.
        runs: number of sorted runs; level 1 includes level 0's files.
        level_bytes: bytes read and written by all compactions into the level so far.
    """

    held_bytes: Sequence[Sequence[int]]
    runs: Sequence[Sequence[int]]
    level_bytes: Sequence[Sequence[int]]


class FlsmSimulator:
    """A simulated FLSM-tree with the policy of `FlsmStore` and compactions that take no time.

    Every key is new, and every run spreads its bytes evenly over the keys.

        tree = FlsmSimulator(policies="lazy")
        tree.write(100 << 40)
        print(tree.write_amplification, tree.shape().runs)
    """

    def __init__(
        self,
        *,
        policies: str | Sequence[int] = "aggressive",
        size_ratio: int = 10,
        level1_bytes: int = 0,
        levels: int = 6,
        granularity: Granularity = "levels",
        level0_runs: int = 10,
        write_buffer_bytes: int = 64 * MIB,
        file_bytes: int = 64 * MIB,
        moves: bool | None = None,
    ) -> None:
        """Creates an empty tree. `FlsmStore` explains the layout.

        Args:
            policies: preset, or K of each level from the first.
            size_ratio: T.
            level1_bytes: capacity of the first level in bytes; 0 for T write buffers.
            levels: maximum number of levels.
            granularity: what a push moves, "levels" or "files".
            level0_runs: number of files that may stay in level 0 as runs of level 1.
            write_buffer_bytes: bytes of one flush, above 0.
            file_bytes: bytes of one table, above 0; used only with granularity "files".
            moves: whether a run that goes to an empty slot is moved without being rewritten. None follows the
                linked RocksDB: 11.8 moves tables, 7.8 does not.

        Raises:
            UserError: an argument is out of its range.
        """
        self._write_buffer_bytes = write_buffer_bytes
        if write_buffer_bytes < 1 or file_bytes < 1:
            raise UserError("write_buffer_bytes and file_bytes must be above 0")
        layout = flsm_layout(
            policies=policies, size_ratio=size_ratio, level1_bytes=level1_bytes, levels=levels,
            granularity=granularity, level0_runs=level0_runs,
        )  # fmt: skip
        try:
            self._native = _native.FlsmSimulator(
                layout, write_buffer_bytes, file_bytes, _native.flsm_moves_tables if moves is None else moves
            )
        except ValueError as failure:
            raise UserError(f"layout: {failure}") from None

    def write(self, count: int) -> None:
        """Writes `count` bytes of new entries and runs all compactions that become due.

        Raises:
            UserError: the bytes make too many flushes to simulate.
        """
        self.check(count)
        self._native.write(count)

    def course(self, count: int, times: int) -> FlsmCourse:
        """Writes `count` bytes `times` times, and returns what the tree was after each.

        Much faster than as many calls of `write` and `shape`.

        Raises:
            UserError: the bytes make too many flushes to simulate.
        """
        self.check(count * times)
        return FlsmCourse(*self._native.course(count, times))

    def check(self, count: int) -> None:
        """Checks that `write` would accept `count` bytes, at once or in parts.

        Raises:
            UserError: the bytes make too many flushes to simulate.
        """
        if count // self._write_buffer_bytes > _MAX_FLUSHES:
            raise UserError(
                f"{format_bytes(count)} is more than {_MAX_FLUSHES:,} write buffers of "
                f"{format_bytes(self._write_buffer_bytes)}; write less, or use a larger write buffer"
            )

    def set_policy(self, level: int, policy: int, transition: Transition = "flexible") -> None:
        """Changes the policy of a level; see `FlsmStore.set_policy`.

        Raises:
            UserError: the level, policy or transition does not exist.
        """
        try:
            self._native.set_policy(level, policy, transition)
        except ValueError as failure:
            raise UserError(f"policy: {failure}") from None

    def copy(self) -> Self:
        """Returns a tree in the same state, which then goes its own way."""
        made = copy(self)
        made._native = self._native.copy()
        return made

    def shape(self) -> FlsmShape:
        """Returns the present shape of the tree."""
        return flsm_shape_of(json.loads(self._native.shape()))

    @property
    def user_bytes(self) -> int:
        """Bytes written to the tree by the user."""
        return self._native.user_bytes

    @property
    def read_bytes(self) -> int:
        """Bytes read by compactions."""
        return self._native.read_bytes

    @property
    def written_bytes(self) -> int:
        """Bytes written by flushes and compactions."""
        return self._native.written_bytes

    @property
    def level_bytes(self) -> tuple[int, ...]:
        """Bytes read and written by compactions into each level, from the first."""
        return tuple(self._native.level_bytes)

    @property
    def write_amplification(self) -> float:
        """Bytes written for each byte of the user, without the WAL; smaller is better, 0 in an empty tree."""
        return self.written_bytes / self.user_bytes if self.user_bytes else 0.0
