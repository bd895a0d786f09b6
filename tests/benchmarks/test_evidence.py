"""The committed evidence: every claim says what it is, and the pages say what the claims do."""

import gzip
import json
import re
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from benchmarks.common.claims import KINDS, OBSERVATION, ROOT, TARGET, UNDECIDABLE, Measured, verdict
from benchmarks.common.evidence import EVIDENCE, figure_rows, gathered, identity, named_by, overview, page
from benchmarks.common.papers import PAPERS
from benchmarks.common.published import PublishedFigure, published_figures

MAX_LINES = 200
Claims = list[dict[str, Any]]


def claims_of(folder: str) -> Claims:
    claims: Claims = json.loads((EVIDENCE / folder / "claims.json").read_text())
    return claims


CLAIMS_OF = {paper.folder: claims_of(paper.folder) for paper in PAPERS}
CLAIMS = [(folder, claim) for folder, claims in CLAIMS_OF.items() for claim in claims]


def test_every_folder_of_evidence_is_on_the_page() -> None:
    assert {path.parent.name for path in EVIDENCE.glob("*/claims.json")} == {*CLAIMS_OF}


@pytest.mark.parametrize("folder", CLAIMS_OF)
def test_kinds_and_verdicts_follow_from_the_figures(folder: str) -> None:
    for claim in CLAIMS_OF[folder]:
        name = identity(claim)
        assert claim["kind"] in KINDS, name
        if claim["kind"] == TARGET:
            assert claim["holds"] == verdict(claim["target"], Measured(**claim["measured"])), name
            assert claim["holds"] is True or claim["why"], name
        else:
            assert (claim["target"], claim["holds"]) == ("", None), name
            assert (claim["paper"] is None) == (claim["kind"] == OBSERVATION), name


@pytest.mark.parametrize("folder", CLAIMS_OF)
def test_figures_lie_in_their_intervals(folder: str) -> None:
    for claim in CLAIMS_OF[folder]:
        measured = Measured(**claim["measured"])
        assert measured.low <= measured.value <= measured.high, identity(claim)
        assert not measured.exact or measured.low == measured.high, identity(claim)


@pytest.mark.parametrize("folder", CLAIMS_OF)
def test_claims_are_unique_and_name_a_benchmark_of_the_folder(folder: str) -> None:
    names = [identity(claim) for claim in CLAIMS_OF[folder]]
    assert len(names) == len({*names})
    for claim in CLAIMS_OF[folder]:
        module, *arguments = claim["command"].removeprefix("python -m ").split()
        assert module.startswith(f"benchmarks.{folder}."), identity(claim)
        assert (ROOT / f"{module.replace('.', '/')}.py").exists(), identity(claim)
        for path in re.findall(r"(?:docs|benchmarks)/[\w./-]+", ",".join(arguments)):
            assert (ROOT / path).exists(), f"{identity(claim)}: {path}"


def test_the_overview_is_short_and_names_every_target_that_fails() -> None:
    text = overview(CLAIMS_OF)
    assert len(text.splitlines()) <= MAX_LINES
    sections = dict(zip(CLAIMS_OF, text.split("\n## ")[1:], strict=True))
    failing = [(folder, claim) for folder, claim in CLAIMS if claim["holds"] is False]
    assert failing
    for folder, claim in failing:
        assert f"`{identity(claim)}`" in sections[folder]


def test_a_failing_target_that_no_finding_names_is_on_the_overview() -> None:
    lost = {**CLAIMS_OF["dremel"][0], "name": "lost", "experiment": "new", "holds": False, "source": "here"}
    lost["measured"] = {"value": 1.5, "low": 1.25, "high": 1.75, "repeats": 3}
    section = overview(CLAIMS_OF | {"dremel": [*CLAIMS_OF["dremel"], lost | {"kind": TARGET}]})
    assert "| Ours: here | 1.5 [1.25, 1.75]" in section
    assert "Fails: `new/lost`" in section


@pytest.mark.parametrize("folder", CLAIMS_OF)
def test_pages_are_those_that_make_evidence_writes(folder: str) -> None:
    paper = next(paper for paper in PAPERS if paper.folder == folder)
    assert (EVIDENCE / folder / "README.md").read_text() == page(paper, CLAIMS_OF[folder], EVIDENCE)
    assert (EVIDENCE / "README.md").read_text() == overview(CLAIMS_OF)


@pytest.mark.parametrize("paper", PAPERS, ids=lambda paper: paper.folder)
def test_every_pattern_of_a_finding_names_claims(paper: Any) -> None:
    for finding in paper.findings:
        for pattern in finding.claims:
            assert named_by(type(finding)("", (pattern,)), CLAIMS_OF[paper.folder]), pattern


