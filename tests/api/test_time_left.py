"""Time left of work that tells how much of it is done."""

from rocktune.api.time_left import TimeLeft
from rocktune.study import Observer


class Recorder(Observer):
    def __init__(self) -> None:
        self.estimates: list[float] = []
        self.steps: list[str] = []

    def estimated(self, total_s: float) -> None:
        self.estimates.append(total_s)

    def progress(self, phase: str, done: float, total: float) -> None:
        self.steps.append(f"{phase} {done:.0f}/{total:.0f}")


def test_the_rest_takes_as_long_for_each_part_as_what_is_done() -> None:
    recorder, now = Recorder(), iter([0.0, 1.0, 4.0, 9.0, 12.0])
    left = TimeLeft(recorder, lambda: next(now))
    left.progress("import", 0, 100)
    left.progress("import", 10, 100)
    assert recorder.estimates == [], "too early"
    left.progress("import", 40, 100)
    assert recorder.estimates == [6.0]
    left.progress("stored-keys", 50, 250)
    assert recorder.estimates == [6.0], "another phase has a speed of its own"
    left.progress("stored-keys", 100, 250)
    assert recorder.estimates == [6.0, 9.0]
    assert recorder.steps[-1] == "stored-keys 100/250"


def test_work_that_stands_still_has_no_estimate() -> None:
    recorder, now = Recorder(), iter([0.0, 5.0])
    left = TimeLeft(recorder, lambda: next(now))
    left.progress("import", 0, 100)
    left.progress("import", 0, 100)
    assert recorder.estimates == []
