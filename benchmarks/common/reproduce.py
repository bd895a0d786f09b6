"""Measures one figure of a paper: python -m benchmarks.common.reproduce dremel_8 [--quick] [--out DIR].

Each of its experiments writes claims, data and figures into a directory of its own. An experiment whose
claims are there, or in the directory of another figure, is not repeated. One that keeps its data goes on
where it was interrupted.
"""

import argparse
import json
import shlex
import subprocess
import sys
from pathlib import Path

from benchmarks.common.claims import ROOT
from benchmarks.common.published import PublishedFigure, published_figures
from rocktune.errors import UserError, unknown_name


def figure_of(name: str) -> PublishedFigure:
    """Returns a figure that can be measured.

    Raises:
        UserError: there is no such figure, or no benchmark measures it.
    """
    figures = {figure.name: figure for figure in published_figures()}
    if name not in figures:
        raise unknown_name("figure", name, tuple(figures))
    if not figures[name].runs:
        raise UserError(f"figure: no benchmark measures {name}; {figures[name].why}")
    return figures[name]


def reproduce(figure: PublishedFigure, out: Path, quick: bool, others: Path | None = None) -> int:
    """Runs the experiments of a figure that are not done and returns the number that failed.

    Args:
        figure: the figure.
        out: directory of its experiments.
        quick: whether to make smoke runs.
        others: directory of the figures' directories, in which experiments that figures share are looked up.
    """
    failed = 0
    for experiment, run in figure.runs.items():
        module, *flags = shlex.split(run)
        command = ["-m", f"benchmarks.{module}", *flags, *(["--quick"] if quick else [])]
        folder = out / experiment
        places = [folder, *(sorted(others.glob(f"*/{experiment}")) if others else ())]
        done_in = [each for each in places if _is_done(each, shlex.join(["python", *command]))]
        if done_in:
            print(f"{done_in[0]}: measured before; remove it to measure again", file=sys.stderr)
            continue
        print(f"{folder}: {shlex.join(['python', *command])}", file=sys.stderr, flush=True)
        done = subprocess.run(
            [sys.executable, *command, "--out", str(folder.resolve())], cwd=ROOT, check=False
        )
        failed += done.returncode != 0
    return failed


def _is_done(folder: Path, command: str) -> bool:
    """Returns whether the directory has the claims of this command."""
    claims = folder / "claims.json"
    return claims.exists() and all(claim["command"] == command for claim in json.loads(claims.read_text()))


def main() -> None:
    """Reads the arguments and measures the figure."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("name", help="such as dremel_8; all are in benchmarks/common/published.toml")
    parser.add_argument("--quick", action="store_true", help="smoke runs, which decide nothing")
    parser.add_argument("--out", type=Path, help="directory of the experiments; default out/figures/NAME")
    given = parser.parse_args()
    try:
        figure = figure_of(given.name)
    except UserError as error:
        parser.exit(2, f"{error}\n")
    figures = ROOT / "out" / "figures"
    out = given.out or figures / given.name
    print(f"{figure.label}: {figure.paper}", file=sys.stderr)
    sys.exit(1 if reproduce(figure, out, given.quick, None if given.out else figures) else 0)


if __name__ == "__main__":
    main()
