"""Chooses the protocol of a study, and refuses the steady one where there is no steady state."""

from rocktune.engine import CommandSpec, EmbeddedSpec, EngineSpec
from rocktune.engine.debt import MODELLED_STYLES
from rocktune.errors import UserError
from rocktune.outcome import Protocol
from rocktune.space import section_kind, space_document, space_from_document
from rocktune.space.options import OWN_SECTIONS
from rocktune.study.specs.problem import baseline_of, space_of
from rocktune.study.specs.request import StudyRequest
from rocktune.study.specs.spec import StudySpec


def protocol_of(request: StudyRequest, engine: EngineSpec) -> Protocol:
    """Returns the protocol of a study.

    Args:
        request: the request.
        engine: its engine.

    Raises:
        UserError: the steady protocol is not possible, or a rate is given without it.
    """
    # No preset that is a default tunes such a section.
    own = [] if request.space is None else sorted(OWN_SECTIONS.keys() & _sections_of(request.space))
    missing = ""
    if not isinstance(engine, EmbeddedSpec):
        missing = f"engine '{engine.kind}' cannot age a store; choose engine 'embedded'"
    elif own:
        missing = f"there is no model of the debt of a {OWN_SECTIONS[own[0]]}, which the space tunes"
    if request.protocol == "steady" and missing:
        raise UserError(f"protocol: {missing}, or leave --protocol steady out")
    protocol = request.protocol or ("short" if missing else "steady")
    if isinstance(engine, CommandSpec):
        protocol = "own"
    elif protocol == "own":
        raise UserError("protocol: 'own' is that of engine 'command'; give steady or short")
    if protocol != "steady" and request.rate is not None:
        because = f"; {missing}" if missing else ""
        raise UserError(
            f"rate: only the steady protocol has a phase at an offered rate{because}; leave --rate out"
        )
    return protocol


def _sections_of(name_or_path: str) -> set[str]:
    """Returns the sections of the options that a space tunes or pins."""
    space = space_from_document(space_document(name_or_path), None, 1.0)
    return {*space.fixed_options, *(knob.section for knob in space.knobs)}


def check_compactions(spec: StudySpec) -> None:
    """Raises UserError if the baseline's compactions have no model, so that its debt would be unknown."""
    space = space_of(spec)
    for section, texts in space.options(baseline_of(spec, space)).items():
        style = texts.get("compaction_style", "kCompactionStyleLevel")
        off = texts.get("disable_auto_compactions") == "true"
        if section_kind(section) == "cf" and (off or style not in MODELLED_STYLES):
            what = "disable_auto_compactions=true" if off else f"compaction_style={style}"
            raise UserError(
                f"protocol: the baseline has {what}, and such a store has no steady state; "
                "give --protocol short"
            )
