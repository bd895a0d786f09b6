"""Writes the pages of docs/evidence from the claims: an overview, and one page for each folder.

A benchmark with `--out docs/evidence/FOLDER/EXPERIMENT` writes its claims there. This script merges them into
the folder's claims.json, where they replace the experiment's earlier ones.
"""

import json
import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any

from benchmarks.common.claims import KINDS, OBSERVATION, ROOT, TARGET, UNDECIDABLE
from benchmarks.common.papers import PAPERS, Finding, Paper
from benchmarks.common.published import PublishedFigure, published_figures

EVIDENCE = ROOT / "docs" / "evidence"
NOTE = "Made by `make evidence` from the claims.json files; do not edit."
INTRODUCTION = """\
A figure stands with its 95% interval, or with the range that its unit names on the folder's page. A *target*
is a bound that the whole interval has to keep; what was measured once is not decidable here. A *comparison*
stands beside a figure of a paper and has no target. Every figure and table with a result is listed, and
`make figure NAME=dremel_8` measures one. What fails comes first, and each target that fails is named. Scales,
devices and commands are on the folders' pages; ratios hold on the model that they were measured on."""
MAX_FIGURES = 5
"""So many figures of a finding are written out; of more, the range."""

Claims = Sequence[dict[str, Any]]


def gathered(evidence: Path, folder: str) -> Claims:
    """Returns a folder's claims with those that benchmarks wrote since the last time."""
    file = evidence / folder / "claims.json"
    claims: list[dict[str, Any]] = json.loads(file.read_text()) if file.exists() else []
    for found in sorted((evidence / folder).glob("*/claims.json")):
        fresh = json.loads(found.read_text())
        experiments = {claim["experiment"] for claim in fresh}
        claims = [claim for claim in claims if claim["experiment"] not in experiments] + fresh
        found.unlink()
    claims.sort(key=lambda claim: str(claim["experiment"]))
    file.write_text(json.dumps(claims, indent=1) + "\n")
    return claims


def named_by(finding: Finding, claims: Claims) -> Claims:
    """Returns the claims that test a finding, in the order of its patterns, without observations."""
    return [claim for claim in matching(finding.claims, claims) if claim["kind"] != OBSERVATION]


def matching(patterns: Sequence[str], claims: Claims) -> Claims:
    """Returns the claims that patterns name, in the order of the patterns."""
    return [claim for pattern in patterns for claim in claims if fnmatchcase(identity(claim), pattern)]


def overview(claims_of: Mapping[str, Claims]) -> str:
    """Returns the overview page."""
    rows = [
        _row(
            f"[{paper.title}]({paper.folder}/README.md)",
            *_counts(claims_of[paper.folder]),
            _unmeasured(paper.folder, claims_of[paper.folder]),
        )
        for paper in PAPERS
    ]
    table = [
        "| folder | targets that fail | not decidable here | that hold | comparisons | observations "
        "| benchmarks without evidence yet |",
        "| --- | --- | --- | --- | --- | --- | --- |",
        *rows,
    ]
    sections = [line for paper in PAPERS for line in _section(paper, claims_of[paper.folder])]
    return "\n".join(["# Evidence", "", NOTE, "", INTRODUCTION, "", *table, *sections, ""])


def _counts(claims: Claims) -> list[int]:
    kinds = Counter(claim["kind"] for claim in claims)
    verdicts = Counter(claim["holds"] for claim in claims if claim["kind"] == TARGET)
    _, comparison, observation = KINDS
    return [verdicts[False], verdicts[UNDECIDABLE], verdicts[True], kinds[comparison], kinds[observation]]


def _section(paper: Paper, claims: Claims) -> list[str]:
    figures = [figure for figure in published_figures() if figure.folder == paper.folder]
    named = [claim for figure in figures for claim in matching(figure.claims, claims)]
    rows = []
    for finding in paper.findings:
        tested = named_by(finding, claims)
        named += tested
        rows.append((_verdict(tested), finding.says, tested))
    others = [claim for claim in claims if claim["holds"] is False and claim not in named]
    rows += [("no", f"Ours: {claim['source']}", [claim]) for claim in others]
    rows.sort(key=lambda row: list(_WORDS).index(row[0]))
    return [
        "",
        f"## [{paper.title}]({paper.folder}/README.md)",
        "",
        *figure_rows(figures, claims),
        "| finding | measured here | target | holds |",
        "| --- | --- | --- | --- |",
        *(_row(says, _figures(tested), _targets(tested), _WORDS[verdict]) for verdict, says, tested in rows),
    ]


def figure_rows(figures: Sequence[PublishedFigure], claims: Claims) -> list[str]:
    """Returns the table of a paper's figures with what was measured beside each, or why nothing was."""
    if not figures:
        return []
    tested = {figure: matching(figure.claims, claims) for figure in figures}
    order = sorted(figures, key=lambda figure: list(_WORDS).index(_found(figure, tested[figure])))
    return [
        "| figure | the paper shows | measured here | target | holds |",
        "| --- | --- | --- | --- | --- |",
        *(_figure_row(figure, tested[figure]) for figure in order),
        "",
    ]


def _found(figure: PublishedFigure, tested: Claims) -> str:
    """Returns the key in `_WORDS` for what was found of a figure."""
    if tested:
        return _verdict(tested)
    return "not measured" if figure.why else "missing"


