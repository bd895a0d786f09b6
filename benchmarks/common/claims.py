"""The common frame of all benchmarks: their flags, and claims that are recorded whether they hold or not.

python -m benchmarks.NAME [--quick] [--json] [--out DIR] [--scale 1/S] [--seed N]
"""

import argparse
import datetime
import json
import math
import re
import subprocess
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np
from scipy import stats

from rocktune.errors import UserError
from rocktune.study.proving import statistics
from rocktune.units import format_scale, parse_scale

ROOT = Path(__file__).parent.parent.parent
"""The repository."""
UNDECIDABLE = "not decidable here"
TARGET, PAPER, OBSERVATION = KINDS = ("target", "paper", "observation")
_BOUND = re.compile(r"(>=|<=) (-?[0-9.]+(?:e-?[0-9]+)?)")


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
    """One measured figure: a target that it can miss, a comparison with a paper, or an observation.

    `reported` and `decided` make claims.

    Attributes:
        name: unique within the experiment.
        source: the paper and its figure, or the property of rocktune that is tested.
        unit: of the figure.
        measured: the figure.
        kind: one of KINDS.
        target: bounds that the whole interval has to keep, as `verdict` reads them; "" unless a target.
        holds: whether the target holds; None unless a target.
        paper: the figure or the finding that the paper has in this place.
        why: one sentence about a target that does not hold or cannot be decided.
        experiment: the name of the `--out` directory, or else of the benchmark.
        command: what measures it.
        engine: the store and its version.
        device: the device that the store ran on.
        scale: 1/S.
        commit: of the code that measured.
        date: of the measurement.
    """

    name: str
    source: str
    unit: str
    measured: Measured
    kind: str = OBSERVATION
    target: str = ""
    holds: bool | str | None = None
    paper: float | str | None = None
    why: str = ""
    experiment: str = ""
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
    """Returns a claim without a target: a comparison with `paper` if that is given, else an observation."""
    kind = OBSERVATION if paper is None else PAPER
    return Claim(name, source, unit, measured, kind, paper=paper, engine=engine, device=device)


def decided(claim: Claim, low: float = -math.inf, high: float = math.inf, why: str = "") -> Claim:
    """Returns a reported claim as a target: the whole interval has to lie from `low` to `high`.

    Args:
        claim: what was measured.
        low: the smallest allowed value.
        high: the largest one.
        why: the cause, if it is known, where the target does not hold.
    """
    bounds = [f">= {low:g}"] if math.isfinite(low) else []
    bounds += [f"<= {high:g}"] if math.isfinite(high) else []
    target = " and ".join(bounds)
    holds = verdict(target, claim.measured)
    reason = ""
    if holds == UNDECIDABLE:
        reason = "measured once"
    elif not holds:
        interval = f"the interval is {claim.measured.low:.3g} to {claim.measured.high:.3g}"
        reason = f"{interval}. {why}" if why else interval
    return replace(claim, kind=TARGET, target=target, holds=holds, why=reason)


def verdict(target: str, measured: Measured) -> bool | str:
    """Returns whether the whole interval keeps a target's bounds, such as ">= 0.98 and <= 1.02".

    A figure that was measured once and is not exact has no interval, and decides nothing.

    Raises:
        ValueError: the target is not made of such bounds.
    """
    bounds = [_BOUND.fullmatch(each) for each in target.split(" and ")]
    if measured.repeats < 2 and not measured.exact and all(bounds):
        return UNDECIDABLE
    holds = True
    for bound in bounds:
        if bound is None:
            raise ValueError(f"target {target!r}: use bounds such as '>= 0.98 and <= 1.02'")
        limit = float(bound[2])
        holds &= measured.low >= limit if bound[1] == ">=" else measured.high <= limit
    return holds


@dataclass(frozen=True)
class Settings:
    """The values of a benchmark's flags."""

    quick: bool
    as_json: bool
    out: Path | None
    scale: int
    seed: int
    command: str
    extra: dict[str, Any] = field(default_factory=dict)

    def say(self, text: str) -> None:
        """Prints progress on standard error, so that `--json` stays one document."""
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
    command = " ".join([f"python -m benchmarks.{name}", *_recorded(sys.argv[1:])])
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


