"""The throttled file system without a store: its bandwidth, its waits and its cost."""

from dataclasses import replace
from pathlib import Path
from typing import Any

from benchmarks.common.claims import (
    ROOT,
    Claim,
    Measured,
    Settings,
    decided,
    main,
    median_spread,
    ratio_interval,
    reported,
)
from benchmarks.common.programs import find_program, json_of
from benchmarks.common.tables import write_csv

PROGRAM = "device_bench"
SOURCE = "throttled file system"
ENGINE = "the file system alone, no RocksDB store"
MODES = ("read", "write", "mixed")
TOLERANCE = 0.03
SLICE_BYTES, READ_BYTES = 64 << 10, 4 << 10
WAKING_US = 100.0
"""Time that a sleeping thread may take to wake; the run clock's header says some tens of microseconds."""


def device_bench(program: Path, mode: str, **flags: int) -> dict[str, Any]:
    """Runs the program once and returns the JSON document that it prints.

    Raises:
        UserError: it failed.
    """
    arguments = ["--mode", mode]
    for name, value in flags.items():
        arguments += [f"--{name.replace('_', '-')}", str(value)]
    return json_of(program, arguments)


def bandwidth_claim(mode: str, documents: list[dict[str, Any]]) -> Claim:
    """Returns a target for how near to the device's bandwidth every run came."""
    ratios = [found["bytes_per_steady_s"] / found["bandwidth_bytes_s"] for found in documents]
    return decided(
        _reported(
            f"{mode}_bytes_per_second_over_bandwidth", "ratio; median [min, max]", median_spread(ratios)
        ),
        low=1 - TOLERANCE,
        high=1 + TOLERANCE,
    )


def wait_claims(documents: list[dict[str, Any]]) -> list[Claim]:
    """Returns claims of the time of a 4 KiB read while a writer makes 2 MiB requests.

    The target of the p99 is the time of a slice of 64 KiB, of the read's own 4 KiB, and of waking up.
    """
    bound_us = 1e6 * (SLICE_BYTES + READ_BYTES) / documents[0]["bandwidth_bytes_s"] + WAKING_US
    waits = {tail: [float(found[f"wait_us_{tail}"]) for found in documents] for tail in ("p50", "p99", "max")}
    unit = "us; median [min, max]"
    return [
        decided(_reported("wait_beside_a_writer_p99", unit, median_spread(waits["p99"])), high=bound_us),
        _reported("wait_beside_a_writer_p50", unit, median_spread(waits["p50"])),
        _reported("wait_beside_a_writer_longest", unit, median_spread(waits["max"])),
    ]


def cost_claim(operation: str, ratios: list[float]) -> Claim:
    """Returns a target for the cost of the wrapper on device `none`, from interleaved pairs."""
    claim = _reported(
        f"wrapper_cost_of_{operation}", "ratio of time per operation of 4 KiB", ratio_interval(ratios)
    )
    return decided(replace(claim, device="none"), high=1 + TOLERANCE)


def _reported(name: str, unit: str, measured: Measured) -> Claim:
    return reported(name, SOURCE, unit, measured, engine=ENGINE, device="")


def throttle(settings: Settings) -> list[Claim]:
    """Runs device_bench in each of its modes; the bandwidth is 100 MiB/s."""
    program = find_program(PROGRAM, ROOT)
    repeats, seconds = (1, 1) if settings.quick else (3, 10)
    claims: list[Claim] = []
    documents: list[dict[str, Any]] = []
    for mode in (*MODES, "reader-beside-writer"):
        found = [device_bench(program, mode, seconds=seconds) for _ in range(repeats)]
        claims += [bandwidth_claim(mode, found)] if mode in MODES else wait_claims(found)
        documents += found
        settings.say(f"{mode}: {claims[-1].measured}")
    # A pair takes five milliseconds, and one differs from the next by a twentieth.
    pairs, operations = (4, 500) if settings.quick else (1000, 2000)
    cost = device_bench(program, "wrapper-cost", pairs=pairs, operations=operations)
    claims += [cost_claim(operation, cost[operation]["ratios"]) for operation in ("reads", "appends")]
    for claim in claims:
        claim.engine, claim.device = ENGINE, claim.device or "100 MiB/s"
    if settings.out is not None:
        fields = ("mode", "bytes", "steady_s", "bytes_per_steady_s")
        write_csv(settings.out / "runs.csv", [{name: found[name] for name in fields} for found in documents])
        ratios = zip(cost["reads"]["ratios"], cost["appends"]["ratios"], strict=True)
        pairs_rows = [{"reads": reads, "appends": appends} for reads, appends in ratios]
        write_csv(settings.out / "wrapper.csv", pairs_rows)
    return claims


if __name__ == "__main__":
    main("rocktune.throttle", throttle, scale=1, quick_scale=1)
