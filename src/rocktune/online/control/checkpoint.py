"""Saves and restores what Lerp has learned. The file holds arrays and JSON, so reading it runs no code."""

import json
import os
import zipfile
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rocktune.online.control.learner import STATES
from rocktune.online.control.lerp import Learned, Lerp

_FORMAT = "rocktune lerp 1"


def keep(lerp: Lerp, path: Path) -> None:
    """Writes the networks, the replay buffers and the known workloads to a file.

    The file is replaced atomically: a crash leaves the old or the new one.

    Raises:
        OSError: the file cannot be written.
    """
    about = {"format": _FORMAT, "states": STATES, "known": [asdict(known) for known in lerp.known]}
    arrays: dict[str, NDArray[np.generic]] = {"about": np.array(json.dumps(about))}
    for learner in lerp.learners:
        for name, array in learner.agent.arrays().items():
            arrays[f"level{learner.level}.{name}"] = array
    unfinished = path.with_name(f"{path.name}.new")
    with unfinished.open("wb") as file:
        # mypy takes the arrays for savez's other parameter.
        np.savez(file, **arrays)  # type: ignore[arg-type]
        file.flush()
        # Without it a power loss could leave the renamed file empty.
        os.fsync(file.fileno())
    unfinished.replace(path)


def restore(lerp: Lerp, path: Path) -> None:
    """Restores a new Lerp from a file.

    Raises:
        ValueError: the file is damaged, is no such file, or is of a Lerp with other settings; `lerp` is
            unchanged.
        OSError: the file cannot be read.
    """
    try:
        # Opened by us, because np.load does not close a damaged file.
        with path.open("rb") as file, np.load(file, allow_pickle=False) as kept:
            arrays = {name: kept[name] for name in kept.files}
        known = _known(json.loads(str(arrays["about"])))
        # The second learner may be refused after the first was restored; then the first gets its old arrays
        # back.
        before = [learner.agent.arrays() for learner in lerp.learners]
        try:
            for learner in lerp.learners:
                prefix = f"level{learner.level}."
                own = {
                    name.removeprefix(prefix): array
                    for name, array in arrays.items()
                    if name.startswith(prefix)
                }
                learner.agent.restore(own)
        except ValueError:
            for learner, arrays_before in zip(lerp.learners, before, strict=True):
                learner.agent.restore(arrays_before)
            raise
    except (zipfile.BadZipFile, EOFError, KeyError, TypeError) as failure:
        raise ValueError(f"not a file of Lerp: {failure}") from None
    lerp.known = known


def _known(about: Any) -> list[Learned]:
    """Returns the known workloads of a file's JSON part.

    Raises:
        ValueError: the format or the number of states differs, or a policy is below 1.
        KeyError: a field is missing.
    """
    if about["format"] != _FORMAT or about["states"] != STATES:
        raise ValueError(f"its format is not '{_FORMAT}'")
    known = []
    for each in about["known"]:
        policies = tuple(int(policy) for policy in each["policies"])
        if not policies or min(policies) < 1:
            raise ValueError("a known workload has no policies, or a policy below 1")
        known.append(Learned(float(each["read_share"]), float(each["scan_share"]), policies))
    return known
