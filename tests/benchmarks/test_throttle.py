from pathlib import Path
from typing import Any

import pytest
from benchmarks.rocktune.throttle import (
    bandwidth_claim,
    cost_claim,
    device_bench,
    wait_claims,
)

from rocktune.errors import UserError

MEBIBYTE = 1 << 20


def ran(bytes_s: float, **waits: float) -> dict[str, Any]:
    return {"bytes_per_steady_s": bytes_s, "bandwidth_bytes_s": 100 * MEBIBYTE, **waits}


def test_bandwidth_holds_when_every_run_is_within_3_percent() -> None:
    near = [ran(98 * MEBIBYTE), ran(102 * MEBIBYTE)]
    assert bandwidth_claim("read", near).holds is True
    assert bandwidth_claim("read", near).measured.value == pytest.approx(1.0)
    assert bandwidth_claim("read", [*near, ran(96 * MEBIBYTE)]).holds is False


def test_wait_is_held_against_one_slice() -> None:
    # At 100 MiB/s: 68 KiB take 664 us, and waking may take 100 more.
    in_time = ran(0, wait_us_p50=600, wait_us_p99=763, wait_us_max=2000)
    assert wait_claims([in_time] * 3)[0].holds is True
    late = wait_claims([ran(0, wait_us_p50=600, wait_us_p99=766, wait_us_max=2000)] * 2 + [in_time])
    assert late[0].holds is False
    assert [claim.measured.value for claim in late] == [766, 600, 2000]


def test_cost_is_decided_by_the_upper_bound() -> None:
    assert cost_claim("reads", [1.01, 1.02] * 20).holds is True
    # The mean is below 3%, the interval is not.
    wide = cost_claim("reads", [0.9, 1.15] * 10)
    assert wide.measured.value < 1.03 < wide.measured.high
    assert wide.holds is False


def test_program_is_given_its_flags_and_its_error_is_passed_on(tmp_path: Path) -> None:
    program = tmp_path / "device_bench"
    program.write_text('#!/bin/sh\nprintf \'{"flags": "%s"}\' "$*"\n')
    program.chmod(0o755)
    assert device_bench(program, "read", bandwidth_mb_s=5) == {"flags": "--mode read --bandwidth-mb-s 5"}
    program.write_text("#!/bin/sh\necho 'device_bench: no room' >&2\nexit 1\n")
    with pytest.raises(UserError, match="device_bench: no room"):
        device_bench(program, "read")
