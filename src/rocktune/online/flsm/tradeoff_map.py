"""The trade-off map: measures which shape of the tree serves which mix of operations best.

Compares as RusKey's figures 6 and 8 do after convergence: FLSM policies, and RocksDB's own compaction styles.
"""

import itertools
from collections.abc import Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass, field

from rocktune.device import DeviceSpec
from rocktune.engine import EmbeddedEngine
from rocktune.engine.base import Progress
from rocktune.errors import UserError, unknown_name
from rocktune.lsm import STATIC_POLICIES, static_policy
from rocktune.online.flsm.layout import FILTERS, Filters
from rocktune.online.plain import plain_experiment
from rocktune.space import merged_options
from rocktune.trial import Configuration, Measurement, OptionMaps
from rocktune.workload import WorkloadSpec
from rocktune.workload.loads import MixSpec

STOCK = {"leveled": "kCompactionStyleLevel", "universal": "kCompactionStyleUniversal"}
"""RocksDB's own compaction styles by the map's names."""


@dataclass(frozen=True)
class MapRequest:
    """The points of a map and how to measure them; sizes and times are full size.

    Attributes:
        workload: keys, values, threads and preload; its mix is replaced.
        device: bandwidth and latency that the store's I/O may use; never scaled.
        scale: S, the divisor of bytes, keys and times.
        shapes: shapes to compare: K of all levels as text, one of `rocktune.lsm.STATIC_POLICIES`, or one of
            `STOCK`.
        lookups: shares of lookups, each from 0 to 1; all other operations are puts.
        absent: whether lookups ask for keys that the store does not have.
        filters: filter schemes of the FLSM stores to compare.
        bits_per_key: mean bits of filters for each key, each from 0 to 100.
        size_ratio: T of FLSM and leveled stores.
        warm_s: seconds of load before a point is measured.
        measure_s: seconds of measurement of each point. If the deeper levels are not pushed in this time,
            policies that defer merges look better than they are.
        repeats: number of runs of each point, all points in turn; each turn has its own keys and preload.
        options: RocksDB options by section; those of a shape override them.
        seed: seed of keys and values.

    Raises:
        UserError: a shape or filter scheme is unknown, or a number is out of its range.
    """

    workload: WorkloadSpec
    device: DeviceSpec
    scale: int
    shapes: Sequence[str]
    lookups: Sequence[float]
    absent: bool = False
    filters: Sequence[Filters] = ("uniform",)
    bits_per_key: Sequence[float] = (8.0,)
    size_ratio: int = 10
    warm_s: float = 1280.0
    measure_s: float = 2560.0
    repeats: int = 1
    options: OptionMaps = field(default_factory=dict)
    seed: int = 1

    def __post_init__(self) -> None:
        """Checks all fields before anything is measured."""
        for shape in self.shapes:
            shape_options(shape, "uniform", 8.0, self.size_ratio)
        for scheme in self.filters:
            if scheme not in FILTERS:
                raise unknown_name("filters", scheme, FILTERS)
        for name, values, max_value in (
            ("lookups", self.lookups, 1),
            ("bits_per_key", self.bits_per_key, 100),
        ):
            for value in values:
                if not 0 <= value <= max_value:
                    raise UserError(f"{name}: {value:g} must be from 0 to {max_value}")
        if self.repeats < 1:
            raise UserError(f"repeats: {self.repeats} must be at least 1")


@dataclass(frozen=True)
class MapPoint:
    """The measurement of one shape under one mix.

    Attributes:
        shape: shape, see `MapRequest.shapes`.
        lookups: share of lookups, from 0 to 1.
        filters: filter scheme.
        bits_per_key: mean bits of filters for each key.
        turn: number of the repetition, from 0.
        throughput_ops_s: operations per second; larger is better.
        read_latency_us_p99: 99th percentile of read latency in microseconds; smaller is better, NaN without
            lookups.
        write_latency_us_p99: 99th percentile of write latency in microseconds; smaller is better, NaN without
            puts.
        write_amplification: bytes written to the device for each byte of the user; smaller is better.
        stalled_share: share of time in which writes were delayed or stopped; smaller is better.
        compaction_share: share of the device's read and written bytes that compactions caused.
    """

    shape: str
    lookups: float
    filters: str
    bits_per_key: float
    turn: int
    throughput_ops_s: float
    read_latency_us_p99: float
    write_latency_us_p99: float
    write_amplification: float
    stalled_share: float
    compaction_share: float