def _figure_row(figure: PublishedFigure, tested: Claims) -> str:
    holds = _WORDS[_found(figure, tested)] + (f": {figure.why}" if figure.why else "")
    figures = _figures(tested) if tested else "–"
    return _row(f"{figure.label} (`{figure.name}`)", figure.paper, figures, _targets(tested), holds)


_WORDS = {
    "missing": "**missing**",
    "no": "**no**",
    "undecidable": UNDECIDABLE,
    "yes": "yes",
    "compared": "compared",
    "not measured": "not measured",
}
"""Labels of the verdicts, in the order of the page."""


def _verdict(claims: Claims) -> str:
    verdicts = [claim["holds"] for claim in claims if claim["kind"] == TARGET]
    if False in verdicts:
        return "no"
    if UNDECIDABLE in verdicts:
        return "undecidable"
    return "yes" if verdicts else "compared"


def _targets(claims: Claims) -> str:
    return "; ".join(dict.fromkeys(claim["target"] for claim in claims if claim["kind"] == TARGET))


def _figures(claims: Claims) -> str:
    """Returns the figures of a finding's claims as text, with the targets that fail."""
    many = len(claims) > MAX_FIGURES
    if many:
        values = [claim["measured"]["value"] for claim in claims]
        text = f"{len(claims)} figures, {min(values):.3g} to {max(values):.3g}"
    else:
        text = "; ".join(map(_figure, claims))
    failing = [claim for claim in claims if claim["holds"] is False]
    names = [f"`{identity(claim)}`" + (f" {_figure(claim)}" if many else "") for claim in failing]
    return f"{text}. Fails: {', '.join(names)}" if failing else text


def identity(claim: dict[str, Any]) -> str:
    """Returns a claim's name with its experiment's name, unique within the folder."""
    return f"{claim['experiment']}/{claim['name']}"


def _figure(claim: dict[str, Any]) -> str:
    measured = claim["measured"]
    value, low, high = (f"{measured[name]:.3g}" for name in ("value", "low", "high"))
    return value if measured["low"] == measured["high"] else f"{value} [{low}, {high}]"


def _unmeasured(folder: str, claims: Claims) -> str:
    """Returns the names of the folder's benchmarks without evidence."""
    measured = {claim["command"].split()[2].rpartition(".")[2] for claim in claims}
    names = [
        path.stem
        for path in sorted((ROOT / "benchmarks" / folder).glob("*.py"))
        if f"def {path.stem}(settings: Settings) -> list[Claim]:" in path.read_text()
        and path.stem not in measured
    ]
    return ", ".join(names)


def page(paper: Paper, claims: Claims, evidence: Path) -> str:
    """Returns the page of one folder: all claims by experiment, failed ones first."""
    lines = [f"# {paper.title}", "", f"{NOTE} [All papers](../README.md)."]
    for experiment in dict.fromkeys(claim["experiment"] for claim in claims):
        own = [claim for claim in claims if claim["experiment"] == experiment]
        own.sort(key=lambda claim: (KINDS.index(claim["kind"]), list(_WORDS).index(_verdict([claim]))))
        data = [f"[{name}]({experiment}/{name})" for name in _data(evidence / paper.folder / experiment)]
        made = (
            f"`{claim['command']}` at {claim['commit']}, {claim['date']}; {claim['engine']}; device"
            f" {claim['device']}; scale {claim['scale']}."
            for claim in own
        )
        lines += ["", f"## {experiment}", ""]
        lines += [f"{line}  " for line in dict.fromkeys(made)]
        lines += [f"Data: {', '.join(data)}."] if data else []
        lines += ["", "| claim | source | unit | paper | target | measured | n | holds | why |"]
        lines += ["| --- | --- | --- | --- | --- | --- | --- | --- | --- |"]
        lines += [_claim_row(claim) for claim in own]
    return "\n".join([*lines, ""])


def _data(experiment: Path) -> list[str]:
    """Returns the names of an experiment's committed files."""
    kept = (".csv", ".gz", ".json", ".png", ".toml")
    names = {path.name for path in experiment.glob("*") if path.suffix in kept}
    return sorted(names - {"claims.json", "flags.json"})


def _claim_row(claim: dict[str, Any]) -> str:
    paper = claim["paper"]
    return _row(
        claim["name"],
        claim["source"],
        claim["unit"],
        "" if paper is None else f"{paper:.4g}" if isinstance(paper, float) else paper,
        claim["target"],
        _figure(claim),
        claim["measured"]["repeats"],
        _WORDS[_verdict([claim])] if claim["kind"] == TARGET else claim["kind"],
        claim["why"],
    )


def _row(*cells: object) -> str:
    return "| " + " | ".join(re.sub(r"[|\n]", "/", str(cell)) for cell in cells) + " |"


def write_pages(evidence: Path) -> Iterable[Path]:
    """Writes all pages and yields their paths."""
    claims_of = {paper.folder: gathered(evidence, paper.folder) for paper in PAPERS}
    pages = {paper.folder: page(paper, claims_of[paper.folder], evidence) for paper in PAPERS}
    for folder, text in (pages | {".": overview(claims_of)}).items():
        path = evidence / folder / "README.md"
        path.write_text(text)
        yield path


if __name__ == "__main__":
    for written in write_pages(EVIDENCE):
        print(written.relative_to(ROOT))
