"""The rewards of bench/trl.bench.mjs, for TRL and for Hone: by whether what follows the thought is the answer."""


def right(completions, answer, **kwargs):
    texts = [one if isinstance(one, str) else one[0]["content"] for one in completions]
    given = [text.rpartition("</think>")[2].strip() if "</think>" in text else None for text in texts]
    return [1.0 if one == wanted else 0.0 for one, wanted in zip(given, answer)]


def accuracy_reward(completions, answer, **kwargs):
    """-1 or 1, as that of docs/how-to/from-trl.md."""
    return [2 * one - 1 for one in right(completions, answer)]


def compute_score(data_source, solution_str, ground_truth, extra_info=None):
    """The same as `right`, with verl's signature."""
    return right([solution_str], [ground_truth])[0]
