"""The map of the trade-off: which shape of the tree serves which mix of operations best.

RusKey's figures 6 and 8 at their ends, with RocksDB's own compaction styles beside the FLSM store's policies.
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
from rocktune.workload.spec import MixSpec

STOCK = {"leveled": "kCompactionStyleLevel", "universal": "kCompactionStyleUniversal"}
"""RocksDB's own shapes."""


@dataclass(frozen=True)
class MapRequest:
    """What a map shows, all of it at full size.

    Attributes:
        workload: keys, values, threads and preload; its mix is replaced.
        device: what the store's I/O may use; never scaled.
        scale: S.
        shapes: K of all levels as text, one of `rocktune.lsm.STATIC_POLICIES`, or one of `STOCK`.
        lookups: shares of lookups, each from 0 to 1; the rest are puts.
        absent: whether lookups are of keys that are not there.
        filters: of the FLSM store.
        bits_per_key: of all filters, on average.
        size_ratio: T, of FLSM and leveled stores.
        warm_s: how long a store is used before it counts.
        measure_s: how long it counts. Policies that owe merges look better than they are where the
            deeper levels are not pushed meanwhile.
        repeats: runs of each point, all points in turn; each turn has keys and a preloaded store of its own.
        options: RocksDB's, under those of the shapes.
        seed: decides keys and values.

    Raises:
        UserError: there is no such shape or filter, or a number is out of its range.
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
        """Refuses what makes no sense before anything is measured."""
        for shape in self.shapes:
            shape_options(shape, "uniform", 8.0, self.size_ratio)
        for scheme in self.filters:
            if scheme not in FILTERS:
                raise unknown_name("filters", scheme, FILTERS)
        for name, values, most in (("lookups", self.lookups, 1), ("bits_per_key", self.bits_per_key, 100)):
            for value in values:
                if not 0 <= value <= most:
                    raise UserError(f"{name}: {value:g} is not from 0 to {most}")
        if self.repeats < 1:
            raise UserError(f"repeats: {self.repeats} is too few, at least 1")


@dataclass(frozen=True)
class MapPoint:
    """One run.

    Attributes:
        shape: see `MapRequest.shapes`.
        lookups: share of lookups.
        filters: how filters share out their memory.
        bits_per_key: of the filters.
        turn: from 0.
        throughput_ops_s: larger is better.
        read_latency_us_p99: smaller is better; NaN without lookups.
        write_latency_us_p99: likewise, NaN without puts.
        write_amplification: bytes written to the device for each of the user's; smaller is better.
        stalled_share: of the time, in which writes were slowed or stopped; smaller is better.
        compaction_share: of the device's written and read bytes, those that compactions made.
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
    """Returns how long the measuring takes, loading apart, in seconds."""
    return len(list(_runs(request))) * (request.warm_s + request.measure_s) / request.scale


def run_map(engine: EmbeddedEngine, request: MapRequest, progress: Progress | None = None) -> list[MapPoint]:
    """Measures every point of a map, turn after turn.

    Args:
        engine: where.
        request: what.
        progress: is told of the whole: phase "map", seconds measured and to be measured.

    Returns:
        The points in the order in which they were measured.

    Raises:
        RunFailed: a store failed, or RocksDB refuses an option.
    """
    points: list[MapPoint] = []
    total_s = map_seconds(request)
    for turn, lookups, bits, filters, shape in _runs(request):
        options = merged_options(request.options, shape_options(shape, filters, bits, request.size_ratio))
        workload = request.workload.model_copy(update={"sessions": _session(request, lookups)})
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
    """Returns the options of a shape.

    Raises:
        UserError: there is no such shape.
    """
    if shape in STOCK:
        return {
            "cf": {"compaction_style": STOCK[shape], "max_bytes_for_level_multiplier": str(size_ratio)},
            "table": {"filter_policy": f"bloomfilter:{bits_per_key:g}:false"},
        }
    named = {"filters": filters, "bits_per_key": f"{bits_per_key:g}", "size_ratio": str(size_ratio)}
    # Levels that grow little are many; the deepest one takes in whatever comes.
    named |= {"levels": "12"} if size_ratio < 6 else {}
    if shape in STATIC_POLICIES:
        policy, largest = static_policy(shape, size_ratio)
        return {"flsm": named | {"policy_1": str(policy), "deepest_policy": str(largest)}}
    if not shape.isdigit() or not 1 <= int(shape) <= size_ratio:
        raise unknown_name("shape", shape, (*map(str, range(1, size_ratio + 1)), *STATIC_POLICIES, *STOCK))
    return {"flsm": named | {"policy_1": shape}}


def _runs(request: MapRequest) -> Iterator[tuple[int, float, float, Filters, str]]:
    for turn, lookups, bits in itertools.product(
        range(request.repeats), request.lookups, request.bits_per_key
    ):
        for number, filters in enumerate(request.filters):
            for shape in request.shapes:
                # RocksDB's own stores know uniform filters alone.
                if number == 0 or shape not in STOCK:
                    yield turn, lookups, bits, filters, shape


def _session(request: MapRequest, lookups: float) -> tuple[object, ...]:
    (session, *_) = request.workload.sessions
    get = {"get_absent" if request.absent else "get": lookups}
    return (session.model_copy(update={"mix": MixSpec(**get, put=round(1 - lookups, 6))}),)


def _point(window: Measurement, shape: str, lookups: float, filters: str, bits: float, turn: int) -> MapPoint:
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
