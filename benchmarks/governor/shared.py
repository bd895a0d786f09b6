"""Shared code of the experiments on Warlo's thesis: options, device, modes, and one measured run."""

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from benchmarks.common.claims import Claim, Measured, Settings, decided, ratio_interval, reported
from rocktune.device import DeviceSpec, load_device
from rocktune.engine import EmbeddedEngine
from rocktune.online import GovernedLoad, GovernedRun, figures_of, run_governed
from rocktune.space import merged_options
from rocktune.trial import OptionMaps
from rocktune.units import MIB
from rocktune.workload import WorkloadSpec, load_workload

SCALE = 16
WAVE_S = 350.0
DEVICE = "lite-on-256"
DEVICE_BYTES_S = 430 * 10**6
"""The thesis' drive."""
CALIBRATED_MB_S = 530.0
"""On which RocksDB as it is accepts 62 MB/s of the wave (`calibration`)."""
CAP_BYTES_S = 190 * 10**6
"""The thesis' cap on flushes and compactions together (section 3.5.1): 380 MB/s, which RocksDB halves."""

THESIS: OptionMaps = {
    "db": {
        "max_background_flushes": "4",
        "max_background_compactions": "2",
        "max_subcompactions": "1",
        "compaction_readahead_size": "0",
    },
    "cf": {
        "write_buffer_size": str(64 * MIB),
        "max_write_buffer_number": "6",
        "compression": "kNoCompression",
        "level_compaction_dynamic_level_bytes": "false",
        "max_bytes_for_level_base": str(256 * MIB),
        "target_file_size_base": str(64 * MIB),
        "level0_file_num_compaction_trigger": "4",
        "level0_slowdown_writes_trigger": "20",
        "level0_stop_writes_trigger": "36",
    },
    "table": {"block_cache": str(8 * MIB), "filter_policy": "nullptr"},
}
"""db_bench's of 2018 with the thesis' changes (section 3.5.6); what later versions do otherwise is pinned."""

RAISED_TRIGGERS: OptionMaps = {
    "cf": {
        "level0_slowdown_writes_trigger": "10000",
        "level0_stop_writes_trigger": "10000",
        "soft_pending_compaction_bytes_limit": "0",
        "hard_pending_compaction_bytes_limit": "0",
    }
}
BLOOM: OptionMaps = {"table": {"filter_policy": "bloomfilter:10:false"}}
TWO_SUBCOMPACTIONS: OptionMaps = {"db": {"max_subcompactions": "2"}}


@dataclass(frozen=True)
class Way:
    """One of the ways to run the store that an experiment compares.

    Attributes:
        name: name in figures and claims.
        mode: one of `rocktune.online.MODES`.
        options: RocksDB options that override the thesis'.
        governor: governor settings.
    """

    name: str
    mode: str
    options: OptionMaps = field(default_factory=dict)
    governor: Mapping[str, str] = field(default_factory=dict)


ENABLED = Way("enabled", "enabled")
DISABLED = Way("disabled", "disabled")
# The thesis' tuner gave the store two subcompactions; what is compared with it has them too.
RAISED = Way("raised", "enabled", merged_options(RAISED_TRIGGERS, TWO_SUBCOMPACTIONS))
# The thesis' tuner knows no bound.
_UNBOUNDED = {"debt_runs": "0", "debt_bytes": "0"}
TOGGLE = Way("toggle", "toggle", TWO_SUBCOMPACTIONS, _UNBOUNDED)
PROPORTIONAL = Way("proportional", "proportional", TWO_SUBCOMPACTIONS)
# The toggle's limit on compactions without its switch.
LIMITED = Way("limited", "proportional", TWO_SUBCOMPACTIONS, _UNBOUNDED | {"merge_level0": "false"})
# The thesis' tuner itself: drains of its capped limiter decide, and compactions have no limit of their own.
DRAINS = Way("drains", "drains", TWO_SUBCOMPACTIONS, _UNBOUNDED | {"max_flush_bytes_per_s": str(CAP_BYTES_S)})
# Its cap without its switch, which only flushes that wait for every single refill would fire; `switched_off`
# of the runs says whether they did.
CAPPED = Way(
    "capped", "drains", TWO_SUBCOMPACTIONS, {**DRAINS.governor, "flush_share": "1", "total_share": "1"}
)
WAYS = (ENABLED, DISABLED, TOGGLE, PROPORTIONAL)


