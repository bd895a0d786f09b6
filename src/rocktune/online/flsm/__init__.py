"""RusKey's FLSM-tree (section 4) on RocksDB: an LSM-tree whose shape can change while it serves."""

from rocktune.online.flsm.family import FlsmFamily
from rocktune.online.flsm.layout import Filters, Granularity, Transition, flsm_layout, policies_of
from rocktune.online.flsm.shape import FlsmLevel, FlsmShape, flsm_shape_of, read_flsm_shape
from rocktune.online.flsm.simulator import FlsmSimulator
from rocktune.online.flsm.statistics import (
    FlsmLevelStatistics,
    FlsmServed,
    FlsmStatistics,
    flsm_statistics_of,
)
from rocktune.online.flsm.store import FlsmSnapshot, FlsmStore
from rocktune.online.flsm.tradeoff_map import MapPoint, MapRequest, map_seconds, run_map

__all__ = [
    "Filters",
    "FlsmFamily",
    "FlsmLevel",
    "FlsmLevelStatistics",
    "FlsmServed",
    "FlsmShape",
    "FlsmSimulator",
    "FlsmSnapshot",
    "FlsmStatistics",
    "FlsmStore",
    "Granularity",
    "MapPoint",
    "MapRequest",
    "Transition",
    "flsm_layout",
    "flsm_shape_of",
    "flsm_statistics_of",
    "map_seconds",
    "policies_of",
    "read_flsm_shape",
    "run_map",
]
