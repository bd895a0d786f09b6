"""The arguments of tuning and sweeping, and the specs made from them."""

import re
from collections.abc import Callable, Mapping, Sequence
from datetime import datetime
from pathlib import Path
from typing import Any, TypedDict, TypeVar, cast

from rocktune.api.engines import engine_version, own_options_file
from rocktune.api.traces import imported_workload
from rocktune.errors import UserError
from rocktune.importing import ImportedOptions
from rocktune.ledger import open_ledger
from rocktune.outcome import Protocol
from rocktune.study import StudyRequest, StudySpec, earlier_of, make_request, resolve, seeds_of
from rocktune.study.specs.resolving import OwnOptions
from rocktune.study.specs.tried import Tried

Resolved = TypeVar("Resolved")


class GivenConditions(TypedDict, total=False):
    """Arguments for the conditions of a measurement; `rocktune.study.StudyRequest` explains each.

    A test compares the names with those of `StudyRequest`.
    """

    workload: str | None
    trace: str | Path | None
    preload_from: str | Path | None
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
    column_family: str | None
    block_cache: str | int | None
    shared_cache: bool | None
    seed: int | None


class Given(GivenConditions, total=False):
    """Arguments for a study: conditions, search and proof; `rocktune.study.StudyRequest` explains each."""

    command: dict[str, Any] | None
    all_families: bool | None
    tuner: str | None
    tuner_settings: dict[str, Any] | None
    protocol: Protocol | None
    objective: str | Sequence[str] | None
    constraints: Sequence[str] | None
    prices: str | Path | None
    robust: float | None
    tried: Sequence[str | Path] | None
    warm_start: bool | None
    rate: float | None
    budget: str | float | None
    ledger: str | None
    study: str | None
    out: str | Path | None
    proof_pairs: int | None
    verification: dict[str, Any] | None


def requested(study_file: str | Path | None, given: Mapping[str, object]) -> StudyRequest:
    """Returns the request made from a study file and the given arguments, which override the file.

    A trace is imported unless it is in the data directory already, and its workload takes its place.

    Args:
        study_file: a study's TOML file; None for none.
        given: arguments named as in `Given` or `GivenConditions`.

    Raises:
        UserError: a part of the request is invalid.
    """
    # Specs are stored as JSON, which has no paths.
    texts = {name: str(value) if isinstance(value, Path) else value for name, value in given.items()}
    if tried := texts.get("tried"):
        texts["tried"] = [str(path) for path in cast("Sequence[str | Path]", tried)]
    request = make_request(texts, None if study_file is None else Path(study_file))
    if request.trace is None:
        if request.preload_from is not None:
            raise UserError("preload_from: names the database of a trace; give --trace too")
        return request
    if request.workload is not None:
        raise UserError("workload and trace: only one of them can be replayed; leave one out")
    workload = str(imported_workload(request.trace, request.preload_from))
    return request.model_copy(update={"workload": workload, "trace": None, "preload_from": None})


def resolved_study(study_file: str | Path | None, given: Given) -> tuple[StudySpec, StudyRequest]:
    """Returns the study's spec, and the request that it was made from.

    Raises:
        UserError: a part of the request is invalid.
    """

    def resolve_with_tried(request: StudyRequest, name: str, own_options: OwnOptions) -> StudySpec:
        files = [request.model_copy(update={"options_file": path}) for path in request.tried]
        return resolve(request, name, own_options, [own_options_of(file) for file in files])

    spec, request = resolved(study_file, given, resolve_with_tried)
    return warm_started(spec, request.ledger) if request.warm_start else spec, request


def warm_started(spec: StudySpec, ledger: str | None) -> StudySpec:
    """Returns a study that begins with configurations of earlier studies of a ledger.

    A study that the ledger has already keeps what it began with, whatever was measured since.
    """
    seeds: tuple[Tried, ...] = ()
    try:
        found = open_ledger(ledger, create=False)
    except UserError:
        # It does not exist yet, or the study will end with the same error.
        return spec
    with found as opened:
        recorded = next((each.spec for each in opened.studies() if each.name == spec.name), None)
        if recorded is None:
            seeds = seeds_of(spec, engine_version(spec.engine) or "", tuple(earlier_of(opened, spec.name)))
        elif recorded.get("kind") is None:
            seeds = tuple(each for each in StudySpec.model_validate(dict(recorded)).tried if each.study)
    return spec.model_copy(update={"tried": (*spec.tried, *seeds)})


def resolved(
    study_file: str | Path | None,
    given: Given,
    resolve: Callable[[StudyRequest, str, OwnOptions], Resolved],
    *suffix: str,
) -> tuple[Resolved, StudyRequest]:
    """Returns the spec made from a request, and the request.

    Args:
        study_file: a study's TOML file; None for none.
        given: fields of `StudyRequest`.
        resolve: function that makes the spec from the request, the name, and a reader of the user's OPTIONS
            file.
        *suffix: parts to add to a name that is made up because none was given.
    """
    request = requested(study_file, given)

    conditions = (Path(part).stem for part in (request.workload or "study", request.device))
    return resolve(request, request.study or new_name(*conditions, *suffix), own_options_of(request)), request


def own_options_of(request: StudyRequest) -> OwnOptions:
    """Returns a function that reads a request's OPTIONS file.

    Reading starts a worker, which a request that is refused earlier need not pay for.
    """

    def read(loaded: tuple[str, ...]) -> ImportedOptions | None:
        return own_options_file(
            request.options_file, request.column_family, request.engine == "command", request.rocksdb, loaded
        )

    return read


def new_name(*parts: str) -> str:
    """Returns a new study name of its parts and the time, such as `ycsb-a-nvme-20260304-093015`."""
    # The name becomes a directory and part of commands, so it must need no quoting.
    readable = re.sub(r"[^A-Za-z0-9._-]+", "-", "-".join(parts)).strip("-.")
    return f"{readable}-{datetime.now():%Y%m%d-%H%M%S}"
