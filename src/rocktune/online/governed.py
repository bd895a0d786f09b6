"""Loads a store whose compactions are governed, then reads random keys from it.

Follows Warlo's experiments (sections 3.5 and 4): writes come in waves. Afterwards random keys are read with
compactions off, so that the speed of reads shows how much was compacted during the load.
"""

from collections.abc import Mapping
from contextlib import closing
from dataclasses import dataclass, field, replace
from functools import reduce

from rocktune.device import DeviceSpec
from rocktune.engine import EmbeddedEngine
from rocktune.engine.base import Progress
from rocktune.errors import UserError, unknown_name
from rocktune.online.plain import plain_experiment
from rocktune.space import CATALOGUE, Configuration, Knob, merged_options
from rocktune.trial import Experiment, Measurement, OptionMaps
from rocktune.workload import WorkloadSpec
from rocktune.workload.loads import MixSpec, PreloadSpec
from rocktune.workload.sessions import SessionSpec

MODES = {
    "enabled": "RocksDB as it is",
    "disabled": "compactions off, and no limit on the tables in level 0",
    "toggle": "compactions off while flushes use more than a set share of the device (Warlo's idea)",
    "proportional": "compactions get the bandwidth that writes and reads leave, while their debt is small",
    "drains": "compactions off while flushes wait for a capped rate limiter (Warlo's code, for comparison)",
}
"""Compaction modes by name, each with a one-line description."""

_COMPACTIONS_OFF: OptionMaps = {
    "cf": {
        "disable_auto_compactions": "true",
        # Without auto compactions level 0 only grows, and RocksDB would delay or stop writes at its usual
        # triggers of 20 and 36 tables.
        "level0_file_num_compaction_trigger": "10000",
        "level0_slowdown_writes_trigger": "10000",
        "level0_stop_writes_trigger": "10000",
    }
}
_READ_SEED_BIT = 1 << 30
_NOTHING = Configuration({})
# Windows of a load: the points of the report's curves. A short load has fewer, since a window of a few
# milliseconds may hold no operation.
_WINDOWS = 100
_MIN_WINDOW_S = 0.05


@dataclass(frozen=True)
class GovernedLoad:
    """The load of a governed store; sizes and times are full size.

    Attributes:
        workload: operations of the load; `workload.preload` is loaded before.
        device: bandwidth and latency that the store's I/O may use; never scaled.
        mode: compaction mode, one of `MODES`.
        scale: S, the divisor of bytes, keys and times.
        until_s: seconds of load.
        read_s: seconds of random reads after the load, by one thread; 0 skips them.
        options: RocksDB options by section, before the mode changes them.
        governor: governor settings by the names of `governor_setting_names`; empty for modes without a
            governor.
        seed: seed of keys and values.
    """

    workload: WorkloadSpec
    device: DeviceSpec
    mode: str
    scale: int
    until_s: float
    read_s: float = 60.0
    options: OptionMaps = field(default_factory=dict)
    governor: Mapping[str, str] = field(default_factory=dict)
    seed: int = 1


@dataclass(frozen=True)
class GovernedRun:
    """The measurements of a governed load, at the model's size.

    Attributes:
        load: load that was run.
        windows: consecutive measurements of the load; `raw["governor"]` exists if the mode has a governor.
        reads: measurement of the random reads after the load; None if they were skipped.
        engine: name and version of the engine.
        options: options that the store was loaded with, as read back from it.
    """

    load: GovernedLoad
    windows: tuple[Measurement, ...]
    reads: Measurement | None
    engine: str
    options: OptionMaps

    @property
    def whole(self) -> Measurement:
        """The whole load as one measurement."""
        return reduce(Measurement.merged, self.windows)

    def between(self, from_s: float, until_s: float) -> Measurement:
        """Returns one measurement of the windows that begin within a stretch of the load.

        Args:
            from_s: begin in seconds of load at full size.
            until_s: end in seconds of load at full size, excluded.
        """
        scale = self.load.scale
        return reduce(
            Measurement.merged,
            # Times of windows are the model's, those of the caller full size.
            [window for window in self.windows if from_s <= window.from_s * scale < until_s],
        )


