#!/usr/bin/env python3
"""Compares the verdicts of `hone eval` and of lm-evaluation-harness on a fixed set of completions.

    pip install --no-deps lm-eval && pip install numpy pyyaml      # tried with lm-eval 0.4.13
    python scripts/lm-eval-agreement.py

A server of prepared answers replaces the model: for seed k it writes a problem's right or wrong answer in the k-th way.
`hone eval --endpoint` sends it the problems of suites, from files in their published format, and judges the answers; then
the harness's scorers judge the same texts. Prints for each suite and way of writing how often each judged an answer right.
"""
import gzip
import importlib.util
import json
import random
import re
import subprocess
import sys
import tempfile
import threading
import types
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
PROBLEMS = 50
random_numbers = random.Random(7)


def comma(n):
    return f"{n:,}"


# Ways to write an answer: name, text for the right answer a and a wrong answer w, whether the text is right.
NUMBER_FORMS = [
    ("boxed", lambda a, w: f"So the answer is \\boxed{{{a}}}.", True),
    ("boxed in dollars, bold", lambda a, w: f"**Answer:** $\\boxed{{{a}}}$", True),
    ("boxed after other numbers", lambda a, w: f"3 + 4 = 7, and {w} is not it. $\\boxed{{{a}}}$", True),
    ("boxed, then a remark with a number", lambda a, w: f"$\\boxed{{{a}}}$ I checked it {int(a) % 7 + 2} times.", True),
    ("boxed with a thousands comma", lambda a, w: f"\\boxed{{{comma(int(a))}}}", True),
    ("boxed with a unit", lambda a, w: f"\\boxed{{{a} \\text{{ apples}}}}", True),
    ("boxed with .0", lambda a, w: f"\\boxed{{{a}.0}}", True),
    ("two boxes, the last right", lambda a, w: f"First \\boxed{{{w}}}, no: \\boxed{{{a}}}", True),
    ("boxed wrong", lambda a, w: f"So the answer is \\boxed{{{w}}}.", False),
    ("boxed wrong, the right one said before", lambda a, w: f"It could be {a}. \\boxed{{{w}}}", False),
    ("boxed wrong, the right one said after", lambda a, w: f"\\boxed{{{w}}}, although some say {a}.", False),
    ("after ####", lambda a, w: f"We get it.\n#### {a}", True),
    ("after ####, wrong", lambda a, w: f"It is not {a}.\n#### {w}", False),
    ("said without a mark", lambda a, w: f"The answer is {a}.", True),
    ("nothing", lambda a, w: "I do not know.", False),
]
LETTER_FORMS = [
    ("the answer is (X).", lambda a, w: f"Therefore, the answer is ({a}).", True),
    ("The answer is X", lambda a, w: f"The answer is {a}", True),
    ("the answer is (X), then text", lambda a, w: f"the answer is ({a}), because of the law.", True),
    ("wrong, parenthesised", lambda a, w: f"The answer is ({w}).", False),
    ("corrected: wrong first", lambda a, w: f"The answer is ({w}). Wait, no. The answer is ({a}).", True),
    ("corrected: right first", lambda a, w: f"The answer is ({a}). Wait, no. The answer is ({w}).", False),
    ("Answer: X", lambda a, w: f"Answer: {a}", True),
    ("boxed", lambda a, w: f"\\boxed{{{a}}}", True),
    ("the correct option is X", lambda a, w: f"So the correct option is {a}.", True),
    ("letter of another word", lambda a, w: f"The answer is {w}bsent from the list.", False),
    ("nothing", lambda a, w: "All of them look wrong.", False),
]


def letters(n):
    return "ABCDEFGHIJ"[:n]


def wrong_number(a):
    return str(int(a) + random_numbers.randint(1, 9))


def make_suites():
    """Returns by name: (file rows in the published format, right answers, wrong answers, forms)."""
    numbers = [str(random_numbers.randint(1000, 99999)) for _ in range(PROBLEMS)]
    short = [str(random_numbers.randint(10, 998)) for _ in range(PROBLEMS)]
    options = [[f"option {j} of {i}" for j in range(random_numbers.randint(4, 10))] for i in range(PROBLEMS)]
    right = [random_numbers.randrange(len(o)) for o in options]
    gsm = [{"question": f"Problem <{i}> of shop {i}: how many?", "answer": f"Work.\n#### {comma(int(a))}"}
           for i, a in enumerate(numbers)]
    aime = [{"problem_idx": i + 1, "problem": f"Problem <{i}>: find $n$.", "answer": int(a)} for i, a in enumerate(short)]
    mmlu = [{"question_id": i, "question": f"Problem <{i}>: which?", "options": o, "answer": letters(10)[r],
             "answer_index": r, "cot_content": "", "category": "law", "src": "made"}
            for i, (o, r) in enumerate(zip(options, right))]
    wrong_letters = [random_numbers.choice([c for c in letters(len(o)) if c != letters(10)[r]])
                     for o, r in zip(options, right)]
    return {
        "gsm8k": (gsm, numbers, [wrong_number(a) for a in numbers], NUMBER_FORMS),
        "aime25": (aime, short, [wrong_number(a) for a in short], NUMBER_FORMS),
        "mmlu-pro": (mmlu, [letters(10)[r] for r in right], wrong_letters, LETTER_FORMS),
    }


