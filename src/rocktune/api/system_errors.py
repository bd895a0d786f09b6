"""Errors of the operating system in an unattended process, as errors that it reports and survives."""

import errno
from collections.abc import Iterator
from contextlib import contextmanager

from rocktune.engine import RunFailed
from rocktune.errors import TransientError, UserError

_SHORTAGES = (errno.ENOSPC, errno.EDQUOT, errno.ENOMEM)


@contextmanager
def shortages_as_transient() -> Iterator[None]:
    """Turns errors for a lack of memory or of disk space, and a worker that died, into TransientErrors."""
    try:
        yield
    except RunFailed as failure:
        raise TransientError(f"watch: the worker failed: {failure.message}") from None
    except MemoryError:
        raise TransientError("watch: this machine has no memory left for a study; free some") from None
    except OSError as error:
        if error.errno not in _SHORTAGES:
            raise
        raise TransientError(f"watch: {_described(error)}; free some") from None


@contextmanager
def system_errors_named() -> Iterator[None]:
    """Turns the system's errors into UserErrors, after which a watch goes on."""
    try:
        yield
    except OSError as error:
        raise UserError(f"watch: {_described(error)}") from None


def _described(error: OSError) -> str:
    return f"{error.filename}: {error.strerror}" if error.filename else str(error)
