"""Queues as workloads."""

import pytest

from rocktune.errors import UserError
from rocktune.spec_file import validated
from rocktune.workload import load_workload
from rocktune.workload.distributions import KeyChooserSpec


def test_the_preset_keeps_its_length_and_order() -> None:
    queue = load_workload("queue")
    mix = queue.mix_of(queue.sessions[0])
    assert mix.insert == mix.delete
    assert queue.key_chooser.kind == "oldest"
    assert queue.preload.keys == queue.keys
    # Inserts go on in ascending order, so the preload must be in it, too; also in the steady protocol.
    assert not queue.with_all_keys().preload.random_order


def test_a_model_has_a_shorter_queue() -> None:
    model = load_workload("queue").scaled(100)
    assert (model.keys, model.preload.keys, model.key_chooser.kind) == (20_000, 20_000, "oldest")


def test_expired_entries_go_as_fast_as_new_ones_come() -> None:
    expiry = load_workload("expiry")
    mix = expiry.mix_of(expiry.sessions[0])
    keys = expiry.loads(expiry.sessions[0])[0].delete_range_keys
    assert keys is not None
    assert mix.insert == pytest.approx(mix.delete_range * keys.mean)


def test_the_oldest_key_has_no_skew() -> None:
    with pytest.raises(UserError, match="'skew' has no meaning for kind 'oldest'"):
        validated(KeyChooserSpec, {"kind": "oldest", "skew": 0.5}, "x")
