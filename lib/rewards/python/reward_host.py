"""Calls reward functions in a user's Python file: reads requests from stdin, writes replies to stdout.

A message is its length (4 bytes, big-endian) and that many bytes of JSON. Both pipes are moved to other descriptors
before the user's file is imported, so that what the file prints goes to stderr. Standard library only, Python 3.8+.

Requests: {"op": "load", "file", "function"} replies {"about"}; {"op": "rate", "file", "function", "members",
"maxSteps"} replies {"values"}, an entry a member: a number, null where the function returned None, or {"fault"}.
Each replies {"error"} instead. Those of environments are environment_host.py's.
"""
import asyncio
import importlib.util
import inspect
import json
import math
import os
import platform
import queue
import re
import signal
import struct
import sys
import threading
import traceback
import types

MOST_SHOWN = 200
# One loop for all calls: clients and locks that a user's file keeps are bound to the loop in which they were first used.
LOOP = asyncio.new_event_loop()
OWN_FOLDER = os.path.dirname(os.path.abspath(__file__)) + os.sep


class Fault(Exception):
    """An error of which the message says all: no type and no line of the user's file belong to it."""


def main():
    requests, replies = take_pipes()
    asyncio.set_event_loop(LOOP)
    inbox = queue.SimpleQueue()
    threading.Thread(target=receive, args=(requests, inbox), daemon=True).start()
    host = Host()
    while True:  # in the main thread, where signal.alarm works
        send(replies, host.answer(inbox.get()))


def take_pipes():
    """The pipes of the protocol at descriptors that no child process inherits; stdin is empty, stdout is stderr."""
    requests, replies = os.fdopen(os.dup(0), "rb"), os.fdopen(os.dup(1), "wb")
    empty = os.open(os.devnull, os.O_RDONLY)
    os.dup2(empty, 0)
    os.dup2(2, 1)
    os.close(empty)
    sys.stdout.reconfigure(line_buffering=True)
    return requests, replies


def receive(requests, inbox):
    """Passes requests on. Once the pipe is closed, ends the process, whatever the user's function is doing, and what it
    started, if this process has a group of its own."""
    while True:
        head = requests.read(4)
        body = requests.read(struct.unpack(">I", head)[0]) if len(head) == 4 else b""
        if not body:
            if os.getpgrp() == os.getpid():
                os.killpg(0, signal.SIGKILL)
            os._exit(0)
        inbox.put(json.loads(body.decode("utf-8")))


def send(replies, reply):
    body = json.dumps(reply, allow_nan=False).encode("utf-8")
    replies.write(struct.pack(">I", len(body)) + body)
    replies.flush()


class Host:
    def __init__(self):
        self.modules = {}
        self.functions = {}
        self.players = None
        self.shown = set()

    def answer(self, request):
        file = request["file"]
        try:
            if request["op"] not in ("load", "rate"):
                return self.play(file, request)
            function, style = self.find(file, request["function"])
            if request["op"] == "load":
                return {"about": about(function, style, file)}
            rate = {"TRL": rate_trl, "verl": rate_verl, VERL_BATCH: rate_verl_batch}[style]
            return {"values": rate(function, request, lambda error: self.describe(error, file))}
        except BaseException as error:  # sys.exit() in a reward is an exception like others
            used = f"; {python_used()}{other_python(error, file)}" if request["op"] in ("load", "open") else ""
            return {"error": self.describe(error, file) + used}

    def find(self, file, name):
        key = (file, name)
        if key not in self.functions:
            function = named(self.module(file), name, FUNCTION)
            self.functions[key] = function, style_of(function)
        return self.functions[key]

    def module(self, file):
        if file not in self.modules:
            self.modules[file] = imported(file)
        return self.modules[file]

    def play(self, file, request):
        if self.players is None:
            sys.modules["reward_host"] = sys.modules[__name__]  # which is __main__; its import would be a copy
            self.players = imported(OWN_FOLDER + "environment_host.py").Players()
        return self.players.answer(request, named(self.module(file), request["function"], CLASS))

    def describe(self, error, file):
        """The error's type, message and line of the user's file; its traceback goes to stderr once a line."""
        if isinstance(error, Fault):
            return str(error)
        lines = "".join(traceback.format_exception_only(type(error), error)).strip().split("\n")
        message = lines[-1 if isinstance(error, SyntaxError) else 0]
        place = place_of(error, file)
        if (type(error), place) not in self.shown:
            self.shown.add((type(error), place))
            traceback.print_exception(type(error), error, users_part(error.__traceback__))
        return message[: 2 * MOST_SHOWN] + ("" if place is None else f" ({place})") + getattr(error, "other_form", "")


def users_part(trace):
    """A traceback without the frames that lead to the user's code."""
    while trace is not None and trace.tb_frame.f_code.co_filename.startswith((OWN_FOLDER, "<frozen ")):
        trace = trace.tb_next
    return trace