def map_seconds(request: MapRequest) -> float:
    """Returns the seconds that measuring takes, without loading."""
    return len(list(_runs(request))) * (request.warm_s + request.measure_s) / request.scale


def run_map(engine: EmbeddedEngine, request: MapRequest, progress: Progress | None = None) -> list[MapPoint]:
    """Measures every point of a map, turn after turn, and returns the points in that order.

    Args:
        engine: engine that opens the stores.
        request: points to measure.
        progress: called after each point with the phase "map", the seconds measured and all seconds.

    Raises:
        RunFailed: a store failed, or RocksDB refuses an option.
    """
    points: list[MapPoint] = []
    total_s = map_seconds(request)
    for turn, lookups, bits, filters, shape in _runs(request):
        options = merged_options(request.options, shape_options(shape, filters, bits, request.size_ratio))
        workload = request.workload.model_copy(update={"sessions": _session(request, lookups)})
        # Points of one turn share their keys, so that they differ only in shape and mix.
        seed = request.seed + turn
        experiment = plain_experiment(workload, request.device, request.scale, options, seed)
        with closing(engine.open(experiment, Configuration({}), seed)) as run:
            run.advance(request.warm_s / request.scale)
            window = run.advance((request.warm_s + request.measure_s) / request.scale)
        points.append(_point(window, shape, lookups, filters, bits, turn))
        if progress is not None:
            progress("map", total_s * len(points) / len(list(_runs(request))), total_s)
    return points


def shape_options(shape: str, filters: Filters, bits_per_key: float, size_ratio: int) -> OptionMaps:
    """Returns the RocksDB and FLSM options of a shape, by section.

    Raises:
        UserError: the shape is unknown.
    """
    if shape in STOCK:
        return {
            "cf": {"compaction_style": STOCK[shape], "max_bytes_for_level_multiplier": str(size_ratio)},
            "table": {"filter_policy": f"bloomfilter:{bits_per_key:g}:false"},
        }
    named = {"filters": filters, "bits_per_key": f"{bits_per_key:g}", "size_ratio": str(size_ratio)}
    # Small size ratios need many levels. With too few, the deepest one would hold all the rest, above its
    # capacity.
    named |= {"levels": "12"} if size_ratio < 6 else {}
    if shape in STATIC_POLICIES:
        policy, largest = static_policy(shape, size_ratio)
        return {"flsm": named | {"policy_1": str(policy), "deepest_policy": str(largest)}}
    if not shape.isdigit() or not 1 <= int(shape) <= size_ratio:
        raise unknown_name("shape", shape, (*map(str, range(1, size_ratio + 1)), *STATIC_POLICIES, *STOCK))
    return {"flsm": named | {"policy_1": shape}}


def _runs(request: MapRequest) -> Iterator[tuple[int, float, float, Filters, str]]:
    """Yields turn, share of lookups, bits per key, filter scheme and shape of each run, in order."""
    for turn, lookups, bits in itertools.product(
        range(request.repeats), request.lookups, request.bits_per_key
    ):
        for number, filters in enumerate(request.filters):
            for shape in request.shapes:
                # RocksDB's own stores have only uniform filters, so they are measured once.
                if number == 0 or shape not in STOCK:
                    yield turn, lookups, bits, filters, shape


def _session(request: MapRequest, lookups: float) -> tuple[object, ...]:
    """Returns the workload's first session with a mix of lookups and puts."""
    # A map has one mix at a time; further sessions of the workload do not apply.
    (session, *_) = request.workload.sessions
    get = {"get_absent" if request.absent else "get": lookups}
    return (session.model_copy(update={"mix": MixSpec(**get, put=round(1 - lookups, 6))}),)


def _point(window: Measurement, shape: str, lookups: float, filters: str, bits: float, turn: int) -> MapPoint:
    """Returns the figures of one measured window as a point of the map."""
    figures = window.figures
    by_cause = window.raw["device_bytes"]
    compaction = by_cause["compaction_write"] + by_cause["compaction_read"]
    return MapPoint(
        shape=shape,
        lookups=lookups,
        filters="uniform" if shape in STOCK else filters,
        bits_per_key=bits,
        turn=turn,
        throughput_ops_s=figures["throughput_ops_s"],
        read_latency_us_p99=figures["read_latency_us_p99"],
        write_latency_us_p99=figures["write_latency_us_p99"],
        write_amplification=figures["write_amplification"],
        stalled_share=figures["stalled_share"],
        compaction_share=compaction / max(1, sum(by_cause.values())),
    )
