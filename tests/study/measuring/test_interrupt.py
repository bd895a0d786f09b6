import os
import signal
import threading

import pytest

from rocktune.study.measuring.interrupt import Interrupt, StudyInterrupted


def _press() -> None:
    os.kill(os.getpid(), signal.SIGINT)


def test_once_asks_and_twice_ends() -> None:
    asked = []
    before = signal.getsignal(signal.SIGINT)
    with Interrupt(lambda: asked.append(1)) as interrupt:
        assert not interrupt.requested
        _press()
        assert interrupt.requested
        with pytest.raises(KeyboardInterrupt):
            _press()
    assert asked == [1]
    assert signal.getsignal(signal.SIGINT) is before


def test_outside_of_it_ctrl_c_is_what_it_always_was() -> None:
    # Where several processes share the tests, Ctrl-C is ignored in them.
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        with Interrupt(lambda: None):
            pass
        with pytest.raises(KeyboardInterrupt):
            _press()
    finally:
        signal.signal(signal.SIGINT, before)


def test_in_another_thread_it_changes_nothing() -> None:
    handlers = []

    def enter() -> None:
        with Interrupt(lambda: None):
            handlers.append(signal.getsignal(signal.SIGINT))

    before = signal.getsignal(signal.SIGINT)
    thread = threading.Thread(target=enter)
    thread.start()
    thread.join()
    assert handlers == [before]


def test_what_the_user_is_told() -> None:
    assert StudyInterrupted("mine", None, None).resume == "rocktune resume mine"
    assert "rocktune verify mine --scale 1" in str(
        StudyInterrupted("mine", None, 1.2, "rocktune verify mine --scale 1")
    )
