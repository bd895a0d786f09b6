"""Makes docs/evidence/README.md from the claims.json files: the paper beside what was measured."""

import json
from pathlib import Path
from typing import Any

from benchmarks.common.claims import ROOT

EVIDENCE = ROOT / "docs" / "evidence"
VERDICTS = {True: "yes", False: "**no**"}


def _row(claim: dict[str, Any]) -> str:
    measured = claim["measured"]
    figure = (
        f"{measured['value']:.4g} [{measured['low']:.4g}, {measured['high']:.4g}], n = {measured['repeats']}"
    )
    paper = "" if claim["paper"] is None else claim["paper"]
    holds = VERDICTS.get(claim["holds"], claim["holds"])
    cells = (
        claim["name"],
        claim["source"],
        claim["unit"],
        paper,
        claim["target"],
        figure,
        holds,
        claim["scale"],
    )
    return "| " + " | ".join(str(cell).replace("|", "/") for cell in (*cells, claim["why"])) + " |"


def _section(file: Path) -> str:
    claims = json.loads(file.read_text())
    first = claims[0]
    heading = file.parent.relative_to(EVIDENCE)
    return "\n".join(
        [
            f"## {heading}\n",
            f"`{first['command']}` at {first['commit']}, {first['date']}; {first['engine']};"
            f" device {first['device']}\n",
            "| claim | source | unit | paper | target | measured | holds | scale | why |",
            "| --- | --- | --- | --- | --- | --- | --- | --- | --- |",
            *map(_row, claims),
            "",
        ]
    )


def main() -> None:
    """Writes the table; nothing in it is typed by hand."""
    sections = [_section(file) for file in sorted(EVIDENCE.rglob("claims.json"))]
    heading = "# Evidence\n\nMade by `make evidence` from the claims.json files below; do not edit.\n"
    (EVIDENCE / "README.md").write_text("\n".join([heading, *sections]))
    print(f"{EVIDENCE / 'README.md'}: {len(sections)} benchmarks")


if __name__ == "__main__":
    main()