def _recorded(arguments: Sequence[str]) -> Iterator[str]:
    """Yields the flags that a claim records: those that affect the measurement, without absolute paths."""
    rest = iter(arguments)
    for argument in rest:
        flag, separator, value = argument.partition("=")
        if flag == "--out" and not separator:
            next(rest, None)
        elif flag not in ("--out", "--json"):
            yield flag + separator + _relative(value) if separator else _relative(argument)


def _relative(argument: str) -> str:
    """Returns a flag's value with paths relative to the repository, or only names for outside paths."""
    paths = argument.replace(f"{ROOT}/", "").split(",")
    return ",".join(Path(path).name if path.startswith("/") else path for path in paths)


def describe(claim: Claim) -> str:
    """Returns a claim as one line of text."""
    measured = claim.measured
    interval = f"[{measured.low:.4g}, {measured.high:.4g}], n = {measured.repeats}"
    figure = f"{claim.name}: {measured.value:.4g} {claim.unit} {interval}"
    if claim.kind != TARGET:
        return figure if claim.paper is None else f"{figure}; paper {claim.paper}"
    verdicts = {True: "holds", False: "DOES NOT HOLD", UNDECIDABLE: UNDECIDABLE}
    return f"{figure}; target {claim.target}: {verdicts[claim.holds]}. {claim.why}"


def _completed(claim: Claim, settings: Settings) -> Claim:
    name = settings.command.split()[2].rpartition(".")[2]
    claim.experiment = name if settings.out is None else settings.out.resolve().name
    claim.command = claim.command or settings.command
    claim.scale = claim.scale or format_scale(settings.scale)
    claim.commit = claim.commit or _commit()
    claim.date = claim.date or datetime.datetime.now(datetime.UTC).date().isoformat()
    if settings.quick:
        claim.why = "smoke run"
        claim.holds = UNDECIDABLE if claim.kind == TARGET else None
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


def spread_interval(values: Sequence[float]) -> Measured:
    """Returns the coefficient of variation with its 95% interval, as chi-squared has it for normal values."""
    array = np.asarray(values, dtype=float)
    variation = float(array.std(ddof=1) / array.mean())
    freedom = len(array) - 1
    low, high = (variation * math.sqrt(freedom / stats.chi2.ppf(tail, freedom)) for tail in (0.975, 0.025))
    return Measured(variation, float(low), float(high), len(array))


def _t_interval(values: np.ndarray[Any, np.dtype[np.float64]]) -> Measured:
    mean = float(values.mean())
    if len(values) < 2:
        return Measured(mean, mean, mean, len(values))
    half = float(stats.t.ppf(0.975, len(values) - 1) * values.std(ddof=1) / math.sqrt(len(values)))
    return Measured(mean, mean - half, mean + half, len(values))


def spearman_interval(first: Sequence[float], second: Sequence[float]) -> Measured:
    """Returns Spearman's correlation with its 95% interval (`rocktune.study.proving.statistics`)."""
    found = statistics.spearman_interval(first, second)
    return Measured(found.value, found.low, found.high, found.repeats, exact=found.low == found.high)


def share_of(hits: int, count: int) -> Measured:
    """Returns a share of independent cases with its 95% interval by Jeffreys' prior.

    The interval of no hits begins at 0, and that of nothing but hits ends at 1.
    """
    believed = stats.beta(hits + 0.5, count - hits + 0.5)
    low = float(believed.ppf(0.025)) if hits else 0.0
    high = float(believed.ppf(0.975)) if hits < count else 1.0
    return Measured(hits / max(1, count), low, high, count)


def median_spread(values: Sequence[float]) -> Measured:
    """Returns the median with minimum and maximum."""
    return Measured(float(np.median(values)), float(np.min(values)), float(np.max(values)), len(values))


def exactly(value: float, repeats: int = 1) -> Measured:
    """Returns a figure without spread, such as a count or a maximum."""
    return Measured(value, value, value, repeats, exact=True)
