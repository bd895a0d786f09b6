"""Tests of how the ledger keeps windows."""

from rocktune.ledger.windows import join_window, split_window
from rocktune.trial import Measurement


def test_a_window_of_an_older_worker_has_todays_names() -> None:
    reported = {"from_s": 0.0, "until_s": 2.0, "operations": {}, "longest_write_stop_s": 0.5}
    window = join_window(*split_window(Measurement(reported)))
    assert window.figures["max_write_stop_s"] == 0.5
    named = reported | {"figures": {"longest_write_stop_s": 0.25}}
    assert join_window(*split_window(Measurement(named))).figures["max_write_stop_s"] == 0.25
