"""Controllers of the policies of an FLSM store: the cost curve, RusKey's Lerp and its baselines."""

from rocktune.online.control.base import Controller, Decision
from rocktune.online.control.choice import ChosenController, parse_controller, require_torch
from rocktune.online.control.curve_controller import Curve
from rocktune.online.control.greedy import Greedy, Static
from rocktune.online.control.levelwise import Levelwise
from rocktune.online.control.mission import LevelMission, Mission, Served, busy_seconds, mission_of

__all__ = [
    "ChosenController",
    "Controller",
    "Curve",
    "Decision",
    "Greedy",
    "LevelMission",
    "Levelwise",
    "Mission",
    "Served",
    "Static",
    "busy_seconds",
    "mission_of",
    "parse_controller",
    "require_torch",
]
