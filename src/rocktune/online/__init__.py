"""What adapts while a store serves: the compaction governor, and a tree whose shape can change."""

from rocktune.online.figures import figures_of
from rocktune.online.flsm import FlsmLevel, FlsmShape, FlsmSnapshot, FlsmStore, flsm_shape_of, read_flsm_shape
from rocktune.online.flsm_simulator import FlsmSimulator
from rocktune.online.governed import (
    MODES,
    GovernedLoad,
    GovernedRun,
    governor_setting_names,
    mode_options,
    run_governed,
)
from rocktune.online.missions import MissionLoad, run_missions

__all__ = [
    "MODES",
    "FlsmLevel",
    "FlsmShape",
    "FlsmSimulator",
    "FlsmSnapshot",
    "FlsmStore",
    "GovernedLoad",
    "GovernedRun",
    "MissionLoad",
    "figures_of",
    "flsm_shape_of",
    "governor_setting_names",
    "mode_options",
    "read_flsm_shape",
    "run_governed",
    "run_missions",
]
