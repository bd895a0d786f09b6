"""A measured window as the ledger keeps it: scalars that SQL can read, and compressed distributions."""

from collections.abc import Iterable
from functools import reduce
from typing import Any

from rocktune.trial import Measurement

# Ledgers keep what a worker reported; older workers called some figures otherwise.
_RENAMED = {"longest_write_stop_s": "max_write_stop_s"}
_BULKY = ("series", "tickers", "histograms", "output")


def split_window(window: Measurement) -> tuple[dict[str, Any], dict[str, Any]]:
    """Splits a window into (scalars, distributions); `join_window` undoes it.

    Distributions are the latency histograms by operation kind, the series, tickers and RocksDB's histograms,
    and what a program of the user's has printed.
    """
    operations = window.raw.get("operations", {})
    distributions: dict[str, Any] = {name: window.raw[name] for name in _BULKY if name in window.raw}
    distributions["latency_ns"] = {
        kind: counted["latency_ns"] for kind, counted in operations.items() if "latency_ns" in counted
    }
    scalars = {name: value for name, value in window.raw.items() if name not in _BULKY}
    if "operations" in window.raw:
        scalars["operations"] = {
            kind: {name: value for name, value in counted.items() if name != "latency_ns"}
            for kind, counted in operations.items()
        }
    return scalars, distributions


def join_window(scalars: dict[str, Any], distributions: dict[str, Any]) -> Measurement:
    """Returns the window that `split_window` split, with today's names for the figures."""
    latency_ns = distributions["latency_ns"]
    scalars = _renamed(scalars)
    if "figures" in scalars:
        scalars["figures"] = _renamed(scalars["figures"])
    raw = scalars | {name: value for name, value in distributions.items() if name != "latency_ns"}
    if "operations" in scalars:
        raw["operations"] = {
            kind: counted | ({"latency_ns": latency_ns[kind]} if kind in latency_ns else {})
            for kind, counted in scalars["operations"].items()
        }
    return Measurement(raw)


def _renamed(figures: dict[str, Any]) -> dict[str, Any]:
    return {_RENAMED.get(name, name): value for name, value in figures.items()}


def cumulative(windows: Iterable[Measurement]) -> Measurement:
    """Returns a run's figures from age 0.

    Args:
        windows: the run's, in order of age; at least one. One that begins at 0 stands for all before it: the
            engine cannot go on with a run and has measured the larger age afresh.
    """
    return reduce(lambda earlier, later: later if later.from_s == 0 else earlier.merged(later), windows)