def governor_setting_names() -> dict[str, Knob]:
    """Returns the governor's settings other than its mode, by the names that users give."""
    return {
        knob.option_name: knob
        for knob in CATALOGUE.values()
        if knob.section == "governor" and knob.option_name != "mode"
    }


def mode_options(mode: str, governor: Mapping[str, str]) -> OptionMaps:
    """Returns the options that a compaction mode sets, at full size.

    Args:
        mode: compaction mode, one of `MODES`.
        governor: governor settings by name, as text; sizes may have units.

    Raises:
        UserError: the mode or a setting is unknown, a value is invalid, or the mode has no governor.
    """
    if mode not in MODES:
        raise unknown_name("mode", mode, MODES)
    if mode in ("enabled", "disabled"):
        if governor:
            raise UserError(f"governor: mode '{mode}' has no governor; leave its settings out")
        return _COMPACTIONS_OFF if mode == "disabled" else {}
    known = governor_setting_names()
    settings = {"mode": mode}
    for name, text in governor.items():
        if name not in known:
            raise unknown_name("governor setting", name, known)
        value = known[name].parse(text)
        # Here and not in the worker, so that a slip is found before minutes of loading.
        known[name].check(value)
        settings[name] = known[name].text(value)
    return {"governor": settings}


def run_governed(
    engine: EmbeddedEngine,
    load: GovernedLoad,
    progress: Progress | None = None,
    before: GovernedLoad | None = None,
) -> GovernedRun:
    """Loads a store in windows, then reopens it with compactions off and reads random keys.

    Args:
        engine: engine that opens the store.
        load: load to run.
        progress: called with the phase "advance" and the seconds done and in all, at the model's size; other
            phases are passed on.
        before: load that fills the store first and is not measured; the store is reopened afterwards.

    Raises:
        UserError: the load is invalid.
        RunFailed: the store failed.
    """
    first = before or load
    until_s, read_s = load.until_s / load.scale, load.read_s / load.scale

    def shifted(base_s: float) -> Progress:
        def report(phase: str, done: float, total: float) -> None:
            if progress is not None and phase == "advance":
                progress(phase, base_s + done, until_s + read_s)
            elif progress is not None:
                progress(phase, done, total)

        return report

    with closing(engine.open(_experiment(first), _NOTHING, first.seed, progress)) as run:
        if before is not None:
            run.advance(before.until_s / before.scale)
            engine.reopen(run, _experiment(load), _NOTHING, load.seed)
        # Kept from before the reads: their reopening turns compactions off.
        opened = run.options
        count = max(1, min(_WINDOWS, int(until_s / _MIN_WINDOW_S)))
        ends_s = [until_s * (window + 1) / count for window in range(count)]
        windows = tuple(
            run.advance(end_s, shifted(begin_s))
            for begin_s, end_s in zip([0.0, *ends_s], ends_s, strict=False)
        )
        reads = None
        if read_s:
            reading = _reading(load)
            engine.reopen(run, _experiment(reading), _NOTHING, reading.seed)
            reads = run.advance(read_s, shifted(until_s))
    return GovernedRun(load, windows, reads, engine.version, opened)


def _experiment(load: GovernedLoad) -> Experiment:
    """Returns the experiment of a load with the options that its mode sets."""
    options = merged_options(load.options, mode_options(load.mode, load.governor))
    return plain_experiment(load.workload, load.device, load.scale, options)


def _reading(load: GovernedLoad) -> GovernedLoad:
    """Returns a load of random gets by one thread over all keys of a load, with compactions off."""
    workload = load.workload.model_copy(
        update={
            "name": f"{load.workload.name}, read",
            "threads": 1,
            "sessions": (SessionSpec(mix=MixSpec(get=1.0)),),
            # The store already has its data: the load left it there.
            "preload": PreloadSpec(),
        }
    )
    # With the same seed the keys would be read in the order in which they were written.
    return replace(load, workload=workload, mode="disabled", governor={}, seed=load.seed ^ _READ_SEED_BIT)
