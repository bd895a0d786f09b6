"""Converts windows between measurements and the ledger's columns: scalars for SQL, and distributions."""

from collections.abc import Iterable
from functools import reduce
from typing import Any

from rocktune.trial import Measurement

# Ledgers keep a worker's names of figures; older workers had other names for these.
_RENAMED = {"longest_write_stop_s": "max_write_stop_s"}
_BULKY = ("series", "tickers", "histograms", "output", "neighbours")


def split_window(window: Measurement) -> tuple[dict[str, Any], dict[str, Any]]:
    """Returns a window as (scalars, distributions); `join_window` is the inverse.

    Distributions are large: latency histograms by operation kind, series, tickers, RocksDB's histograms,
    the output of a user's program, and the measurements on other workloads. They are stored compressed.
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
    """Returns the window made of scalars and distributions, with the present names of its figures."""
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
    """Returns figures under their present names."""
    return {_RENAMED.get(name, name): value for name, value in figures.items()}


def cumulative(windows: Iterable[Measurement]) -> Measurement:
    """Returns a run's figures from age 0.

    Args:
        windows: at least one window of the run, in order of age. A window that begins at 0 replaces all
            before it, because an engine that cannot pause runs measures each age from 0.
    """
    return reduce(lambda earlier, later: later if later.from_s == 0 else earlier.merged(later), windows)
