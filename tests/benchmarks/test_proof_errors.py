import re

import numpy as np
import pytest
from benchmarks.common.claims import ROOT
from benchmarks.common.tables import read_rows, typed
from benchmarks.rocktune.proof_errors import RATIOS, share_interval, simulated


def test_a_simulated_proof_is_a_studys_own() -> None:
    proof = simulated(1.3, 0.02, np.random.default_rng(1))
    assert (proof.stopped, proof.recommended, proof.ratio_to_baseline.repeats) == ("better", "best", 4)
    assert proof.ratio_to_baseline.value == pytest.approx(1.3, rel=0.05)


def test_a_share_without_a_case_has_the_interval_by_hand() -> None:
    # Clopper and Pearson: the upper end u solves (1 - u)^10 = 0.025, so u = 1 - 0.025^0.1 = 0.30850.
    measured = share_interval(0, 10)
    assert (measured.value, measured.low) == (0, 0)
    assert measured.high == pytest.approx(0.30850, abs=1e-5)


def test_the_page_has_the_figures_of_the_evidence() -> None:
    page = (ROOT / "docs/design/proof-statistics.md").read_text()
    rows = [
        [float(cell) for cell in match[1].split("|")]
        for match in re.finditer(r"^\| (1\.[0-9.]+ \|.*) \|$", page, re.MULTILINE)
    ]
    table = ROOT / "docs/evidence/rocktune/proof_errors/cells.csv"
    cells = read_rows(table, typed(ratio=float, mean_pairs=float, better_share=float))
    expected = [
        [ratio]
        + [float(f"{cell['mean_pairs']:.1f}") for cell in cells if cell["ratio"] == ratio]
        + [float(f"{cell['better_share']:.2f}") for cell in cells if cell["ratio"] == ratio]
        for ratio in RATIOS
    ]
    assert rows == expected
