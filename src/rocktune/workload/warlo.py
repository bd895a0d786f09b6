"""Warlo's sine wave (section 3.4.2): a write rate that rises and falls, then a low rate without an end.

The thesis writes 100,000-byte values to a million keys. We use a tenth of that size and ten times as many
keys, so that a 1/S model still has many entries. Rates in bytes and the share of absent keys are unchanged.
db_bench's rate limiter drops operations that could not be written in time; `patience_s` does the same.
"""

from collections.abc import Iterator

from rocktune.workload.arrival import ArrivalSpec
from rocktune.workload.distributions import SizeSpec
from rocktune.workload.loads import MixSpec
from rocktune.workload.sessions import SessionSpec
from rocktune.workload.spec import WorkloadSpec

VALUE_BYTES = 10_000
KEYS = 10_000_000
PERIOD_S = 350.0
MEAN_BYTES_S, AMPLITUDE_BYTES_S, AFTERWARDS_BYTES_S = 125e6, 75e6, 10e6
_PATIENCE_S = 1.0


def warlo_workloads() -> Iterator[tuple[str, WorkloadSpec]]:
    """Yields the workload sine in a (summary, workload) pair."""
    wave = ArrivalSpec(
        kind="sine",
        operations_s=MEAN_BYTES_S / VALUE_BYTES,
        amplitude_operations_s=AMPLITUDE_BYTES_S / VALUE_BYTES,
        period_s=PERIOD_S,
        phase_s=0.75 * PERIOD_S,  # begins in the trough, at 3 pi / 2
        patience_s=_PATIENCE_S,
    )
    afterwards = ArrivalSpec(
        kind="fixed_rate", operations_s=AFTERWARDS_BYTES_S / VALUE_BYTES, patience_s=_PATIENCE_S
    )
    yield (
        "Warlo's wave: 50 to 200 to 50 MB/s of random puts within 350 s, then 10 MB/s",
        WorkloadSpec(
            name="sine",
            keys=KEYS,
            value=SizeSpec(low=VALUE_BYTES),
            value_compressed_fraction=1.0,  # compression would shrink the bytes that the rates are about
            threads=1,
            sessions=(
                SessionSpec(seconds=PERIOD_S, mix=MixSpec(put=1.0), arrival=wave),
                SessionSpec(mix=MixSpec(put=1.0), arrival=afterwards),
            ),
        ),
    )
