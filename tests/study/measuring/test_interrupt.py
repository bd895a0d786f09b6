import os
import signal
import threading

import pytest
from tests.study.small_studies import Recorder

from rocktune.study.measuring.interrupt import Interrupt, StudyInterrupted
from rocktune.study.measuring.observer import Observer


def _press() -> None:
    os.kill(os.getpid(), signal.SIGINT)


def test_once_asks_and_twice_ends() -> None:
    observer = Recorder()
    before = signal.getsignal(signal.SIGINT)
    with Interrupt(observer) as interrupt:
        assert not interrupt.requested
        _press()
        assert interrupt.requested
        with pytest.raises(KeyboardInterrupt):
            _press()
    assert observer.notes == [
        "Ending after the trials that are being measured; press Ctrl-C again to end at once."
    ]
    assert signal.getsignal(signal.SIGINT) is before


def test_outside_of_it_ctrl_c_is_what_it_always_was() -> None:
    # Where several processes share the tests, Ctrl-C is ignored in them.
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        with Interrupt(Observer()):
            pass
        with pytest.raises(KeyboardInterrupt):
            _press()
    finally:
        signal.signal(signal.SIGINT, before)


def test_in_another_thread_it_changes_nothing() -> None:
    handlers = []

    def enter() -> None:
        with Interrupt(Observer()):
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
