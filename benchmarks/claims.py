"""The face that every benchmark shows: the same flags, and claims written down whether they hold or not.

python -m benchmarks.NAME [--quick] [--json] [--out DIR] [--scale 1/S] [--seed N]
"""

import argparse
import csv
import datetime
import gzip
import json
import math
import subprocess
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np
from scipy import stats

from rocktune.errors import UserError
from rocktune.units import format_scale, parse_scale

UNDECIDABLE = "not decidable here"
REPORTED = "reported"
ANYTHING = "whatever it gives"


@dataclass(frozen=True)
class Measured:
    """A measured value with its 95% interval and how often it was repeated; an exact one has no spread."""

    value: float
    low: float
    high: float
    repeats: int
    exact: bool = False


@dataclass
class Claim:
    """One sentence that a measurement confirms or does not (DESIGN.md, section 9)."""

    name: str
    source: str
    unit: str
    target: str
    measured: Measured
    holds: bool | str
    paper: float | str | None = None
    why: str = ""
    command: str = ""
    engine: str = ""
    device: str = ""
    scale: str = ""
    commit: str = ""
    date: str = ""


def reported(
    name: str,
    source: str,
    unit: str,
    measured: Measured,
    paper: float | str | None = None,
    *,
    engine: str,
    device: str,
) -> Claim:
    """Returns a claim without a target: the figure is what it is."""
    return Claim(name, source, unit, ANYTHING, measured, REPORTED, paper, engine=engine, device=device)


def decided(claim: Claim, low: float = -math.inf, high: float = math.inf) -> Claim:
    """Returns a reported claim as one that holds where its whole interval lies from `low` to `high`.

    What was measured once and is not exact has no interval, and decides nothing.
    """
    measured = claim.measured
    bounds = [f">= {low:g}"] if math.isfinite(low) else []
    bounds += [f"<= {high:g}"] if math.isfinite(high) else []
    if measured.repeats < 2 and not measured.exact:
        return replace(claim, target=" and ".join(bounds), holds=UNDECIDABLE, why="measured once")
    holds = low <= measured.low and measured.high <= high
    why = "" if holds else f"the interval is {measured.low:.3g} to {measured.high:.3g}"
    return replace(claim, target=" and ".join(bounds), holds=holds, why=why)


@dataclass(frozen=True)
class Settings:
    """What the flags say."""

    quick: bool
    as_json: bool
    out: Path | None
    scale: int
    seed: int
    command: str
    extra: dict[str, Any] = field(default_factory=dict)

    def say(self, text: str) -> None:
        """Tells progress, on standard error so that `--json` stays one document."""
        print(text, file=sys.stderr, flush=True)


Body = Callable[[Settings], list[Claim]]


