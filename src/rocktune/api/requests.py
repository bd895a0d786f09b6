"""What tuning and sweeping may be asked for, and the spec that it comes to."""

import re
from collections.abc import Callable, Mapping, Sequence
from datetime import datetime
from pathlib import Path
from typing import Any, TypedDict, TypeVar

from rocktune.api.engines import own_options_file
from rocktune.engine import OptionsFile
from rocktune.study import StudyRequest, StudySpec, make_request, resolve
from rocktune.study.specs.resolving import OwnOptions

Resolved = TypeVar("Resolved")


class GivenConditions(TypedDict, total=False):
    """What a measurement may be asked for with; `rocktune.study.StudyRequest` says what each means.

    A test compares the names with those of `StudyRequest`.
    """

    workload: str | None
    device: str | None
    engine: str | None
    rocksdb: str | Path | None
    db_bench: str | Path | None
    table: str | Path | None
    interpolate: bool | None
    space: str | None
    scale: str | None
    memory: str | int | None
    options_file: str | Path | None
    block_cache: str | int | None
    shared_cache: bool | None
    seed: int | None


class Given(GivenConditions, total=False):
    """What a study may be asked for with, the search and the proof included."""

    command: dict[str, Any] | None
    tuner: str | None
    tuner_settings: dict[str, Any] | None
    objective: str | Sequence[str] | None
    constraints: Sequence[str] | None
    budget: str | float | None
    ledger: str | None
    study: str | None
    out: str | Path | None
    verification: dict[str, Any] | None


def requested(study_file: str | Path | None, given: Mapping[str, object]) -> StudyRequest:
    """Returns the request that a study's file and what is given beside it come to.

    Args:
        study_file: a study's TOML file, which says what is not given.
        given: `Given` or `GivenConditions`.

    Raises:
        UserError: the request is wrong somewhere.
    """
    texts = {name: str(value) if isinstance(value, Path) else value for name, value in given.items()}
    return make_request(texts, None if study_file is None else Path(study_file))


def resolved_study(study_file: str | Path | None, given: Given) -> tuple[StudySpec, StudyRequest]:
    """Returns the study that was asked for, and the request.

    Raises:
        UserError: the request is wrong somewhere.
    """
    return resolved(study_file, given, resolve)


def resolved(
    study_file: str | Path | None,
    given: Given,
    resolve: Callable[[StudyRequest, str, OwnOptions], Resolved],
    *suffix: str,
) -> tuple[Resolved, StudyRequest]:
    """Returns what a request comes to, and the request.

    Args:
        study_file: a study's TOML file, which says what is not given.
        given: by the names of `StudyRequest`.
        resolve: from request, name and what reads the user's own OPTIONS file.
        *suffix: what the name that is made up where none is given has in it.
    """
    request = requested(study_file, given)

    def own_options() -> OptionsFile | None:
        return own_options_file(request.options_file, request.engine == "command", request.rocksdb)

    conditions = (Path(part).stem for part in (request.workload or "study", request.device))
    return resolve(request, request.study or new_name(*conditions, *suffix), own_options), request


def new_name(*parts: str) -> str:
    """Returns a name that tells what is tuned and when: `ycsb-a-nvme-20260304-093015`."""
    readable = re.sub(r"[^A-Za-z0-9._-]+", "-", "-".join(parts)).strip("-.")
    return f"{readable}-{datetime.now():%Y%m%d-%H%M%S}"