def device_of(settings: Settings) -> DeviceSpec:
    """Returns the thesis' drive with the bandwidth of the flag `--device-mb-s`."""
    bytes_s = round(float(settings.extra["device_mb_s"]) * 1e6)
    return load_device(DEVICE).model_copy(update={"bandwidth_bytes_s": bytes_s})


def load_of(
    settings: Settings,
    way: Way,
    until_s: float,
    *,
    read_s: float = 60.0,
    workload: WorkloadSpec | None = None,
    options: OptionMaps | None = None,
) -> GovernedLoad:
    """Returns the load of a way at full size; `options` override its own."""
    return GovernedLoad(
        workload=workload or load_workload("sine"),
        device=device_of(settings),
        mode=way.mode,
        scale=settings.scale,
        until_s=until_s,
        read_s=read_s,
        options=merged_options(THESIS, way.options, options or {}),
        governor=dict(way.governor),
        seed=settings.seed,
    )


def interleaved(
    settings: Settings, engine: EmbeddedEngine, loads: Mapping[str, GovernedLoad], repeats: int
) -> dict[str, list[GovernedRun]]:
    """Runs every load repeatedly in turn; equal turns have equal seeds."""
    runs: dict[str, list[GovernedRun]] = {name: [] for name in loads}
    for turn in range(repeats):
        for name, load in loads.items():
            run = run_governed(engine, replace(load, seed=load.seed + turn))
            runs[name].append(run)
            settings.say(f"{turn + 1}/{repeats} {told(name, run)}")
    return runs


def told(name: str, run: GovernedRun) -> str:
    """Returns a way's name and the main figures of its run as one line of text."""
    found = figures_of(run)
    return (
        f"{name}: {found['ingest_mb_s']:.1f} MB/s, {found['random_read_ops_s_after']:.0f} reads/s after, "
        f"longest stop {found['max_write_stop_ms'] / 1e3:.1f} s"
    )


def figures(runs: Mapping[str, Iterable[GovernedRun]], name: str) -> dict[str, list[float]]:
    """Returns one figure of all runs, by way."""
    return {way: [float(figures_of(run)[name]) for run in each] for way, each in runs.items()}


def reported_of(
    runs: Mapping[str, list[GovernedRun]],
    name: str,
    source: str,
    unit: str,
    measured: Measured,
    paper: Any = None,
) -> Claim:
    """Returns a claim without a target with the engine and the device of the runs."""
    first = next(iter(runs.values()))[0]
    return reported(
        name, source, unit, measured, paper, engine=first.engine, device=described(first.load.device)
    )


def decided_of(
    runs: Mapping[str, list[GovernedRun]],
    name: str,
    source: str,
    unit: str,
    measured: Measured,
    *,
    least: float = -math.inf,
    most: float = math.inf,
    paper: Any = None,
) -> Claim:
    """Returns a claim that holds where the whole interval is from `least` to `most`."""
    return decided(reported_of(runs, name, source, unit, measured, paper), least, most)


def rows_of(values: Mapping[str, Mapping[str, Sequence[float]]]) -> list[dict[str, Any]]:
    """Returns rows for a file, one for each way and turn, of figures by name, way and turn."""
    first = next(iter(values.values()))
    return [
        {"way": way, "turn": turn} | {name: figure[way][turn] for name, figure in values.items()}
        for way, each in first.items()
        for turn in range(len(each))
    ]


def paired_ratio(runs: Mapping[str, list[GovernedRun]], name: str, way: str, other: str) -> Measured:
    """Returns the ratio of a figure between two ways, paired by turn."""
    values = figures(runs, name)
    return ratio_interval([one / two for one, two in zip(values[way], values[other], strict=True)])


def described(device: DeviceSpec) -> str:
    """Returns a device's name with its bandwidth."""
    return f"{device.name} at {device.bandwidth_bytes_s / 1e6:g} MB/s"
