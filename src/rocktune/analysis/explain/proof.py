"""Commands that prove a finding on a model of the store."""

import shlex
from collections.abc import Sequence

from rocktune.analysis.explain.facts import Facts
from rocktune.analysis.explain.finding import Finding
from rocktune.errors import UserError
from rocktune.space import CATALOGUE

_SCANS, _READS, _MIXED, _WRITES = "ycsb-e", "ycsb-b", "ycsb-a", "overwrite"
_MIN_SCANS_SHARE, _MIN_READS_SHARE, _MIN_MIXED_SHARE = 0.3, 0.8, 0.3
# Of the spaces, alabed's has no rules, so that it takes what a broken store has.
_RUN = ("rocktune", "run", "--device", "sata", "--space", "alabed", "--scale", "1/64", "--repeat", "3")
_COMPRESSIONS = {
    "NoCompression": "kNoCompression",
    "Snappy": "kSnappyCompression",
    "Zlib": "kZlibCompression",
    "BZip2": "kBZip2Compression",
    "LZ4": "kLZ4Compression",
    "LZ4HC": "kLZ4HCCompression",
    "ZSTD": "kZSTD",
}
"""Names of compressions in a LOG, and in options."""


def commands(facts: Facts, finding: Finding) -> tuple[str, ...]:
    """Returns two calls of `rocktune run`: with the present values, and with those to try.

    The workload is the preset nearest to the LOG's counters. Neither it nor the device is the user's own.

    Args:
        facts: the opening.
        finding: one of its findings; without suggestions there are no commands.
    """
    if not finding.suggestions:
        return ()
    base = [*_RUN, "--workload", workload_like(facts), *_options_file(facts, finding)]
    present = [(each.option, each.present) for each in finding.suggestions if each.present is not None]
    tried = [(each.option, each.value) for each in finding.suggestions]
    return tuple(shlex.join(base + _assignments(values)) for values in (present, tried))


def workload_like(facts: Facts) -> str:
    """Returns the preset workload that is nearest to the LOG's counters; writes without counters."""
    tickers = facts.tickers
    scans, reads = tickers.get("number.db.seek", 0), tickers.get("number.keys.read", 0)
    whole = scans + reads + tickers.get("number.keys.written", 0)
    if not whole:
        return _WRITES
    if scans >= _MIN_SCANS_SHARE * whole:
        return _SCANS
    if reads >= _MIN_READS_SHARE * whole:
        return _READS
    return _MIXED if reads >= _MIN_MIXED_SHARE * whole else _WRITES


def _options_file(facts: Facts, finding: Finding) -> list[str]:
    """Returns the arguments that name the user's OPTIONS file and the family, if it has several."""
    document = facts.options_file
    if document is None:
        return []
    names = [family.name for family in document.families]
    wanted = next((name for name in finding.families if name in names), "default")
    return ["--options-file", document.path, *(["--column-family", wanted] if len(names) > 1 else [])]


def _assignments(values: Sequence[tuple[str, str | None]]) -> list[str]:
    found = []
    for option, value in values:
        if value is not None:
            found += ["--option", f"{option}={_accepted(option, _COMPRESSIONS.get(value, value))}"]
    return found


def _accepted(option: str, text: str) -> str:
    """Returns a value that `rocktune run` takes: the nearest one if a knob's bounds exclude it."""
    knob = CATALOGUE.get(option)
    if knob is None:
        return text
    try:
        value = knob.parse(text)
        if isinstance(value, int | float) and not isinstance(value, bool) and knob.low is not None:
            value = max(knob.low, value if knob.high is None else min(value, knob.high))
        knob.check(value)
    except UserError:
        return text
    return str(value).lower() if isinstance(value, bool) else str(value)
