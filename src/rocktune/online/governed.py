"""Loading a store whose compactions are governed, and reading from what the load leaves behind.

Warlo's experiments (sections 3.5 and 4): writes come in waves, and afterwards random keys are read with
compactions off, so that how much was compacted shows.
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
from rocktune.workload.spec import MixSpec, PreloadSpec, SessionSpec

MODES = {
    "enabled": "RocksDB as it is",
    "disabled": "compactions off, and no limit to the tables of level 0",
    "toggle": "compactions off while flushes take their share of the device (Warlo's auto-tuner)",
    "proportional": "compactions get what writes and reads leave of the device, while they owe little",
}
"""What can be done about compactions, each with what it is in one line."""

_COMPACTIONS_OFF: OptionMaps = {
    "cf": {
        "disable_auto_compactions": "true",
        "level0_file_num_compaction_trigger": "10000",
        "level0_slowdown_writes_trigger": "10000",
        "level0_stop_writes_trigger": "10000",
    }
}
_READING = 1 << 30
_NOTHING = Configuration({})
_WINDOWS = 100
_SHORTEST_WINDOW_S = 0.05


@dataclass(frozen=True)
class GovernedLoad:
    """What a governed store is asked to do, all of it at full size.

    Attributes:
        workload: its writes; `workload.preload` is there before.
        device: what the store's I/O may use; never scaled.
        mode: one of `MODES`.
        scale: S, by which bytes, keys and times are divided.
        until_s: how long it is loaded.
        read_s: how long random keys are read afterwards, by one thread; 0 for not at all.
        options: RocksDB's, before the mode changes them.
        governor: settings of the governor, for the modes that have one, by `governor_setting_names`.
        seed: decides keys and values.
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
    """What came of it, at the model's size.

    Attributes:
        load: what was asked.
        windows: of the load, one after the other; their raw figures have `governor` where there was one.
        reads: of the random reads afterwards; None where there were none.
        engine: what was measured.
        options: what the store was loaded with, as read back.
    """

    load: GovernedLoad
    windows: tuple[Measurement, ...]
    reads: Measurement | None
    engine: str
    options: OptionMaps

    @property
    def whole(self) -> Measurement:
        """The load as one window."""
        return reduce(Measurement.merged, self.windows)

    def between(self, from_s: float, until_s: float) -> Measurement:
        """Returns the windows that begin in a stretch of the load's time, as one.

        Args:
            from_s: seconds at full size.
            until_s: seconds at full size, excluded.
        """
        scale = self.load.scale
        return reduce(
            Measurement.merged,
            [window for window in self.windows if from_s <= window.from_s * scale < until_s],
        )


def governor_setting_names() -> dict[str, Knob]:
    """Returns the governor's settings, all but its mode, by the names that a user gives."""
    return {
        knob.option_name: knob
        for knob in CATALOGUE.values()
        if knob.section == "governor" and knob.option_name != "mode"
    }


def mode_options(mode: str, governor: Mapping[str, str]) -> OptionMaps:
    """Returns what a mode changes of a store's options, at full size.

    Args:
        mode: one of `MODES`.
        governor: settings by name, as text; sizes may have units.

    Raises:
        UserError: there is no such mode or setting, a value is none of its setting's, or the mode has no
            governor to set.
    """
    if mode not in MODES:
        raise unknown_name("mode", mode, MODES)
    if mode in ("enabled", "disabled"):
        if governor:
            raise UserError(f"governor: mode '{mode}' has none that could be set; leave the settings out")
        return _COMPACTIONS_OFF if mode == "disabled" else {}
    known = governor_setting_names()
    settings = {"mode": mode}
    for name, text in governor.items():
        if name not in known:
            raise unknown_name("governor setting", name, known)
        value = known[name].parse(text)
        known[name].check(value)
        settings[name] = known[name].text(value)
    return {"governor": settings}


def run_governed(
    engine: EmbeddedEngine,
    load: GovernedLoad,
    progress: Progress | None = None,
    before: GovernedLoad | None = None,
) -> GovernedRun:
    """Loads a store in windows, then opens it again with compactions off and reads random keys.

    Args:
        engine: where.
        load: what to do.
        progress: is told of the whole: phase "advance", seconds done and in all, at the model's size.
        before: how the store is filled first, which is not measured; it is opened again for the load.

    Raises:
        UserError: the load is wrong somewhere.
        RunFailed: the store failed.
    """
    first = before or load
    until_s, read_s = load.until_s / load.scale, load.read_s / load.scale

    def told(base_s: float) -> Progress:
        def tell(phase: str, done: float, total: float) -> None:
            if progress is not None and phase == "advance":
                progress(phase, base_s + done, until_s + read_s)
            elif progress is not None:
                progress(phase, done, total)

        return tell

    with closing(engine.open(_experiment(first), _NOTHING, first.seed, progress)) as run:
        if before is not None:
            run.advance(before.until_s / before.scale)
            engine.reopen(run, _experiment(load), _NOTHING, load.seed)
        opened = run.options
        count = max(1, min(_WINDOWS, int(until_s / _SHORTEST_WINDOW_S)))
        ends_s = [until_s * (window + 1) / count for window in range(count)]
        windows = tuple(
            run.advance(end_s, told(begin_s)) for begin_s, end_s in zip([0.0, *ends_s], ends_s, strict=False)
        )
        reads = None
        if read_s:
            reading = _reading(load)
            engine.reopen(run, _experiment(reading), _NOTHING, reading.seed)
            reads = run.advance(read_s, told(until_s))
    return GovernedRun(load, windows, reads, engine.version, opened)


def _experiment(load: GovernedLoad) -> Experiment:
    options = merged_options(load.options, mode_options(load.mode, load.governor))
    return plain_experiment(load.workload, load.device, load.scale, options)


def _reading(load: GovernedLoad) -> GovernedLoad:
    """Returns random gets over the whole key space of a load, by one thread, with compactions off."""
    workload = load.workload.model_copy(
        update={
            "name": f"{load.workload.name}, read",
            "threads": 1,
            "sessions": (SessionSpec(mix=MixSpec(get=1.0)),),
            "preload": PreloadSpec(),
        }
    )
    # With the seed of the load keys would be read in the order in which they were written.
    return replace(load, workload=workload, mode="disabled", governor={}, seed=load.seed ^ _READING)
