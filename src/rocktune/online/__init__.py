"""What adapts while a store serves: the compaction governor, and a tree whose shape can change."""

from rocktune.online.figures import figures_of
from rocktune.online.flsm import FlsmLevel, FlsmShape, FlsmSnapshot, FlsmStore, read_flsm_shape
from rocktune.online.governed import (
    MODES,
    GovernedLoad,
    GovernedRun,
    governor_setting_names,
    mode_options,
    run_governed,
)

__all__ = [
    "MODES",
    "FlsmLevel",
    "FlsmShape",
    "FlsmSnapshot",
    "FlsmStore",
    "GovernedLoad",
    "GovernedRun",
    "figures_of",
    "governor_setting_names",
    "mode_options",
    "read_flsm_shape",
    "run_governed",
]
