"""What an FLSM-tree looks like at a moment."""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from rocktune import _native
from rocktune.errors import UserError


@dataclass(frozen=True)
class FlsmLevel:
    """A logical level.

    Attributes:
        policy: K, the runs of a full level: 1 is leveling, the size ratio tiering.
        capacity_bytes: what it holds when it is full.
        run_bytes: its runs, the newest first.
        sealed: which of them take nothing more in, whatever the policy is now.
    """

    policy: int
    capacity_bytes: int
    run_bytes: tuple[int, ...]
    sealed: tuple[bool, ...]

    @property
    def held_bytes(self) -> int:
        """What it holds."""
        return sum(self.run_bytes)


@dataclass(frozen=True)
class FlsmShape:
    """What a store's tree looks like at a moment.

    Attributes:
        size_ratio: T, by how much a level is larger than the one above.
        level0_files: files that were flushed and not merged yet; each is one of level 1's newest runs.
        level0_bytes: likewise.
        levels: from the first.
    """

    size_ratio: int
    level0_files: int
    level0_bytes: int
    levels: tuple[FlsmLevel, ...]

    @property
    def runs(self) -> int:
        """Sorted runs that a lookup of an absent key asks, each for its filter; smaller is better."""
        return sum(self.runs_of(number) for number in range(1, len(self.levels) + 1))

    @property
    def levels_in_use(self) -> int:
        """The deepest level that has a run, at least 1."""
        return max((number for number, level in enumerate(self.levels, 1) if level.run_bytes), default=1)

    def runs_of(self, number: int) -> int:
        """Returns the sorted runs of level `number`, from 1."""
        return len(self.levels[number - 1].run_bytes) + (self.level0_files if number == 1 else 0)

    def held_bytes_of(self, number: int) -> int:
        """Returns what level `number` holds, from 1."""
        return self.levels[number - 1].held_bytes + (self.level0_bytes if number == 1 else 0)


def flsm_shape_of(document: Mapping[str, Any]) -> FlsmShape:
    """Returns a shape from what the extension or the worker has told of it."""
    levels = tuple(
        FlsmLevel(
            policy=level["policy"],
            capacity_bytes=level["capacity_bytes"],
            run_bytes=tuple(run["bytes"] for run in level["runs"]),
            sealed=tuple(run["sealed"] for run in level["runs"]),
        )
        for level in document["levels"]
    )
    return FlsmShape(document["size_ratio"], document["level0_files"], document["level0_bytes"], levels)


def read_flsm_shape(path: Path | str) -> FlsmShape:
    """Returns the shape of a store, which may be open in another process; nothing is changed.

    Raises:
        UserError: there is no FLSM store, or its shape cannot be read.
    """
    if not Path(path, "CURRENT").exists():
        raise UserError(f"{path}: is no FLSM store")
    try:
        return flsm_shape_of(json.loads(_native.flsm_shape(str(path))))
    except (ValueError, RuntimeError) as failure:
        raise UserError(f"{path}: {failure}") from None
