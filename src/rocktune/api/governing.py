"""Running a governed store: how compactions are kept out of the way of writes that peak."""

from collections.abc import Mapping
from contextlib import closing
from pathlib import Path
from typing import Any

from rocktune.api.engines import own_options
from rocktune.api.options import options_by_section
from rocktune.device import load_device
from rocktune.engine import EmbeddedEngine, RunFailed, default_data_directory
from rocktune.errors import UserError
from rocktune.online import GovernedLoad, figures_of, mode_options, run_governed
from rocktune.report import write_governed_report
from rocktune.space import merged_options
from rocktune.study import Observer
from rocktune.units import parse_scale, parse_seconds
from rocktune.workload import load_workload

REPORT_NAME = "report.html"
_DEFAULT_UNTIL = "350s"
_DEFAULT_READ = "60s"


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
    seed: int | None = None,
    out: str | Path | None = None,
    observer: Observer | None = None,
) -> dict[str, Any]:
    """Loads a store whose compactions are governed, then reads random keys from what it has become.

    Args:
        workload: a name or file; "sine" by default.
        device: a name or file, with a bandwidth for the modes that have a governor.
        mode: "enabled", "disabled", "toggle" or "proportional"; see `rocktune.online.MODES`.
        scale: "1/S"; 1/16 by default.
        until: how long it is loaded, at full size; 350 s by default.
        read: how long it is read from afterwards, at full size; 60 s by default, 0 for not at all.
        governor: settings of the governor by name, as text, at full size.
        options: RocksDB's options by name, as text, at full size.
        options_file: an OPTIONS file, under `options`.
        seed: decides keys and values; 1 by default.
        out: a directory for report.html; none is written without one.
        observer: is told what happens.

    Returns:
        What `rocktune.online.figures_of` says, and `report` (the path) where there is one.

    Raises:
        UserError: something given is wrong, the store failed, or this machine lacks what it takes.
    """
    base = merged_options(own_options(options_file) or {}, options_by_section(options or {}))
    load = GovernedLoad(
        workload=load_workload(workload or "sine"),
        device=load_device(device),
        mode=mode,
        scale=parse_scale(scale or "1/16"),
        until_s=parse_seconds(_DEFAULT_UNTIL if until is None else until, "until"),
        read_s=_seconds_or_none(_DEFAULT_READ if read is None else read),
        options=base,
        governor=governor or {},
        seed=1 if seed is None else seed,
    )
    _refuse_ungovernable(load)
    watching = observer or Observer()
    engine = EmbeddedEngine(default_data_directory(), memory_limit_bytes=0, disk_limit_bytes=0)
    with closing(engine):
        total_s = (load.until_s + load.read_s) / load.scale
        watching.estimated(total_s)
        watching.phase_started("govern", total_s)
        try:
            found = figures_of(run_governed(engine, load, watching.progress))
        except RunFailed as failed:
            raise UserError(f"mode '{mode}': {failed.message}") from None
    if out is not None:
        found["report"] = Path(out) / REPORT_NAME
        write_governed_report(found["report"], found)
    return found


def _seconds_or_none(text: str | float) -> float:
    return 0.0 if str(text) in ("0", "0s", "0.0") else parse_seconds(text, "read")


def _refuse_ungovernable(load: GovernedLoad) -> None:
    settings = mode_options(load.mode, load.governor).get("governor", {})
    if settings and not load.device.bandwidth_bytes_s and settings.get("device_bytes_per_s", "0") == "0":
        raise UserError(
            f"device: '{load.device.name}' has no bandwidth that a governor could share out; "
            "choose another, or set device_bytes_per_s"
        )