def main(
    name: str, body: Body, *, scale: int = 64, quick_scale: int = 512, extra: Mapping[str, Any] | None = None
) -> None:
    """Runs a benchmark: reads the flags, measures, prints its claims and writes them with `--out`.

    Args:
        name: the module's name, for the command recorded with each claim.
        body: measures and returns the claims; may write data and figures into `Settings.out`.
        scale: the default of `--scale`.
        quick_scale: its default with `--quick`.
        extra: further flags with their defaults; a flag's type is its default's.
    """
    parser = argparse.ArgumentParser(
        description=body.__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--quick", action="store_true", help="a smoke run, under a minute; decides nothing")
    parser.add_argument("--json", action="store_true", help="print the claims as one JSON document")
    parser.add_argument("--out", type=Path, help="write claims.json, data and figures into this directory")
    parser.add_argument("--scale", type=_scale, help=f"default {format_scale(scale)}")
    parser.add_argument("--seed", type=int, default=1)
    for flag, default in (extra or {}).items():
        parser.add_argument(f"--{flag.replace('_', '-')}", type=type(default), default=default)
    flags = parser.parse_args()
    command = f"python -m benchmarks.{name} {' '.join(sys.argv[1:])}".strip()
    further = {flag: getattr(flags, flag) for flag in extra or {}}
    divisor = flags.scale or (quick_scale if flags.quick else scale)
    settings = Settings(flags.quick, flags.json, flags.out, divisor, flags.seed, command, further)
    if settings.out is not None:
        settings.out.mkdir(parents=True, exist_ok=True)
    try:
        claims = [_completed(claim, settings) for claim in body(settings)]
    except UserError as error:
        parser.exit(2, f"{error}\n")
    document = json.dumps([asdict(claim) for claim in claims], indent=1, default=str, allow_nan=False)
    if settings.out is not None:
        (settings.out / "claims.json").write_text(document + "\n")
    print(document if settings.as_json else "\n".join(map(describe, claims)))


def _scale(text: str) -> int:
    try:
        return parse_scale(text)
    except UserError as error:
        raise argparse.ArgumentTypeError(str(error)) from None


def describe(claim: Claim) -> str:
    """Returns a claim as one line for people."""
    measured = claim.measured
    verdict = (
        str(claim.holds) if isinstance(claim.holds, str) else ("holds" if claim.holds else "DOES NOT HOLD")
    )
    interval = f"[{measured.low:.4g}, {measured.high:.4g}], n = {measured.repeats}"
    figure = f"{measured.value:.4g} {claim.unit} {interval}"
    return f"{claim.name}: {figure}; target {claim.target}: {verdict}. {claim.why}"


def _completed(claim: Claim, settings: Settings) -> Claim:
    claim.command = claim.command or settings.command
    claim.scale = claim.scale or format_scale(settings.scale)
    claim.commit = claim.commit or _commit()
    claim.date = claim.date or datetime.datetime.now(datetime.UTC).date().isoformat()
    if settings.quick:
        claim.holds, claim.why = UNDECIDABLE, "smoke run"
    return claim


def _commit() -> str:
    answer = subprocess.run(
        ["git", "rev-parse", "--short", "HEAD"], capture_output=True, text=True, check=False
    )
    return answer.stdout.strip()


def mean_interval(values: Sequence[float]) -> Measured:
    """Returns the mean with its 95% t interval."""
    return _t_interval(np.asarray(values, dtype=float))


def ratio_interval(ratios: Sequence[float]) -> Measured:
    """Returns the geometric mean of paired ratios with the 95% t interval on their logarithms."""
    logs = _t_interval(np.log(np.asarray(ratios, dtype=float)))
    return Measured(math.exp(logs.value), math.exp(logs.low), math.exp(logs.high), logs.repeats)


def _t_interval(values: np.ndarray[Any, np.dtype[np.float64]]) -> Measured:
    mean = float(values.mean())
    if len(values) < 2:
        return Measured(mean, mean, mean, len(values))
    half = float(stats.t.ppf(0.975, len(values) - 1) * values.std(ddof=1) / math.sqrt(len(values)))
    return Measured(mean, mean - half, mean + half, len(values))


def median_spread(values: Sequence[float]) -> Measured:
    """Returns the median with minimum and maximum."""
    return Measured(float(np.median(values)), float(np.min(values)), float(np.max(values)), len(values))


def exactly(value: float, repeats: int = 1) -> Measured:
    """Returns a figure that has no spread (a count, a maximum)."""
    return Measured(value, value, value, repeats, exact=True)


def write_csv(path: Path, rows: Iterable[Mapping[str, Any]]) -> None:
    """Writes rows of equal fields as CSV, compressed where the name ends with .gz; nothing for no rows."""
    rows = list(rows)
    if not rows:
        return
    with gzip.open(path, "wt", newline="") if path.suffix == ".gz" else path.open("w", newline="") as file:
        writer = csv.DictWriter(file, fieldnames=list(rows[0]))
        writer.writeheader()
        writer.writerows(rows)
