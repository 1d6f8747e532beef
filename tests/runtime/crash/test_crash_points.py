"""SIGKILL at every fault point of a driver, at the points of the driver after it, and at random times.

``AKMC_CRASHES=500`` sets how many kills there are in all; without it, every point once and thirty random times.
"""

from __future__ import annotations

import os
import random
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from tests.runtime.crash.conftest import Trials

PARTS = 8
SEED = 20260301
RANDOM_KILLS = 30


def random_kills(points: int) -> int:
    """How many kills there are beside those at every point."""
    return max(RANDOM_KILLS, int(os.environ.get("AKMC_CRASHES", "0")) - points)


def test_the_points_are_where_promises_could_break(trials: Trials) -> None:
    points = trials.points
    assert points.count("before COMMIT") == points.count("after COMMIT") == points.count("before BEGIN IMMEDIATE")
    assert points.count("before INSERT INTO runs") == 2, "the run and its child"
    alone = points.count("after INSERT INTO happened")
    assert alone > 0, "decisions that are one statement"
    assert points.count("before INSERT INTO happened") == alone + points.count("before COMMIT") - 1, "the tables"
    assert points.count("before fcntl.flock") == points.count("before os.remove") == 2, "a lock for each of them"
    assert points.count("before subprocess.Popen") == len(trials.straight.units) - 1
    assert 150 < len(points) < 600


@pytest.mark.parametrize("part", range(PARTS))
def test_a_kill_at_every_point(trials: Trials, part: int) -> None:
    kills = 0
    for point in range(part + 1, len(trials.points) + 1, PARTS):
        trial = trials.new()
        killed = trial.kill(at=point)
        trial.check(trials.straight)
        kills += killed
    assert kills >= len(trials.points) // PARTS - 2, "which points there are varies a little with the units' timing"


@pytest.mark.parametrize("part", range(2))
def test_kills_of_one_driver_after_another(trials: Trials, part: int) -> None:
    chance = random.Random(SEED + part)
    wanted = random_kills(len(trials.points)) // 4
    kills = 0
    while kills < wanted:
        trial = trials.new()
        while trial.kill(at=chance.randrange(1, len(trials.points))) and trial.kills < 5:
            pass
        trial.check(trials.straight)
        kills += trial.kills


@pytest.mark.parametrize("part", range(2))
def test_kills_at_any_time(trials: Trials, part: int) -> None:
    chance = random.Random(SEED + part)
    wanted = random_kills(len(trials.points)) // 4 + 1
    kills = 0
    while kills < wanted:
        trial = trials.new()
        while trial.kill(after=chance.random() * 0.15) and trial.kills < 4:
            pass
        trial.check(trials.straight)
        kills += trial.kills
