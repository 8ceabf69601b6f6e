"""The reward of bench/trl.bench.mjs, for TRL and for Hone: 1 where what follows the thought is the answer."""


def right(completions, answer, **kwargs):
    texts = [one if isinstance(one, str) else one[0]["content"] for one in completions]
    given = [text.rpartition("</think>")[2].strip() if "</think>" in text else None for text in texts]
    return [1.0 if one == wanted else 0.0 for one, wanted in zip(given, answer)]
