"""An FLSM-tree without data: what policies make of a store of any size, in seconds."""

import json
from collections.abc import Sequence

from rocktune import _native
from rocktune.errors import UserError
from rocktune.online.flsm.layout import Granularity, Transition, flsm_layout
from rocktune.online.flsm.shape import FlsmShape, flsm_shape_of
from rocktune.units import MIB, format_bytes

_MAX_FLUSHES = 4_000_000


class FlsmSimulator:
    """Follows the policy of `FlsmStore` with compactions that take no time.

    Keys are never written twice, and every run spreads its bytes evenly over them.

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
        """Creates an empty tree; see `FlsmStore` for the layout.

        Args:
            policies: see there; likewise what follows.
            size_ratio: T.
            level1_bytes: capacity of the first level; 0 for T write buffers.
            levels: at most so many.
            granularity: "levels" or "files".
            level0_runs: files that may lie in level 0 as runs of level 1.
            write_buffer_bytes: what is flushed at a time, above 0.
            file_bytes: size of a table, above 0; matters with files alone.
            moves: whether a run that goes to an empty place is not written anew; None for what the linked
                RocksDB does: 11.8 moves tables, 7.8 does not.

        Raises:
            UserError: something of it makes no sense.
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
        """Writes so many bytes of new entries, and does all compactions that are then due.

        Raises:
            UserError: there would be more flushes than can be followed in seconds.
        """
        self.check(count)
        self._native.write(count)

    def check(self, count: int) -> None:
        """Refuses to write so many bytes, in one go or in parts, where `write` would.

        Raises:
            UserError: see `write`.
        """
        if count // self._write_buffer_bytes > _MAX_FLUSHES:
            raise UserError(
                f"{format_bytes(count)} are more than {_MAX_FLUSHES:,} write buffers of "
                f"{format_bytes(self._write_buffer_bytes)}; write less, or take a larger buffer"
            )

    def set_policy(self, level: int, policy: int, transition: Transition = "flexible") -> None:
        """Changes a level's policy; see `FlsmStore.set_policy`.

        Raises:
            UserError: there is no such level, policy or transition.
        """
        try:
            self._native.set_policy(level, policy, transition)
        except ValueError as failure:
            raise UserError(f"policy: {failure}") from None

    def shape(self) -> FlsmShape:
        """Returns what the tree looks like now."""
        return flsm_shape_of(json.loads(self._native.shape()))

    @property
    def user_bytes(self) -> int:
        """What was written to the tree."""
        return self._native.user_bytes

    @property
    def read_bytes(self) -> int:
        """What compactions have read."""
        return self._native.read_bytes

    @property
    def written_bytes(self) -> int:
        """What flushes and compactions have written."""
        return self._native.written_bytes

    @property
    def level_bytes(self) -> tuple[int, ...]:
        """What compactions into each level have read and written, from the first."""
        return tuple(self._native.level_bytes)

    @property
    def write_amplification(self) -> float:
        """Bytes written for each byte of the user's, without the log; smaller is better, 0 at first."""
        return self.written_bytes / self.user_bytes if self.user_bytes else 0.0
