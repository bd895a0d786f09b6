"""Makes the specification of a sweep from a request."""

import re
from dataclasses import dataclass

from rocktune.engine.spec import FULL_LENGTH_S
from rocktune.errors import UserError
from rocktune.outcome import Protocol
from rocktune.study.specs.protocol import protocol_of
from rocktune.study.specs.request import StudyRequest, engine_spec
from rocktune.study.specs.resolving import OwnOptions, conditions_of, named, no_own_options
from rocktune.study.specs.spec import SweepSpec
from rocktune.units import parse_seconds

SWEEP_MEASURED_S = 180.0
"""Seconds that a sweep measures in each run at full size, as in Jia and Chen's paper."""
SWEEP_WARM_UP_S = 60.0
"""Seconds of warm-up at full size. The paper has a warm-up but does not state its length."""

MAX_SAMPLES = 100_000
"""Maximum number of configurations of a sample, which is also that of a space's grid."""


@dataclass(frozen=True)
class HowToSweep:
    """The settings of a sweep as users write them.

    Attributes:
        samples: number of configurations; None for all.
        part: "K/N" for the K-th of N parts, which together contain all configurations.
        seconds: length of the measured window, such as "10s"; by default 180 s at full size.
        warm_up: length of the warm-up, 0 for none. By default 60 s at full size if the engine can pause a
            run, else 0.
        hand: whether to measure what people set by hand, too.
    """

    samples: int | None = None
    part: str = "1/1"
    seconds: str | float | None = None
    warm_up: str | float | None = None
    hand: bool = False


EVERYTHING = HowToSweep()
"""A sweep of all configurations with the default times."""


def resolve_sweep(
    request: StudyRequest,
    name: str,
    how: HowToSweep,
    own_options: OwnOptions = no_own_options,
) -> SweepSpec:
    """Returns the sweep that a request describes. Its tuner, objective and budget are ignored.

    Under the steady protocol, stores hold all keys at age 0; by default a sweep has the short protocol.

    Args:
        request: the user's request.
        name: name of the sweep.
        how: settings of the sweep.
        own_options: see `OwnOptions`.

    Raises:
        UserError: names the first mistake in the request.
    """
    engine = engine_spec(request)
    # Tables of the papers' evaluations are of stores that fill during the run.
    protocol: Protocol = "short"
    if request.protocol is not None:
        protocol = protocol_of(request, engine)
    conditions = named(name) | conditions_of(request, engine, own_options, protocol)
    full_size_s = SWEEP_MEASURED_S if engine.runs_continue else FULL_LENGTH_S
    time_scale = engine.time_scale(conditions["scale"])
    if how.warm_up is None:
        warm_up_s = SWEEP_WARM_UP_S / time_scale if engine.runs_continue else 0.0
    else:
        warm_up_s = parse_seconds(how.warm_up, "warm-up", zero=True)
    if how.samples is not None and how.samples < 1:
        raise UserError(f"samples: {how.samples} is not above 0; give at least 1, or leave it out for all")
    if how.samples is not None and how.samples > MAX_SAMPLES:
        raise UserError(f"samples: {how.samples} is more than {MAX_SAMPLES:,}; give fewer")
    measured_s = full_size_s / time_scale if how.seconds is None else parse_seconds(how.seconds, "seconds")
    return SweepSpec(
        **conditions,
        samples=how.samples,
        hand=how.hand,
        part=_parsed_part(how.part),
        warm_up_s=warm_up_s,
        measured_s=measured_s,
    )


def _parsed_part(text: str) -> tuple[int, int]:
    """Returns (K, N) of the text "K/N"; raises UserError if it is malformed."""
    match = re.fullmatch(r"(\d{1,6})\s*/\s*(\d{1,6})", text.strip())
    part, parts = (int(match[1]), int(match[2])) if match else (0, 0)
    if not 1 <= part <= parts:
        raise UserError(f"part: '{text}' is malformed; write K/N with K from 1 to N, such as 2/4")
    return part, parts
