"""Table 2: the cost of each transition compared with a tree that always had the new policy.

Level 1 changes when it is filled to x. The same operations go to a store that changes and to one that had the
new policy from the start. The difference until level 1 is full is the cost of the change.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

from benchmarks.common.claims import Claim, Settings, main, mean_interval, ratio_interval
from benchmarks.common.measuring import embedded_engine
from benchmarks.common.tables import write_csv
from benchmarks.flsm.shared import (
    ENTRY_BYTES,
    RUSKEY,
    SIZE_RATIO,
    Where,
    compaction_written_bytes,
    decided_at,
    false_positives,
    layout,
    level_of,
)
from rocktune.device import load_device
from rocktune.engine import EmbeddedEngine, EmbeddedRun
from rocktune.lsm.transitions import (
    flexible_additional_pages,
    greedy_additional_pages,
    lazy_additional_pages,
    lazy_additional_written_pages,
)
from rocktune.online import MissionLoad, run_missions
from rocktune.space import merged_options
from rocktune.trial import Measurement
from rocktune.workload import WorkloadSpec
from rocktune.workload.arrival import ArrivalSpec
from rocktune.workload.distributions import SizeSpec
from rocktune.workload.loads import MixSpec
from rocktune.workload.sessions import SessionSpec

SOURCE = "RusKey, table 2"
PAGE_BYTES = 4096
BUFFER_BYTES = 1 << 20
PARTS = 4
"""Missions that fill a write buffer, so that what happens can be told apart."""
LOOKUPS = 0.5
"""Share of the operations; of keys that are not there."""
BITS_PER_KEY = 2.0
"""Few, so that many lookups pass the filters and can be counted."""
OPERATIONS_S = 10_000
"""Slow enough that compactions keep up."""
WITHIN = 0.25


@dataclass(frozen=True)
class Case:
    """A change of level 1's policy.

    Attributes:
        transition: name of the transition.
        before: K before the change.
        after: K after the change.
        cost: counted quantity: "reads" or "writes".
    """

    transition: str
    before: int
    after: int
    cost: str

    @property
    def name(self) -> str:
        """For people and files."""
        return f"{self.transition}_{self.before}_to_{self.after}"


CASES = (
    Case("lazy", 5, 1, "reads"),
    Case("flexible", 5, 1, "reads"),
    Case("lazy", 1, 5, "writes"),
    Case("flexible", 1, 5, "writes"),
    Case("greedy", 5, 5, "writes"),
)
"""A greedy change costs the same from and to whatever policies: the level is pushed before it is full."""


Store = Sequence[Measurement]


def transition_costs(settings: Settings) -> list[Claim]:
    """Measures every case at several fillings; `--fillings` and `--repeats` change how many."""
    fillings = [0.5] if settings.quick else [float(x) for x in str(settings.extra["fillings"]).split(",")]
    rows: list[dict[str, Any]] = []
    claims: list[Claim] = []
    with embedded_engine() as engine:
        for case in CASES:
            turns = _turns(case, settings)
            found = [_row(settings, engine, case, x, turn) for x in fillings for turn in turns]
            rows += found
            claims += _claims(case, found, engine.version)
    if settings.out is not None:
        write_csv(settings.out / "costs.csv", rows)
    return claims


def _turns(case: Case, settings: Settings) -> Sequence[int]:
    if settings.quick:
        return [1]
    return range(SIZE_RATIO if case.transition == "greedy" else int(settings.extra["repeats"]))


def _claims(case: Case, rows: Sequence[dict[str, Any]], version: str) -> list[Claim]:
    where = Where(version, "none")
    name = f"{case.name}_additional_{case.cost}"
    if not any(row["formula"] for row in rows):
        shares = mean_interval([row["measured"] / row["lazy_formula"] for row in rows])
        return [decided_at(name, SOURCE, "share of the lazy transition's", shares, high=WITHIN, where=where)]
    # What a greedy change costs depends on how full the level below is, which its turns go through; the
    # formula is the mean over that. Of the others each turn is a sample of its own, all fillings together.
    sample = "asked" if case.transition == "greedy" else "turn"
    groups = [
        [row for row in rows if row[sample] == value] for value in sorted({row[sample] for row in rows})
    ]
    bounds = {"low": 1 - WITHIN, "high": 1 + WITHIN}
    formulas = {"formula": f"{name}_over_formula"}
    if any(row["run_by_run"] != row["formula"] for row in rows):
        formulas["run_by_run"] = f"{name}_over_formula_run_by_run"
    return [
        decided_at(
            told,
            SOURCE,
            "ratio",
            ratio_interval([_sum(group, "measured") / _sum(group, formula) for group in groups]),
            **bounds,
            where=where,
        )
        for formula, told in formulas.items()
    ]


def _sum(rows: Iterable[dict[str, Any]], name: str) -> float:
    return sum(float(row[name]) for row in rows)


def _row(settings: Settings, engine: EmbeddedEngine, case: Case, asked: float, turn: int) -> dict[str, Any]:
    """Measures one change; for a greedy one the turn is the number of earlier pushes of level 1."""
    pushes = turn if case.transition == "greedy" else 0
    missions = round((pushes + 1.4) * (SIZE_RATIO + 1) * PARTS)
    changed_at: list[int] = []

    def change(run: EmbeddedRun, done: Store) -> None:
        if changed_at or len(done) < 2 or len(_pushed(done)) != pushes:
            return
        before, now = (level_of(window, 1).held_bytes for window in done[-2:])
        # Right after something was taken in, so that nothing else is written for a while.
        if now > before and now >= asked * level_of(done[-1], 1).capacity_bytes:
            run.set_policy(1, case.after, case.transition)
            changed_at.append(len(done))

    changes = run_missions(engine, _load(settings, case.before, missions, turn), change)
    born = run_missions(engine, _load(settings, case.after, missions, turn))
    row = _compared(case, changes, born, changed_at[0], pushes) | {
        "case": case.name,
        "asked": asked,
        "turn": turn,
    }
    settings.say(
        f"{case.name}, filled {row['filled']:.2f}: {row['measured']:.0f} pages, formula {row['formula']:.0f}"
    )
    return row


def _compared(case: Case, changes: Store, born: Store, changed_at: int, pushes: int) -> dict[str, Any]:
    """Returns the measured cost of a change and that of the formulas, in pages."""
    pushed_at, full_at = (_pushed(store)[pushes] for store in (changes, born))
    if case.transition != "greedy":
        # A little more or less in a memtable decides whether nine of them are full, or ten.
        full_at = min(full_at, pushed_at)
    capacity = level_of(born[full_at - 1], 1).held_bytes
    moved = level_of(changes[changed_at - 1], 1).held_bytes
    if case.transition == "greedy":
        written = _differs(changes, born, range(changed_at, pushed_at + 1), compaction_written_bytes)
        below = level_of(born[full_at - 1], 2).held_bytes
        measured = (written - moved - moved / capacity * below) / PAGE_BYTES
    elif case.cost == "reads":
        measured = _differs(changes, born, range(changed_at, full_at), false_positives)
    else:
        measured = _differs(changes, born, range(changed_at, full_at), compaction_written_bytes) / PAGE_BYTES
    return {"measured": measured} | _formulas(case, capacity, moved / capacity, _rate(born))


def _formulas(case: Case, capacity: float, filled: float, false_positive_rate: float) -> dict[str, float]:
    """Returns the cost by table 2, the cost counted run by run, and that of a lazy change."""
    about = {"capacity_bytes": capacity, "filled": filled}
    change = about | {"policy": case.before, "new_policy": case.after}
    reads = {
        "entry_bytes": ENTRY_BYTES,
        "lookup_share": LOOKUPS,
        "false_positive_rate": false_positive_rate,
    }
    writes = {"size_ratio": SIZE_RATIO, "page_bytes": PAGE_BYTES}
    lazy = lazy_additional_pages(**change, **reads, **writes)
    formula = run_by_run = lazy
    if case.transition == "greedy":
        formula = run_by_run = greedy_additional_pages(**about, **writes, policy_below=1)
    elif case.transition == "flexible":
        formula = run_by_run = flexible_additional_pages(**change, **reads)
    elif case.cost == "writes":
        run_by_run = lazy_additional_written_pages(**change, **writes)
    return {
        "filled": filled,
        "formula": float(formula),
        "run_by_run": float(run_by_run),
        "lazy_formula": float(lazy),
    }


def _differs(changes: Store, born: Store, missions: range, figure: Any) -> float:
    return float(sum(figure(changes[mission]) - figure(born[mission]) for mission in missions))


def _pushed(done: Store) -> list[int]:
    """Returns the missions in which level 1 was pushed into level 2."""
    return [
        number
        for number, (before, after) in enumerate(pairwise(done), 1)
        if level_of(after, 2).held_bytes > level_of(before, 2).held_bytes
    ]


def _rate(done: Store) -> float:
    """Returns the share of checks of one table's filter that let a lookup pass."""
    asked = sum(window.raw["tickers"].get("rocksdb.bloom.filter.useful", 0) for window in done)
    passed = sum(false_positives(window) for window in done)
    return float(passed / max(1, asked + passed))