def imported(file):
    """The module of a file, imported beside its folder as `python file` would be."""
    if not os.path.isfile(file):
        raise Fault(f"{file} is not there")
    folder, stem = os.path.dirname(file), os.path.splitext(os.path.basename(file))[0]
    if folder not in sys.path:
        sys.path.insert(0, folder)
    name = stem if stem.isidentifier() and stem not in sys.modules else f"hone_user_{len(sys.modules)}"
    spec = importlib.util.spec_from_file_location(name, file)
    if spec is None or spec.loader is None:
        raise Fault(f"{file} is no Python file: its name must end in .py")
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    try:
        spec.loader.exec_module(module)
    except BaseException:
        del sys.modules[name]
        raise
    return module


class Kind:
    """What may stand after # in the name of a file."""

    def __init__(self, singular, plural, defaults, is_own):
        self.singular, self.plural, self.defaults, self.is_own = singular, plural, defaults, is_own


FUNCTION = Kind("function", "functions", ("reward", "compute_score"), inspect.isfunction)
CLASS = Kind("class", "classes", ("Env", "Environment"), inspect.isclass)


def named(module, name, kind):
    """What the file has under a dotted name, or else under the first default one that is there; it can be called."""
    names = [name] if name else [one for one in kind.defaults if hasattr(module, one)][:1]
    own = [key for key, value in vars(module).items() if kind.is_own(value) and value.__module__ == module.__name__]
    if not names:
        raise Fault(f"name the {kind.singular} after #; {module.__file__} has {', '.join(own) or 'none'}")
    found = module
    for part in names[0].split("."):
        if not hasattr(found, part):
            raise Fault(f"{module.__file__} has no {names[0]}; its {kind.plural} are {', '.join(own) or 'none'}")
        found = getattr(found, part)
    if not callable(found) or (kind is FUNCTION and inspect.isclass(found)):
        raise Fault(f"{names[0]} of {module.__file__} is {type(found).__name__} {shown(found)}, not a {kind.singular}")
    return found


VERL_BATCH = "verl's batch manager"


def style_of(function):
    """"TRL", "verl" or VERL_BATCH, by the names of the function's parameters."""
    parameters = parameters_of(function)
    if "completions" in parameters:
        return "TRL"
    if "solution_str" in parameters:
        return "verl"
    if "solution_strs" in parameters:
        return VERL_BATCH
    # TRL calls by keywords, so that a function may do without the texts, as TRL's own overlong punishment does
    if "completion_ids" in parameters or "prompts" in parameters:
        return "TRL"
    raise Fault(
        f"{name_of(function)}{signature_of(function)} takes neither TRL's parameters (prompts, completions, ...)"
        " nor verl's (data_source, solution_str, ground_truth, extra_info)"
    )


def signature_of(function):
    try:
        return inspect.signature(function)
    except (TypeError, ValueError):
        raise Fault(f"{name_of(function)} has no signature that Python can read")


def parameters_of(function):
    return signature_of(function).parameters


def name_of(function):
    return getattr(function, "__name__", type(function).__name__)


def about(function, style, file):
    return f"{name_of(function)}{signature_of(function)} of {os.path.basename(file)}, called as {style} does, {python_used()}"


def python_used():
    return f"Python {platform.python_version()} at {sys.executable}"


def other_python(error, file):
    """How the recipe uses the virtual environment beside the file, where a module is missing in the Python that is used."""
    if not isinstance(error, ImportError):
        return ""
    for folder in (os.getcwd(), os.path.dirname(file)):
        for name in (".venv", "venv"):
            python = os.path.join(folder, name, "bin", "python")
            if os.path.exists(python) and os.path.realpath(sys.prefix) != os.path.realpath(os.path.join(folder, name)):
                return f'; python: {{ bin: "{os.path.relpath(python)}" }} in the recipe uses the environment that is there'
    return ""


FORMS = {
    False: ("string ind", 'completions are texts here; completions: "messages" beside python in the recipe gives lists of messages'),
    True: ("'list'|expected string", 'completions are lists of messages here; completions: "text" beside python in the recipe gives texts'),
}


def other_form(error, is_conversation):
    """How the recipe gives completions in the other form, if an exception shows that the function expects it."""
    sign, remedy = FORMS[is_conversation]
    return f"; {remedy}" if re.search(sign, str(error)) else ""


def arguments(function, offered, on_request, there="the rows have"):
    """What of `offered` the function takes, all of it where it has **kwargs; `on_request` only by name."""
    parameters = parameters_of(function)
    kinds = [parameter.kind for parameter in parameters.values()]
    takes_all = inspect.Parameter.VAR_KEYWORD in kinds
    given = {key: value for key, value in offered.items() if takes_all or key in parameters}
    given.update({key: value for key, value in on_request.items() if key in parameters})
    for key, parameter in parameters.items():
        named_alone = parameter.kind in (parameter.POSITIONAL_OR_KEYWORD, parameter.KEYWORD_ONLY)
        if named_alone and parameter.default is parameter.empty and key not in given:
            raise Fault(f"{name_of(function)} asks for {key}, and {there} {', '.join(offered)}")
    return given


