"""Measures the trade-off map: which shape of the tree suits which mix of operations."""

from collections.abc import Mapping, Sequence
from contextlib import closing
from dataclasses import asdict
from itertools import groupby
from pathlib import Path
from statistics import median
from typing import Any

from rocktune.api.engines import own_options_file
from rocktune.api.options import options_by_section
from rocktune.device import load_device
from rocktune.engine import EmbeddedEngine, RunFailed, default_data_directory
from rocktune.errors import UserError
from rocktune.importing import ImportedOptions
from rocktune.online import MapPoint, MapRequest, map_seconds, run_map
from rocktune.online.flsm import Filters
from rocktune.options_account import account_json
from rocktune.report import write_tradeoff_report
from rocktune.space import merged_options
from rocktune.study import Observer
from rocktune.units import format_scale, parse_scale, parse_seconds
from rocktune.workload import load_workload_of_one_family

REPORT_NAME = "map.html"
SHAPES = ("1", "2", "5", "10", "lazy-leveling", "leveled", "universal")
LOOKUPS = (0.1, 0.5, 0.9, 0.99)


def estimate_map(**asked: Any) -> dict[str, Any]:
    """Returns the estimated time of `map_flsm`, without measuring anything.

    Args:
        asked: arguments of `map_flsm` except `out` and `observer`.

    Returns:
        `scale` and `total_s`, without loading.

    Raises:
        UserError: see `map_flsm`.
    """
    _, request = _own_and_request(**asked)
    return {"scale": format_scale(request.scale), "total_s": map_seconds(request)}


def map_flsm(
    *, out: str | Path | None = None, observer: Observer | None = None, **asked: Any
) -> dict[str, Any]:
    """Measures FLSM shapes and RocksDB's own compaction styles under several mixes of operations.

    Args:
        out: directory of map.html; None writes no report.
        observer: observer of phases and progress.
        asked: by name: `device` (name or file), and with defaults: `workload` (name or file whose mix is
            replaced; "ruskey-balanced"), `scale` ("1/S"; 1/128), `shapes` (K as text, a preset of FLSM
            stores, "leveled" or "universal"), `lookups` (shares from 0 to 1), `absent` (whether lookups ask
            for absent keys), `filters` ("uniform", "monkey"), `bits_per_key`, `size_ratio`, `warm` and
            `measure` (times at full size before and during the measurement of each point), `repeats`,
            `options` and `options_file` (RocksDB's, at full size), `column_family` (of that file), `seed`.

    Returns:
        A JSON object. `workload`, `device`, `scale`, `engine`, `absent`. `points`: the fields of
        `rocktune.online.MapPoint` for each run. `summary`: the same for each point as median over its runs,
        with `throughput_ops_s_low` and `throughput_ops_s_high`. `options_account`: see
        `rocktune.options_account`; None without an OPTIONS file. `report`: the path, if one was written.

    Raises:
        UserError: an argument is invalid, a store failed, or this machine lacks something that is needed.
    """
    own, request = _own_and_request(**asked)
    watching = observer or Observer()
    total_s = map_seconds(request)
    engine = EmbeddedEngine(default_data_directory(), memory_limit_bytes=0, disk_limit_bytes=0)
    with closing(engine):
        watching.estimated(total_s)
        watching.phase_started("map", total_s)
        try:
            points = run_map(engine, request, watching.progress)
        except RunFailed as failed:
            raise UserError(f"map: {failed.message}") from None
        version = engine.version
    found: dict[str, Any] = {
        "workload": request.workload.name,
        "device": request.device.name,
        "scale": format_scale(request.scale),
        "engine": version,
        "absent": request.absent,
        "points": [asdict(point) for point in points],
        "summary": summary_of(points),
        "options_account": account_json(own.account if own else None),
    }
    if out is not None:
        found["report"] = Path(out) / REPORT_NAME
        write_tradeoff_report(found["report"], found)
    return found


def summary_of(points: Sequence[MapPoint]) -> list[dict[str, Any]]:
    """Returns one row per point: the median of each figure over its runs, and the range of throughput."""

    def key(point: MapPoint) -> tuple[str, float, float]:
        return point.filters, point.bits_per_key, point.lookups

    order = {shape: number for number, shape in enumerate(dict.fromkeys(point.shape for point in points))}
    # groupby needs equal points next to each other, and they were measured turn after turn.
    ordered = sorted(points, key=lambda point: (*key(point), order[point.shape]))
    rows = []
    for _, group in groupby(ordered, key=lambda point: (key(point), point.shape)):
        runs = [asdict(point) for point in group]
        throughputs = [run["throughput_ops_s"] for run in runs]
        rows.append(
            {
                name: median(run[name] for run in runs) if isinstance(value, float) else value
                for name, value in runs[0].items()
                if name != "turn"
            }
            | {"throughput_ops_s_low": min(throughputs), "throughput_ops_s_high": max(throughputs)}
        )
    return rows


def _own_and_request(
    *, options_file: str | Path | None = None, column_family: str | None = None, **asked: Any
) -> tuple[ImportedOptions | None, MapRequest]:
    own = own_options_file(options_file, column_family)
    return own, _request(own, **asked)


def _request(
    own: ImportedOptions | None,
    *,
    workload: str | None = None,
    device: str,
    scale: str | None = None,
    shapes: Sequence[str] = SHAPES,
    lookups: Sequence[float] = LOOKUPS,
    absent: bool = False,
    filters: Sequence[Filters] = ("uniform",),
    bits_per_key: Sequence[float] = (8.0,),
    size_ratio: int = 10,
    warm: str | float | None = None,
    measure: str | float | None = None,
    repeats: int = 1,
    options: Mapping[str, str] | None = None,
    seed: int | None = None,
) -> MapRequest:
    """Returns the request of a map; see `map_flsm` for the arguments and their defaults."""
    return MapRequest(
        workload=load_workload_of_one_family(workload or "ruskey-balanced", "flsm map"),
        device=load_device(device),
        scale=parse_scale(scale or "1/128"),
        shapes=shapes,
        lookups=lookups,
        absent=absent,
        filters=filters,
        bits_per_key=bits_per_key,
        size_ratio=size_ratio,
        warm_s=parse_seconds("1280s" if warm is None else warm, "warm"),
        measure_s=parse_seconds("2560s" if measure is None else measure, "measure"),
        repeats=repeats,
        options=merged_options(own.options if own else {}, options_by_section(options or {})),
        seed=1 if seed is None else seed,
    )
