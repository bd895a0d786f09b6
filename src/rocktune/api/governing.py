"""Runs a store under a compaction governor."""

from collections.abc import Mapping
from contextlib import closing
from pathlib import Path
from typing import Any

from rocktune.api.engines import own_options_file
from rocktune.api.options import options_by_section
from rocktune.device import load_device
from rocktune.engine import EmbeddedEngine, RunFailed, default_data_directory
from rocktune.errors import UserError
from rocktune.online import GovernedLoad, figures_of, mode_options, run_governed
from rocktune.options_account import account_json
from rocktune.report import write_governed_report
from rocktune.space import merged_options
from rocktune.study import Observer
from rocktune.units import format_scale, parse_scale, parse_seconds
from rocktune.workload import load_workload_of_one_family

REPORT_NAME = "report.html"


def estimate_govern(
    *, scale: str | None = None, until: str | float | None = None, read: str | float | None = None
) -> dict[str, Any]:
    """Returns the estimated time of `govern`, without measuring anything.

    Args:
        scale: see `govern`.
        until: see `govern`.
        read: see `govern`.

    Returns:
        `scale` and `total_s`.

    Raises:
        UserError: a time or the scale is invalid.
    """
    divisor, until_s, read_s = _sizes(scale, until, read)
    return {"scale": format_scale(divisor), "total_s": (until_s + read_s) / divisor}


def govern(
    *,
    workload: str | None = None,
    device: str,
    mode: str = "proportional",
    scale: str | None = None,
    until: str | float | None = None,
    read: str | float | None = None,
    governor: Mapping[str, str] | None = None,
    options: Mapping[str, str] | None = None,
    options_file: str | Path | None = None,
    column_family: str | None = None,
    seed: int | None = None,
    out: str | Path | None = None,
    observer: Observer | None = None,
) -> dict[str, Any]:
    """Loads a store under a compaction governor, then reads random keys from it.

    Args:
        workload: name or file; "sine" by default.
        device: name or file; modes with a governor need one with a bandwidth.
        mode: "enabled", "disabled", "toggle", "proportional" or "drains"; see `rocktune.online.MODES`.
        scale: "1/S"; 1/16 by default.
        until: time of load at full size; 350 s by default.
        read: time of reads after the load, at full size; 60 s by default, 0 for none.
        governor: governor settings by name, as text, at full size.
        options: RocksDB options by name, as text, at full size; they override `options_file`.
        options_file: RocksDB OPTIONS file.
        column_family: column family of that file; needed if it has several.
        seed: seed of keys and values; 1 by default.
        out: directory of report.html; None writes no report.
        observer: observer of phases and progress.

    Returns:
        The figures of `rocktune.online.figures_of`, `options_account` (see `rocktune.options_account`; None
        without an OPTIONS file), and `report` (the path) if one was written.

    Raises:
        UserError: an argument is invalid, the store failed, or this machine lacks something that is needed.
    """
    divisor, until_s, read_s = _sizes(scale, until, read)
    own = own_options_file(options_file, column_family)
    # Single options come last, so that they override the file.
    base = merged_options(own.options if own else {}, options_by_section(options or {}))
    load = GovernedLoad(
        workload=load_workload_of_one_family(workload or "sine", "govern"),
        device=load_device(device),
        mode=mode,
        scale=divisor,
        until_s=until_s,
        read_s=read_s,
        options=base,
        governor=governor or {},
        seed=1 if seed is None else seed,
    )
    _refuse_ungovernable(load)
    watching = observer or Observer()
    engine = EmbeddedEngine(default_data_directory(), memory_limit_bytes=0, disk_limit_bytes=0)
    with closing(engine):
        total_s = (until_s + read_s) / divisor
        watching.estimated(total_s)
        watching.phase_started("govern", total_s)
        try:
            found = figures_of(run_governed(engine, load, watching.progress))
        except RunFailed as failed:
            raise UserError(f"mode '{mode}': {failed.message}") from None
    found["options_account"] = account_json(own.account if own else None)
    # The figures are returned in any case; only the page is optional.
    if out is not None:
        found["report"] = Path(out) / REPORT_NAME
        write_governed_report(found["report"], found)
    return found


def _sizes(
    scale: str | None, until: str | float | None, read: str | float | None
) -> tuple[int, float, float]:
    """Returns S, and the seconds of load and of reads at full size."""
    until_s = parse_seconds("350s" if until is None else until, "until")
    read_s = parse_seconds("60s" if read is None else read, "read", zero=True)
    return parse_scale(scale or "1/16"), until_s, read_s


def _refuse_ungovernable(load: GovernedLoad) -> None:
    """Checks that the governor knows the device's bandwidth.

    Raises:
        UserError: neither device nor governor settings have a bandwidth.
    """
    settings = mode_options(load.mode, load.governor).get("governor", {})
    if settings and not load.device.bandwidth_bytes_s and settings.get("device_bytes_per_s", "0") == "0":
        raise UserError(
            f"device: '{load.device.name}' has no bandwidth limit that the governor could share; "
            "choose another device, or set device_bytes_per_s"
        )