class TrainerState(types.SimpleNamespace):
    def __getattr__(self, name):
        known = ", ".join(vars(self)) or "nothing, because these completions are judged outside a run"
        raise AttributeError(f"trainer_state has no {name} here; it has {known}")


def rate_trl(function, request, _):
    members = request["members"]
    try:
        rewards = awaited(function(**arguments(function, trl_columns(members), trl_extras(request))))
    except (AttributeError, IndexError, TypeError) as error:
        error.other_form = other_form(error, members[0]["isConversation"])
        raise
    return [None if reward is None else number(reward) for reward in listed(function, rewards, len(members))]


def listed(function, rewards, count):
    """What a function of several completions returned, as a list of `count` rewards."""
    if hasattr(rewards, "tolist"):
        rewards = rewards.tolist()
    if not isinstance(rewards, (list, tuple)):
        raise Fault(f"{name_of(function)} returned {type(rewards).__name__} {shown(rewards)}, not a list of {count} rewards")
    if len(rewards) != count:
        raise Fault(f"{name_of(function)} returned {len(rewards)} rewards for {count} completions")
    return rewards


def trl_columns(members):
    names = {name: None for member in members for name in member["columns"]}
    columns = {name: [member["columns"].get(name) for member in members] for name in names}
    columns["prompts"] = [member["prompt"] for member in members]
    columns["completions"] = [completion_of(member) for member in members]
    if all(member.get("ids") is not None for member in members):
        columns["completion_ids"] = [member["ids"] for member in members]
    return columns


def completion_of(member):
    text = member["completion"]
    return [{"role": "assistant", "content": text}] if member["isConversation"] else text


def trl_extras(request):
    steps = [member["step"] for member in request["members"] if member.get("step") is not None]
    state = {"global_step": max(steps), "max_steps": request["maxSteps"]} if steps else {}
    ignore = lambda *_, **__: None
    return {"trainer_state": TrainerState(**state), "log_extra": ignore, "log_metric": ignore}


def rate_verl(function, request, describe):
    calls = [arguments(function, member["verl"], {}) for member in request["members"]]
    results = [attempt(function, call) for call in calls]
    if any(inspect.isawaitable(result) for result in results):
        results = LOOP.run_until_complete(gathered(results))
    return [verl_score(result, describe) for result in results]


def rate_verl_batch(function, request, describe):
    """One call for all, with lists: the names of verl's arguments in the plural."""
    members = request["members"]
    offered = {
        "data_sources": [member["verl"]["data_source"] for member in members],
        "solution_strs": [member["verl"]["solution_str"] for member in members],
        "ground_truths": [member["verl"]["ground_truth"] for member in members],
        "extra_infos": [member["verl"]["extra_info"] for member in members],
    }
    results = listed(function, awaited(function(**arguments(function, offered, {}))), len(members))
    return [verl_score(result, describe) for result in results]


def attempt(function, call):
    try:
        return function(**call)
    except BaseException as error:
        return Raised(error)


class Raised:
    def __init__(self, error):
        self.error = error


async def gathered(results):
    async def one(result):
        try:
            return await result if inspect.isawaitable(result) else result
        except BaseException as error:
            return Raised(error)

    return await asyncio.gather(*[one(result) for result in results])


def verl_score(result, describe):
    if isinstance(result, Raised):
        return {"fault": describe(result.error)}
    if isinstance(result, dict):
        if "score" not in result:
            return {"fault": f"the reward returned a dict without score: {shown(result)}"}
        result = result["score"]
    return number(result)


async def result_of(awaitable):
    return await awaitable


def awaited(result):
    return LOOP.run_until_complete(result_of(result)) if inspect.isawaitable(result) else result


def number(value):
    """The value as a number that JSON holds, or what is wrong with it. Scalars of numpy and torch are numbers."""
    fault = {"fault": f"the reward returned {type(value).__name__} {shown(value)}, not a finite number"}
    if isinstance(value, (str, bytes)):
        return fault
    try:
        plain = float(value.item() if hasattr(value, "item") else value)
    except (TypeError, ValueError, OverflowError, RuntimeError):
        return fault
    return plain if math.isfinite(plain) else fault


def shown(value):
    try:
        return repr(value)[:MOST_SHOWN]
    except Exception:
        return "(its repr fails)"


def place_of(error, file):
    """"rewards.py:12, in accuracy": the last frame in the user's file, else in its folder."""
    frames = traceback.extract_tb(error.__traceback__)
    folder = os.path.dirname(file) + os.sep
    inside = [frame for frame in frames if frame.filename == file] or [
        frame for frame in frames if frame.filename.startswith(folder)
    ]
    if isinstance(error, SyntaxError) and error.filename is not None:
        return f"{os.path.basename(error.filename)}:{error.lineno}"
    if not inside:
        return None
    frame = inside[-1]
    return f"{os.path.basename(frame.filename)}:{frame.lineno}, in {frame.name}"


if __name__ == "__main__":
    main()
