"""Governed runs, FLSM stores and the controllers that adapt both while a store serves."""

from rocktune.online.adaptive import AdaptiveStore, LoggedDecision
from rocktune.online.driving import CountedWork, DrivenMission, DriveRequest, run_drive
from rocktune.online.figures import figures_of
from rocktune.online.flsm import (
    FlsmFamily,
    FlsmLevel,
    FlsmLevelStatistics,
    FlsmShape,
    FlsmSimulator,
    FlsmSnapshot,
    FlsmStatistics,
    FlsmStore,
    MapPoint,
    MapRequest,
    flsm_shape_of,
    flsm_statistics_of,
    map_seconds,
    read_flsm_shape,
    run_map,
)
from rocktune.online.governed import (
    MODES,
    GovernedLoad,
    GovernedRun,
    governor_setting_names,
    mode_options,
    run_governed,
)
from rocktune.online.missions import MissionLoad, run_missions
from rocktune.online.sessions import SESSIONS, SessionsSpec, load_sessions

__all__ = [
    "MODES",
    "SESSIONS",
    "AdaptiveStore",
    "CountedWork",
    "DriveRequest",
    "DrivenMission",
    "FlsmFamily",
    "FlsmLevel",
    "FlsmLevelStatistics",
    "FlsmShape",
    "FlsmSimulator",
    "FlsmSnapshot",
    "FlsmStatistics",
    "FlsmStore",
    "GovernedLoad",
    "GovernedRun",
    "LoggedDecision",
    "MapPoint",
    "MapRequest",
    "MissionLoad",
    "SessionsSpec",
    "figures_of",
    "flsm_shape_of",
    "flsm_statistics_of",
    "governor_setting_names",
    "load_sessions",
    "map_seconds",
    "mode_options",
    "read_flsm_shape",
    "run_drive",
    "run_governed",
    "run_map",
    "run_missions",
]
