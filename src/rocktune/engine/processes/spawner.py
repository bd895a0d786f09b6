"""Starts processes on one thread that lives as long as this process.

PR_SET_PDEATHSIG kills a process when the *thread* that started it ends, and callers' threads may end before
this process does.
"""

import queue
import threading
from collections.abc import Callable
from concurrent.futures import Future
from typing import Any, TypeVar

Started = TypeVar("Started")

_requests: queue.SimpleQueue[tuple[Callable[[], Any], Future[Any]]] = queue.SimpleQueue()
_thread: threading.Thread | None = None
_lock = threading.Lock()
"""Guards `_thread`."""


def start_on_lasting_thread(start: Callable[[], Started]) -> Started:
    """Calls a function that starts a process, on the lasting thread.

    Args:
        start: the function; it should not take long, since all callers share the thread.

    Returns:
        What the function returns.

    Raises:
        BaseException: what the function raises.
    """
    future: Future[Started] = Future()
    _ensure_thread()
    _requests.put((start, future))
    return future.result()


def _ensure_thread() -> None:
    """Starts the thread, if it does not run."""
    global _thread
    with _lock:
        if _thread is None or not _thread.is_alive():
            # Not an executor's thread: Ctrl-C while an executor starts one leaves a thread for which the end
            # of the interpreter waits for ever. Here it leaves at worst a second one that serves the queue.
            _thread = threading.Thread(target=_serve, name="rocktune-spawner", daemon=True)
            _thread.start()


def _serve() -> None:
    """Answers requests for ever."""
    while True:
        start, future = _requests.get()
        try:
            future.set_result(start())
        except BaseException as failure:
            future.set_exception(failure)
        # A reference here would keep the process' pipes open until the next request.
        del start, future
