"""Advice about an outcome, shared by the report and the terminal."""

from rocktune.outcome import Outcome
from rocktune.report.bounds import yielded_sentence
from rocktune.report.findings import count_of, divisor_of, scale_phrase

_IDLE_BELOW = 0.7
"""Share of the device's bandwidth in use below which something else limits a closed loop."""
_FROM_TABLE = ("recorded", "interpolated")
"""Beginnings of the versions of engine `recorded`."""
_TRUSTED_DIVISOR = 4
"""Largest S at which a 1/S model still ranks processor-bound configurations as full size does."""


def advice(outcome: Outcome) -> list[str]:
    """Returns what to know before acting, in one to three sentences each; names in backquotes are code."""
    lines = []
    scale = outcome.verified_at_scale or ""
    # Without a winner there is nothing to prove again.
    if outcome.best is not None and scale != "1":
        lines.append(
            f"The ratio was proven {scale_phrase(outcome)} of the workload: sizes and keys were divided by "
            f"{divisor_of(scale or outcome.search_scale)}, the device was not. {_at_full_size(outcome)} "
            "Exported files always hold the full-size values."
        )
    busy_share = outcome.device_busy_share
    if busy_share is not None and busy_share < _IDLE_BELOW and divisor_of(scale) > _TRUSTED_DIVISOR:
        lines.append(
            f"The device was busy for {busy_share:.0%} of the time, so the processor was the limit. Small "
            "models fit its caches better than full size does. Prove the result on a larger model: "
            f"`rocktune verify {outcome.study} --scale 1/{_TRUSTED_DIVISOR}`."
        )
    if sentence := _left_out_sentence(outcome):
        lines.append(sentence)
    if sentence := yielded_sentence(outcome):
        lines.append(sentence)
    if outcome.assertions:
        lines.append(
            f"{outcome.engine}: this is a debug build of RocksDB, so absolute numbers are lower than "
            f"a release build's. `make rocksdb` builds a release."
        )
    if outcome.disturbed_pairs:
        lines.append(
            f"Other programs took the processors during {count_of(outcome.disturbed_pairs, 'pair')} of the "
            "proof, in all their repeats."
        )
    failed = {name: count for name, count in outcome.trials.items() if name != "ok" and count}
    if failed:
        named = ", ".join(f"{count} {name.replace('_', ' ')}" for name, count in failed.items())
        lines.append(f"Some trials failed and have no figures: {named}. The table of trials says why.")
    return lines


def _at_full_size(outcome: Outcome) -> str:
    """Returns how to prove an outcome at full size."""
    if outcome.engine.startswith(_FROM_TABLE):
        return "The table has no runs at full size; only a study on engine embedded can prove it there."
    return f"Prove it at full size with `rocktune verify {outcome.study} --scale 1`."


def _left_out_sentence(outcome: Outcome) -> str | None:
    """Returns what to do about tasks that taught the tuner's models nothing; None without such tasks."""
    if not outcome.tasks_left_out:
        return None
    tasks = "; ".join(f"`{task}` ({why})" for task, why in outcome.tasks_left_out.items())
    instead = (
        'let the trials choose: `tasks = "measured"` under `[tuner_settings]`'
        if outcome.tuner == "multitask-bo"
        else "find tasks that they all have with `rocktune clusters`"
    )
    return f"The tuner learned nothing from {tasks}. Name tasks that all trials have, or {instead}."
