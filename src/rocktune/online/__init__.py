"""What adapts while a store serves: the compaction governor."""

from rocktune.online.figures import figures_of
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
    "GovernedLoad",
    "GovernedRun",
    "figures_of",
    "governor_setting_names",
    "mode_options",
    "run_governed",
]
