"""What a program, or the command line, asks of an FLSM store from outside."""

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
"""Of what is written to a simulated tree, after each of which is told how far it is."""


def flsm_shape(path: Path | str) -> dict[str, Any]:
    """Returns levels and runs of an FLSM store, which may be open in another process; nothing is changed.

    Returns:
        A JSON object with the fields of `rocktune.online.FlsmShape`, and `runs`, the sorted runs in all.

    Raises:
        UserError: there is no FLSM store, or its shape cannot be read.
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
    """Returns what policies make of an FLSM store of any size, without one; see `FlsmSimulator`.

    Args:
        write_bytes: what is written to it, new entries alone.
        policies: likewise what follows: its layout.
        size_ratio: T.
        level1_bytes: capacity of level 1; 0 for T write buffers.
        levels: at most so many.
        granularity: "levels" or "files".
        write_buffer_bytes: what is flushed at a time.
        file_bytes: of a table.
        then: policies that it gets afterwards, all levels at once; None for no change. Not from or to
            "lazy-leveling", which no change of a level's policy makes or ends.
        transition: how.
        observer: is told how far it is.

    Returns:
        A JSON object: `user_bytes`, `read_bytes`, `written_bytes` and `write_amplification`, `shape` as of
        `flsm_shape`; with `then` also `transition_written_bytes`, what the change wrote at once.

    Raises:
        UserError: something of it makes no sense.
    """
    if then is not None and "lazy-leveling" in (policies, then):
        raise UserError("lazy-leveling is the deepest level's, not one's of its own: give K of each level")
    tree = FlsmSimulator(
        policies=policies, size_ratio=size_ratio, level1_bytes=level1_bytes, levels=levels,
        granularity=granularity, write_buffer_bytes=write_buffer_bytes, file_bytes=file_bytes,
    )  # fmt: skip
    _write(tree, write_bytes, write_buffer_bytes, observer or Observer())
    changed: dict[str, Any] = {}
    if then is not None:
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
    """Writes in parts of whole write buffers, so that what comes of it is the same."""
    tree.check(count)
    observer.phase_started("simulate", None)
    began_s = time.monotonic()
    part = max(1, count // _PARTS // write_buffer_bytes) * write_buffer_bytes
    for written in range(0, count, part):
        tree.write(min(part, count - written))
        done = min(count, written + part)
        elapsed_s = time.monotonic() - began_s
        observer.estimated(elapsed_s * (count - done) / done)
        observer.progress(f"{format_bytes(done)} of {format_bytes(count)}", done, count)
