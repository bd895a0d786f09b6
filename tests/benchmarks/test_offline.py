"""The comparison of tuners on recorded tables: shares of the best known, ranks, and what is kept."""

import math
from pathlib import Path

import pytest
from benchmarks.common.claims import Settings
from benchmarks.rocktune import offline
from benchmarks.rocktune.offline import CHECKPOINTS


def row(table: str, tuner: str, seed: int, *figures: float) -> dict[str, object]:
    """Returns a search whose best figure reaches `figures` by turns and then stays."""
    best = [*figures, *[figures[-1]] * len(CHECKPOINTS)]
    figures_by_run = {f"best_{count}": best[index] for index, count in enumerate(CHECKPOINTS)}
    return {"table": table, "tuner": tuner, "seed": seed, **figures_by_run}


def test_a_search_is_judged_by_the_best_of_its_table() -> None:
    rows = [
        row("a", "auto", 1, 50.0, 100.0),
        row("a", "tpe", 1, 96.0),
        row("b", "auto", 1, 10.0),
        row("b", "tpe", 1, 5.0),
    ]
    claims = {claim.name: claim.measured for claim in offline._claims(rows, ["auto", "tpe"])}
    assert claims["share_auto"].value == 1.0
    assert claims["share_tpe"].value == pytest.approx((0.96 + 0.5) / 2)
    assert claims["near_tpe"].value == 0.5
    assert claims["rank_auto"].value == 1.0


def test_a_search_that_keeps_no_constraint_ranks_last() -> None:
    rows = [row("a", "auto", 1, math.nan), row("a", "tpe", 1, 1.0), row("a", "ga", 1, 1.0)]
    claims = {claim.name: claim.measured for claim in offline._claims(rows, ["auto", "tpe", "ga"])}
    assert claims["share_auto"].value == 0
    assert claims["rank_auto"].value == 3
    assert claims["rank_tpe"].value == claims["rank_ga"].value == 1.5


def test_recorded_searches_are_read_back(tmp_path: Path) -> None:
    settings = Settings(False, False, tmp_path, 256, 1, "python -m benchmarks.rocktune.offline")
    rows = [row("a", "auto", 1, 50.0, 100.5), row("a", "tpe", 2, math.nan)]
    offline._keep(settings, rows)
    again = offline._kept(settings)
    assert again[0] == rows[0]
    assert math.isnan(again[1][f"best_{CHECKPOINTS[-1]}"])
