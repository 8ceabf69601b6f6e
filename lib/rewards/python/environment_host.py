"""Plays episodes in a user's Python environments: the part of reward_host.py that keeps a state.

Requests: {"op": "open", "file", "function"} replies {"about"}; {"op": "reset", "file", "function", "episode", "problem"}
replies {}; {"op": "step", "episode", "message"} replies {"outcome"}, as an environment in TypeScript returns it;
{"op": "score", "episode", "end"} replies {"score"} and forgets the episode, as every error does.
"""
import os
import signal

import reward_host
from reward_host import Fault, arguments, number, python_used, shown, signature_of

NEEDED = ("reset", "step")


class Interrupted(BaseException):
    """Raised in the user's code at the time limit of a call. Not an Exception, which that code may catch."""


class Episode:
    def __init__(self, environment):
        self.environment = environment
        self.rewards = 0.0

    @property
    def scores(self):
        return hasattr(self.environment, "score")


class Players:
    def __init__(self):
        self.episodes = {}
        self.is_at_work = False
        signal.signal(signal.SIGINT, self.interrupt)

    def interrupt(self, *_):
        if self.is_at_work:
            raise Interrupted("the call was interrupted at its time limit")

    def answer(self, request, make):
        self.is_at_work = True
        try:
            return getattr(self, "answer_" + request["op"])(request, make)
        except BaseException:
            self.episodes.pop(request.get("episode"), None)
            raise
        finally:
            self.is_at_work = False

    def answer_open(self, request, make):
        environment = made(make)
        step, file = signature_of(environment.step), os.path.basename(request["file"])
        return {"about": f"{type(environment).__name__}.step{step} of {file}, {python_used()}"}

    def answer_reset(self, request, make):
        episode = self.episodes[request["episode"]] = Episode(made(make))
        problem = request["problem"]
        offered = {**problem, "seed": problem["id"], "options": problem}
        self.call(episode.environment.reset, offered, "a problem has")
        return {}

    def answer_step(self, request, make):
        episode, message = self.episodes[request["episode"]], request["message"]
        offered = {"action": message["answer"], "malformed": None, **message}
        returned = self.call(episode.environment.step, offered, "a message has")
        observation, reward, is_over = outcome_of(returned)
        if not episode.scores:
            episode.rewards += finite(reward, "step gave no reward, and the environment has no score: its")
        if is_over:
            return {"outcome": {"done": True}}
        if not isinstance(observation, str):
            raise Fault(f"step returned the observation {type(observation).__name__} {shown(observation)}, not a text")
        return {"outcome": {"observation": observation}}

    def answer_score(self, request, make):
        episode = self.episodes.pop(request["episode"])
        if not episode.scores:
            return {"score": episode.rewards}
        score = self.call(episode.environment.score, request["end"], "the end of an episode has")
        return {"score": finite(score, "score returned none: its")}

    def call(self, method, offered, there):
        return reward_host.awaited(method(**arguments(method, offered, {}, there)))


def made(make):
    environment = make()
    missing = [name for name in NEEDED if not callable(getattr(environment, name, None))]
    if missing:
        raise Fault(f"{type(environment).__name__} has no method {' and no '.join(missing)}")
    return environment


def outcome_of(returned):
    """(observation, reward, is over) of what step returned."""
    if isinstance(returned, dict):
        return returned.get("observation"), returned.get("reward"), bool(returned.get("done"))
    if isinstance(returned, tuple) and len(returned) == 5:
        observation, reward, terminated, truncated, _ = returned
        return observation, reward, bool(terminated) or bool(truncated)
    raise Fault(
        f"step returned {type(returned).__name__} {shown(returned)}, neither a dict with observation or done"
        " nor (observation, reward, terminated, truncated, info)"
    )


def finite(value, where):
    found = number(value)
    if isinstance(found, dict):
        raise Fault(f"{where} value is {type(value).__name__} {shown(value)}, not a finite number")
    return found
