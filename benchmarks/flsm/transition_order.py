"""Which transition moves the fewest bytes after a change, by how full the levels are at the change.

Figure 10 shows one such state. The simulator makes the same change, from one run per level to ten, on stores
of many sizes within a factor of T around the paper's, so that the deepest level has all fillings.
"""

from typing import Any

import numpy as np

from benchmarks.common.claims import Claim, Settings, main, ratio_interval
from benchmarks.common.figures import Panel, lines, write_figure
from benchmarks.common.tables import write_csv
from benchmarks.flsm.shared import BUFFER_BYTES, ENTRY_BYTES, SIZE_RATIO, Where, decided_at
from benchmarks.flsm.transitions import PAPER_S, SOURCE, TRANSITIONS
from rocktune.online.flsm import FlsmSimulator
from rocktune.units import MIB

GIB = 1024 * MIB
AFTER_BYTES = 30_000_000 * ENTRY_BYTES
"""Bytes that 60 missions of a million operations write, half of them updates; as many before the change."""
PAPER_BYTES = 100_000_000 * ENTRY_BYTES + AFTER_BYTES


def transition_order(settings: Settings) -> list[Claim]:
    """Simulates each transition on stores of `--sizes` sizes."""
    count = 3 if settings.quick else int(settings.extra["sizes"])
    sizes = PAPER_BYTES * SIZE_RATIO ** (np.arange(count) / count - 0.5)
    rows: list[dict[str, Any]] = []
    for number, size in enumerate(sizes, 1):
        moved = {f"{name}_bytes": _moved_bytes(int(size), name) for name in TRANSITIONS}
        rows.append({"store_bytes": int(size)} | moved)
        settings.say(f"{number}/{count}: {size / GIB:.0f} GiB")
    if settings.out is not None:
        write_csv(settings.out / "moved.csv", rows)
    write_figure(settings, "Policies 1 to 10: what is read and written after the change", [_panel(rows)])
    return [
        _claim(rows, *pair) for pair in (("lazy", "flexible"), ("greedy", "lazy"), ("greedy", "flexible"))
    ]


def _moved_bytes(size: int, transition: Any) -> int:
    tree = FlsmSimulator(write_buffer_bytes=BUFFER_BYTES)
    tree.write(size)
    before = tree.read_bytes + tree.written_bytes
    for level in range(1, len(tree.shape().levels) + 1):
        tree.set_policy(level, SIZE_RATIO, transition)
    tree.write(AFTER_BYTES)
    return tree.read_bytes + tree.written_bytes - before


def _claim(rows: list[dict[str, Any]], more: str, less: str) -> Claim:
    ratios = [row[f"{more}_bytes"] / row[f"{less}_bytes"] for row in rows]
    lower = sum(ratio < 1 for ratio in ratios)
    spread = f"{min(ratios):.2f} to {max(ratios):.2f}, {lower} below 1"
    return decided_at(
        f"{more}_over_{less}_simulated",
        SOURCE,
        f"ratio of bytes moved, mean over {len(ratios)} sizes ({spread})",
        ratio_interval(ratios),
        low=1.0,
        paper=PAPER_S[more] / PAPER_S[less],
        where=Where("simulator", "none"),
    )


def _panel(rows: list[dict[str, Any]]) -> Panel:
    sizes = [row["store_bytes"] / GIB for row in rows]
    traces = [lines(name, sizes, [row[f"{name}_bytes"] / GIB for row in rows]) for name in TRANSITIONS]
    return Panel("read and written after the change", "store (GiB)", "GiB", traces)


if __name__ == "__main__":
    main("flsm.transition_order", transition_order, scale=1, quick_scale=1, extra={"sizes": 40})