def _load(settings: Settings, policy: int, missions: int, seed: int) -> MissionLoad:
    updates = BUFFER_BYTES / PARTS / ENTRY_BYTES
    return MissionLoad(
        workload=_balanced(),
        device=load_device("none"),
        scale=1,
        missions=missions,
        operations=round(updates / (1 - LOOKUPS)),
        options=merged_options(
            RUSKEY,
            {"cf": {"write_buffer_size": str(BUFFER_BYTES), "target_file_size_base": str(BUFFER_BYTES)}},
            # Level 1 takes each flush in at once, as the formulas have it.
            layout([policy, 1], bits_per_key=BITS_PER_KEY, level0_runs=0),
        ),
        seed=settings.seed + seed,
    )


def _balanced() -> WorkloadSpec:
    return WorkloadSpec(
        name="absent keys and new entries",
        keys=100_000_000,
        key_bytes=128,
        value=SizeSpec(low=ENTRY_BYTES - 128),
        threads=1,
        sessions=(
            SessionSpec(
                mix=MixSpec(get_absent=LOOKUPS, put=1 - LOOKUPS),
                arrival=ArrivalSpec(kind="fixed_rate", operations_s=OPERATIONS_S),
            ),
        ),
    )


if __name__ == "__main__":
    main(
        "flsm.transition_costs",
        transition_costs,
        scale=1,
        quick_scale=1,
        extra={"fillings": "0.25,0.5,0.75", "repeats": 6},
    )
