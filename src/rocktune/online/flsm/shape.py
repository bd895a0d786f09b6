"""The shape of an FLSM-tree: its levels and their sorted runs."""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from rocktune import _native
from rocktune.errors import UserError


@dataclass(frozen=True)
class FlsmLevel:
    """A logical level of an FLSM-tree.

    Attributes:
        policy: K, the number of runs in a full level, from 1 (leveling) to the size ratio (tiering).
        capacity_bytes: bytes of a full level.
        run_bytes: bytes of each run, newest first.
        sealed: for each run, whether it takes no more data, whatever the policy is now.
    """

    policy: int
    capacity_bytes: int
    run_bytes: tuple[int, ...]
    sealed: tuple[bool, ...]

    @property
    def held_bytes(self) -> int:
        """Bytes of all runs of the level."""
        return sum(self.run_bytes)


@dataclass(frozen=True)
class FlsmShape:
    """The shape of a store's tree at one moment.

    Attributes:
        size_ratio: T, the capacity of a level over that of the level above.
        max_level0_files: maximum number of flushed files that may wait for a merge, whatever the policies.
        level0_files: flushed files that are not merged yet; each is one of level 1's newest runs.
        level0_bytes: bytes of these files.
        levels: levels from the first.
    """

    size_ratio: int
    max_level0_files: int
    level0_files: int
    level0_bytes: int
    levels: tuple[FlsmLevel, ...]

    @property
    def runs(self) -> int:
        """Number of sorted runs whose filter a lookup of an absent key asks; smaller is better."""
        return sum(self.runs_of(number) for number in range(1, len(self.levels) + 1))

    @property
    def levels_in_use(self) -> int:
        """Number of the deepest level that has a run, at least 1."""
        return max((number for number, level in enumerate(self.levels, 1) if level.run_bytes), default=1)

    def runs_of(self, number: int) -> int:
        """Returns the number of sorted runs in level `number`, from 1; level 1 includes level 0's files."""
        return len(self.levels[number - 1].run_bytes) + (self.level0_files if number == 1 else 0)

    def held_bytes_of(self, number: int) -> int:
        """Returns the bytes in level `number`, from 1; level 1 includes level 0's files."""
        return self.levels[number - 1].held_bytes + (self.level0_bytes if number == 1 else 0)


def flsm_shape_of(document: Mapping[str, Any]) -> FlsmShape:
    """Returns the shape in a JSON object of the extension or the worker."""
    levels = tuple(
        FlsmLevel(
            policy=level["policy"],
            capacity_bytes=level["capacity_bytes"],
            run_bytes=tuple(run["bytes"] for run in level["runs"]),
            sealed=tuple(run["sealed"] for run in level["runs"]),
        )
        for level in document["levels"]
    )
    return FlsmShape(
        document["size_ratio"],
        document["max_level0_files"],
        document["level0_files"],
        document["level0_bytes"],
        levels,
    )


def read_flsm_shape(path: Path | str, *, family: str = "default") -> FlsmShape:
    """Returns the shape of a store's column family without changing the store.

    The store may be open in another process.

    Raises:
        UserError: there is no FLSM store at `path`, it has no such family, or its shape cannot be read.
    """
    # RocksDB keeps CURRENT in every database; without it the extension's error would be about a missing file.
    if not Path(path, "CURRENT").exists():
        raise UserError(f"{path}: is not an FLSM store")
    try:
        return flsm_shape_of(json.loads(_native.flsm_shape(str(path), family)))
    except (ValueError, RuntimeError) as failure:
        raise UserError(f"{path}: {failure}") from None