# As the papers count: of Dremel 16 and three in text, of Warlo 13 and one in text, of RusKey ten and table 2.
PUBLISHED = {"dremel": 19, "alabed": 4, "jia_chen": 18, "governor": 14, "flsm": 2, "ruskey": 9}


def test_every_figure_of_the_papers_is_on_the_page() -> None:
    figures = published_figures()
    assert Counter(figure.folder for figure in figures) == PUBLISHED
    assert len({figure.name for figure in figures}) == len(figures)
    text = overview(CLAIMS_OF)
    for figure in figures:
        assert f"{figure.label} (`{figure.name}`)" in text
    assert "**missing**" not in text


def test_a_figure_without_claims_and_reason_is_missing() -> None:
    claims = [claim for claim in CLAIMS_OF["governor"] if claim["holds"] is True][:1]
    figures = [
        PublishedFigure("a_1", "governor", "Figure 1", "it shines", (identity(claims[0]),)),
        PublishedFigure("a_2", "governor", "Figure 2", "it glows", ("nowhere/*",), {}, "no lamp"),
        PublishedFigure("a_3", "governor", "Figure 3", "it burns"),
    ]
    rows = figure_rows(figures, claims)[2:-1]
    assert rows[0] == "| Figure 3 (`a_3`) | it burns | – |  | **missing** |"
    assert rows[1].startswith("| Figure 1 (`a_1`) | it shines | ")
    assert rows[1].endswith(f" | {claims[0]['target']} | yes |")
    assert rows[2] == "| Figure 2 (`a_2`) | it glows | – |  | not measured: no lamp |"


@pytest.mark.parametrize("figure", published_figures(), ids=lambda figure: figure.name)
def test_a_figure_is_measured_by_a_benchmark_or_says_why_not(figure: PublishedFigure) -> None:
    assert figure.runs or figure.why
    for run in figure.runs.values():
        module, *flags = run.split()
        path = ROOT / "benchmarks" / f"{module.replace('.', '/')}.py"
        assert module.startswith(f"{figure.folder}.")
        text = (
            path.read_text() + (path.parent / "driver.py").read_text()
            if "ruskey" in module
            else path.read_text()
        )
        for flag in flags:
            if flag.startswith("--") and flag not in ("--scale", "--seed"):
                assert f'"{flag[2:].replace("-", "_")}"' in text, f"{run}: {flag}"


def text_of(path: Path) -> str:
    return gzip.decompress(path.read_bytes()).decode() if path.suffix == ".gz" else path.read_text()


def test_nothing_names_this_machine_or_an_issue() -> None:
    private = re.compile(r"(?:^|[\s\"'=(`,/])/(?:tmp|work|root|home|dev|mnt|var|usr)/|\bissue[ :]|DESIGN\.md")
    paths = [path for path in EVIDENCE.rglob("*") if path.is_file() and path.suffix != ".png"]
    assert paths
    for path in paths:
        found = private.search(text_of(path))
        assert found is None, f"{path.relative_to(ROOT)}: {found}"


def test_fresh_claims_replace_those_of_their_experiment(tmp_path: Path) -> None:
    def written(path: Path, *names: tuple[str, str]) -> None:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(json.dumps([{"experiment": each, "name": name} for each, name in names]))

    written(tmp_path / "flsm" / "claims.json", ("scans", "old"), ("tuned", "kept"))
    written(tmp_path / "flsm" / "scans" / "claims.json", ("scans", "new"), ("scans", "other"))
    names = [claim["name"] for claim in gathered(tmp_path, "flsm")]
    assert names == ["new", "other", "kept"]
    assert not (tmp_path / "flsm" / "scans" / "claims.json").exists()
    assert gathered(tmp_path, "flsm") == json.loads((tmp_path / "flsm" / "claims.json").read_text())


def test_what_was_measured_once_and_is_not_exact_decides_nothing() -> None:
    once = [claim for _, claim in CLAIMS if claim["kind"] == TARGET and claim["measured"]["repeats"] == 1]
    assert {claim["holds"] for claim in once if not claim["measured"]["exact"]} == {UNDECIDABLE}


def test_links_lead_to_files() -> None:
    for path in EVIDENCE.rglob("README.md"):
        links = re.findall(r"\]\(([^)]*)\)", path.read_text())
        assert links
        for link in links:
            assert (path.parent / link).is_file(), f"{path.relative_to(ROOT)}: {link}"