def completion(suites, suite, problem, form):
    _, right, wrong, forms = suites[suite]
    return forms[form][1](right[problem], wrong[problem])


def suite_of(prompt):
    if "multiple choice" in prompt:
        return "mmlu-pro"
    return "gsm8k" if "of shop" in prompt else "aime25"


def serve(suites):
    class Canned(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_POST(self):
            body = json.loads(self.rfile.read(int(self.headers["content-length"])))
            prompt = body["messages"][-1]["content"]
            text = completion(suites, suite_of(prompt), int(re.search(r"<(\d+)>", prompt)[1]), body["seed"])
            choice = {"index": 0, "finish_reason": "stop", "message": {"role": "assistant", "content": text}}
            reply = json.dumps({"choices": [choice], "usage": {"completion_tokens": len(text)}}).encode()
            self.send_response(200)
            self.send_header("content-type", "application/json")
            self.send_header("content-length", str(len(reply)))
            self.end_headers()
            self.wfile.write(reply)

        def log_message(self, *_):
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Canned)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    return server


def hone_verdicts(suites, folder):
    """Returns by (suite, problem, form) whether `hone eval` judges the prepared answer right."""
    server = serve(suites)
    judged = {}
    for suite, (rows, _, _, forms) in suites.items():
        data, out = folder / f"{suite}.jsonl", folder / suite
        data.write_text("".join(f"{json.dumps(row)}\n" for row in rows))
        command = ["node", str(ROOT / "dist/lib/cli/main.js"), "eval", "--endpoint",
                   f"http://127.0.0.1:{server.server_address[1]}/v1", "--model", "canned", "--suite", f"{suite}={data}",
                   "--seeds", f"0..{len(forms) - 1}", "--out", str(out), "--json"]
        subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
        lines = [json.loads(line) for line in gzip.open(out / "completions.jsonl.gz", "rt")]
        index = {l["problem"]: int(re.search(r"<(\d+)>", l["as"]["question"])[1]) for l in lines if "as" in l}
        verdict = {l["on"]: l["verdict"]["status"] for l in lines if "verdict" in l}
        texts = {l["completion"]: l["text"] for l in lines if "completion" in l}
        for l in lines:
            if "drawn" in l:
                place = (suite, index[l["of"]], l["seed"])
                assert texts[l["drawn"]] == completion(suites, *place), place
                judged[place] = verdict[l["drawn"]] == "correct"
        assert sum(place[0] == suite for place in judged) == len(rows) * len(forms)
    server.shutdown()
    return judged


def harness():
    """Returns lm-evaluation-harness's scorer for each suite: a function of (row, text) that returns whether it is right."""
    for name in ("datasets", "sacrebleu"):  # the harness imports these for other tasks
        if importlib.util.find_spec(name) is None:
            sys.modules[name] = types.ModuleType(name)
    import yaml
    from lm_eval.api.metrics import exact_match_hf_evaluate
    from lm_eval.filters.extraction import RegexFilter

    tasks = Path(importlib.util.find_spec("lm_eval").origin).parent / "tasks"

    class Loader(yaml.SafeLoader):
        pass

    Loader.add_constructor("!function", lambda loader, node: loader.construct_scalar(node))

    def by_filter(config, name, target):
        task = yaml.load((tasks / config).read_text(), Loader)
        rule = next(f for f in task["filter_list"] if f["name"] == name)["filter"][0]
        keep = RegexFilter(**{k: v for k, v in rule.items() if k != "function"})
        metric = {k: v for k, v in task["metric_list"][0].items() if k.startswith(("ignore", "regexes"))}

        def score(row, text):
            found = list(keep.apply([[text]], [row]))[0][0]
            return bool(exact_match_hf_evaluate([found], [target(row)], **metric)["exact_match"])

        return score

    spec = importlib.util.spec_from_file_location("aime_utils", tasks / "aime/utils.py")
    aime = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(aime)
    return {
        "gsm8k": by_filter("gsm8k/gsm8k.yaml", "flexible-extract", lambda row: row["answer"]),
        "aime25": lambda row, text: bool(aime.process_results(row, [text])["exact_match"]),
        "mmlu-pro": by_filter("mmlu_pro/_default_template_yaml", "custom-extract", lambda row: row["answer"]),
    }


def main():
    suites = make_suites()
    with tempfile.TemporaryDirectory(prefix="hone-lm-eval-") as folder:
        ours = hone_verdicts(suites, Path(folder))
    scorers = harness()
    for suite, (rows, _, _, forms) in suites.items():
        same = 0
        print(f"\n{suite}: right of {PROBLEMS}\n{'way of writing':44} truth   hone  lm-eval")
        for k, (name, _, truth) in enumerate(forms):
            mine = [ours[suite, i, k] for i in range(PROBLEMS)]
            theirs = [scorers[suite](rows[i], completion(suites, suite, i, k)) for i in range(PROBLEMS)]
            same += sum(a == b for a, b in zip(mine, theirs))
            print(f"{name:44} {truth!s:5} {sum(mine):6} {sum(theirs):8}{'' if mine == theirs else '  *'}")
        print(f"agree on {same} of {PROBLEMS * len(forms)}")


if __name__ == "__main__":
    main()
