"""Translates a workload into db_bench's flags, and finds the features that db_bench cannot express."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from rocktune.device import DeviceSpec
from rocktune.errors import UserError
from rocktune.workload import WorkloadSpec

Flags = dict[str, str]
"""The text of each flag by its name without dashes."""

# The benchmark "mixgraph" draws values of at least 10 bytes.
_MIN_MIXGRAPH_VALUE_BYTES = 10
_TOLERANCE = 1e-6


@dataclass(frozen=True)
class Gap:
    """A feature of a workload that db_bench cannot express.

    Attributes:
        feature: the feature, in words.
        instead: the behaviour of db_bench with the nearest flags, in words.
    """

    feature: str
    instead: str


@dataclass(frozen=True)
class BenchmarkPlan:
    """The db_bench benchmark that is nearest to a workload.

    Attributes:
        benchmark: name of the benchmark.
        kinds: rocktune's operation kinds by the names in db_bench's latency tables, such as "read".
        flags: flags of the benchmark and its data, without duration and seed.
        gaps: differences from the workload; empty if it is expressed exactly.
    """

    benchmark: str
    kinds: Mapping[str, str]
    flags: Flags
    gaps: tuple[Gap, ...]


def plan_of(workload: WorkloadSpec) -> BenchmarkPlan:
    """Returns the benchmark that is nearest to a workload, at the workload's own size."""
    mix = _mean_mix(workload)
    # db_bench has no mix with read-modify-writes; each is half a read and half a write.
    reads = mix["get"] + mix["get_absent"] + mix["read_modify_write"] / 2
    scans = mix["scan"]
    benchmark, kinds, own = "readrandom", {"read": "get"}, Flags()
    if _is_mixgraph(workload):
        benchmark, kinds = "mixgraph", {"read": "get", "write": "put", "seek": "scan"}
        own = _mixgraph_flags(workload, reads, scans)
    elif scans == 1:
        benchmark, kinds = "seekrandom", {"seek": "scan"}
        own = {"seek_nexts": str(workload.scan_length.low)}
    elif mix["read_modify_write"] == 1:
        benchmark, kinds = "updaterandom", {"update": "read_modify_write"}
    elif mix["get_absent"] == 1:
        benchmark, kinds = "readmissing", {"read": "get_absent"}
    elif reads == 0:
        benchmark, kinds = "overwrite" if workload.preload.keys else "fillrandom", {"write": "put"}
    elif reads < 1:
        benchmark, kinds = "readrandomwriterandom", {"read": "get", "write": "put"}
        own = {"readwritepercent": f"{100 * reads:.0f}"}
    flags = {"num": str(workload.keys), "threads": str(workload.threads)} | own | _data_flags(workload)
    return BenchmarkPlan(benchmark, kinds, flags, tuple(_gaps(workload, benchmark, reads)))


def preload_flags(workload: WorkloadSpec) -> Flags:
    """Returns the flags that fill an empty store with a workload's preload and wait for compactions.

    The flags lack the options and the seed.
    """
    benchmark = "filluniquerandom" if workload.preload.random_order else "fillseq"
    return {
        "benchmarks": f"{benchmark},flush,waitforcompaction",
        "num": str(workload.preload.keys),
        "threads": "1",
    } | _data_flags(workload)


def refuse_inexpressible(workload: WorkloadSpec, device: DeviceSpec) -> None:
    """Raises if db_bench cannot express a workload or limit a device; nothing is run.

    Raises:
        UserError: names every feature that db_bench lacks.
    """
    gaps = plan_of(workload).gaps
    if gaps:
        named = "; ".join(f"{gap.feature} (instead: {gap.instead})" for gap in gaps)
        raise UserError(
            f"workload '{workload.name}': engine 'db_bench' cannot express {named}; engine 'embedded' can"
        )
    latencies = [name for name in ("read_latency_us", "write_latency_us", "sync_latency_us")
                 if getattr(device, name)]  # fmt: skip
    if latencies:
        raise UserError(
            f"device '{device.name}': engine 'db_bench' can limit bandwidth and operations a second, "
            f"but cannot add latency ({', '.join(latencies)}); engine 'embedded' can"
        )


def _data_flags(workload: WorkloadSpec) -> Flags:
    """Returns the flags for keys, values, WAL and compression."""
    flags = {
        "key_size": str(workload.key_bytes),
        "compression_ratio": f"{workload.value_compressed_fraction:g}",
        "disable_wal": "false" if workload.wal else "true",
        "sync": "true" if workload.sync else "false",
    }
    value = workload.value
    if value.kind == "uniform" and not _is_mixgraph(workload):
        sizes = {"value_size_min": str(value.low), "value_size_max": str(value.high)}
        return flags | {"value_size_distribution_type": "uniform"} | sizes
    return flags | {"value_size": str(round(value.mean))}


def _mean_mix(workload: WorkloadSpec) -> dict[str, float]:
    """Returns each operation kind's share, averaged over the sessions weighted by their seconds."""
    # A last session without a length lasts for the rest of the run, so it outweighs all others.
    mix: dict[str, float] = {}
    for weight, session in workload.weighted_sessions():
        for kind, share in workload.mix_of(session):
            mix[kind] = mix.get(kind, 0.0) + share * weight
    return mix


