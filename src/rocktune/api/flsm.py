"""Shows the shape of FLSM stores, and simulates them."""

import time
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

from rocktune.errors import UserError
from rocktune.online import FlsmSimulator, read_flsm_shape
from rocktune.online.flsm import Granularity, Transition, policies_of
from rocktune.study import Observer
from rocktune.units import MIB, format_bytes

_PARTS = 100
"""Number of progress reports while a simulated tree is written."""


def flsm_shape(path: Path | str) -> dict[str, Any]:
    """Returns the levels and runs of an FLSM store without changing it; it may be open in another process.

    Returns:
        A JSON object with the fields of `rocktune.online.FlsmShape`, and `runs`, the number of sorted runs.

    Raises:
        UserError: there is no FLSM store at `path`, or its shape cannot be read.
    """
    shape = read_flsm_shape(path)
    return asdict(shape) | {"runs": shape.runs}


def simulate_flsm(
    write_bytes: int,
    *,
    policies: str | Sequence[int] = "aggressive",
    size_ratio: int = 10,
    level1_bytes: int = 0,
    levels: int = 6,
    granularity: Granularity = "levels",
    write_buffer_bytes: int = 64 * MIB,
    file_bytes: int = 64 * MIB,
    then: str | Sequence[int] | None = None,
    transition: Transition = "flexible",
    observer: Observer | None = None,
) -> dict[str, Any]:
    """Simulates how policies shape an FLSM store of any size; see `FlsmSimulator`.

    Args:
        write_bytes: bytes of new entries to write.
        policies: preset, or K of each level from the first.
        size_ratio: T.
        level1_bytes: capacity of level 1 in bytes; 0 for T write buffers.
        levels: maximum number of levels.
        granularity: what a push moves, "levels" or "files".
        write_buffer_bytes: bytes of one flush.
        file_bytes: bytes of one table.
        then: policies to change all levels to after writing; None for no change. "lazy-leveling" cannot be
            changed from or to, because it is no policy of a single level.
        transition: transition of this change: "flexible", "lazy" or "greedy".
        observer: observer of progress.

    Returns:
        A JSON object: `user_bytes`, `read_bytes`, `written_bytes`, `write_amplification`, and `shape` as in
        `flsm_shape`. With `then` also `transition_written_bytes`, the bytes that the change wrote at once.

    Raises:
        UserError: an argument is out of its range.
    """
    if then is not None and "lazy-leveling" in (policies, then):
        raise UserError(
            "lazy-leveling: is not a policy of single levels, so no change can set or end it; "
            "give K of each level"
        )
    tree = FlsmSimulator(
        policies=policies, size_ratio=size_ratio, level1_bytes=level1_bytes, levels=levels,
        granularity=granularity, write_buffer_bytes=write_buffer_bytes, file_bytes=file_bytes,
    )  # fmt: skip
    _write(tree, write_bytes, write_buffer_bytes, observer or Observer())
    changed: dict[str, Any] = {}
    if then is not None:
        # Counted only to the end of the change: a flexible transition writes nothing at once.
        before = tree.written_bytes
        for level, policy in enumerate(policies_of(then, size_ratio, levels), 1):
            tree.set_policy(level, policy, transition)
        changed = {"transition_written_bytes": tree.written_bytes - before}
    shape = tree.shape()
    return {
        "user_bytes": tree.user_bytes,
        "read_bytes": tree.read_bytes,
        "written_bytes": tree.written_bytes,
        "write_amplification": tree.write_amplification,
        "shape": asdict(shape) | {"runs": shape.runs},
    } | changed


def _write(tree: FlsmSimulator, count: int, write_buffer_bytes: int, observer: Observer) -> None:
    """Writes to the tree in parts and reports progress."""
    tree.check(count)
    observer.phase_started("simulate", None)
    began_s = time.monotonic()
    # Parts of whole write buffers give the same tree as one single write.
    part = max(1, count // _PARTS // write_buffer_bytes) * write_buffer_bytes
    for written in range(0, count, part):
        tree.write(min(part, count - written))
        done = min(count, written + part)
        elapsed_s = time.monotonic() - began_s
        observer.estimated(elapsed_s * (count - done) / done)
        observer.progress(f"{format_bytes(done)} of {format_bytes(count)}", done, count)