def _is_mixgraph(workload: WorkloadSpec) -> bool:
    """Returns whether only the benchmark "mixgraph" has the workload's keys, or scans in a mix."""
    scans = _mean_mix(workload)["scan"]
    only_plain_scans = scans == 1 and workload.scan_length.kind == "fixed"
    return workload.key_chooser.kind == "two_term_exponential" or (scans > 0 and not only_plain_scans)


def _mixgraph_flags(workload: WorkloadSpec, reads: float, scans: float) -> Flags:
    """Returns the flags of the benchmark mixgraph for shares, keys and sizes."""
    chooser, value, scan = workload.key_chooser, workload.value, workload.scan_length
    flags = {
        "mix_get_ratio": f"{reads:.4g}",
        "mix_put_ratio": f"{1 - reads - scans:.4g}",
        "mix_seek_ratio": f"{scans:.4g}",
    }
    if chooser.kind == "two_term_exponential":
        names = {f"keyrange_dist_{letter}": f"range_{letter}" for letter in "abcd"}
        names |= {"keyrange_num": "ranges", "key_dist_a": "key_a", "key_dist_b": "key_b"}
        flags |= {flag: f"{getattr(chooser, field):.17g}" for flag, field in names.items()}
    for prefix, law in (("value", value), ("iter", scan)):
        # mixgraph draws sizes from a Pareto law only. With scale 0 the law is constant: a fixed size.
        k, sigma, theta = (law.k, law.sigma, law.theta) if law.kind == "pareto" else (1.0, 0.0, law.mean)
        flags |= {f"{prefix}_k": f"{k:g}", f"{prefix}_sigma": f"{sigma:g}", f"{prefix}_theta": f"{theta:g}"}
    return flags | {"mix_max_value_size": str(value.max_size), "mix_max_scan_len": str(scan.max_size + 1)}


def _gaps(workload: WorkloadSpec, benchmark: str, reads: float) -> Iterator[Gap]:
    """Yields all differences between a workload and a benchmark."""
    yield from _operation_gaps(workload, benchmark, reads)
    yield from _key_gaps(workload, benchmark)
    yield from _size_gaps(workload, benchmark)
    if len(workload.sessions) > 1:
        yield Gap(f"{len(workload.sessions)} sessions", "their mean mix throughout")
    if any(session.arrival.kind != "closed" for session in workload.sessions):
        yield Gap("arrival at given times", "each thread's next operation starts when its last has ended")


def _operation_gaps(workload: WorkloadSpec, benchmark: str, reads: float) -> Iterator[Gap]:
    """Yields the differences in kinds and shares of operations."""
    mix = _mean_mix(workload)
    for kind, instead in (
        ("get_absent", "gets are of any key"),
        ("insert", "puts are of any key"),
        ("delete", "they are puts"),
        ("delete_range", "they are puts"),
        ("read_modify_write", "they are half gets, half puts"),
    ):
        alone = kind in ("get_absent", "read_modify_write") and mix[kind] == 1
        if mix[kind] and (not alone or benchmark == "mixgraph"):
            yield Gap(f"{100 * mix[kind]:.3g}% {kind.replace('_', ' ')}", instead)
    # The flag readwritepercent is a whole number.
    if benchmark == "readrandomwriterandom" and abs(100 * reads - round(100 * reads)) > _TOLERANCE:
        yield Gap(f"{100 * reads:.4g}% reads", "whole per cents")
    if benchmark == "mixgraph" and any(
        abs(1000 * share - round(1000 * share)) > _TOLERANCE for share in (reads, mix["scan"])
    ):
        yield Gap("shares finer than a thousandth", "whole thousandths")


def _key_gaps(workload: WorkloadSpec, benchmark: str) -> Iterator[Gap]:
    """Yields the differences in the choice of keys."""
    chooser = workload.key_chooser
    if chooser.kind not in ("uniform", "two_term_exponential"):
        skew = f" with skew {chooser.skew:g}" if chooser.skew else ""
        yield Gap(f"{chooser.kind} keys{skew}", "keys are drawn uniformly, so caches work less well")
    if chooser.kind == "two_term_exponential" and chooser.key_a == 0:
        yield Gap("uniform keys within ranges of different weight", "keys are drawn uniformly from all")
    if chooser.kind != "two_term_exponential" and benchmark == "mixgraph" and _mean_mix(workload)["scan"] < 1:
        # mixgraph derives key and operation from the same random number.
        yield Gap("scans among other operations on uniform keys", "a key always meets the same operation")


def _size_gaps(workload: WorkloadSpec, benchmark: str) -> Iterator[Gap]:
    """Yields the differences in the sizes of values and scans."""
    value, mixgraph = workload.value, benchmark == "mixgraph"
    if value.kind == ("uniform" if mixgraph else "pareto"):
        law = "uniform" if mixgraph else "Pareto"
        yield Gap(f"{law} value sizes", f"all values have their mean, {value.mean:.0f} bytes")
    if mixgraph and value.kind == "fixed" and value.low < _MIN_MIXGRAPH_VALUE_BYTES:
        yield Gap(f"values of {value.low} bytes", f"values of {_MIN_MIXGRAPH_VALUE_BYTES} bytes")
    if mixgraph and _mean_mix(workload)["scan"] and workload.scan_length.kind == "uniform":
        yield Gap("uniform scan lengths", f"all {workload.scan_length.mean:g} entries")
