"""transformers and PyTorch on the CPU, on a whole model with random weights: what bench/peers.bench.mjs puts beside ours.

    peers.py '{"config": {...}, "prompts": [512], "batches": [8], "outputTokens": 16, "packed": [1024]}'

Prints a JSON list of {what, size, dtype, tokensPerSecond}, or with a `problem` for what cannot be had. Threads: HONE_THREADS.
Of prompts and steps the best of five seconds. Prompts and decoding in inference mode with weights in bf16; decoding is a loop over the model and its own cache, without
what `generate` adds. A training step is forward and backward under bf16 autocast over f32 weights, and fused AdamW.
"""
import json
import os
import sys
import time

import torch
from transformers import AutoConfig, AutoModelForCausalLM, DynamicCache

given = json.loads(sys.argv[1])
torch.set_num_threads(int(os.environ["HONE_THREADS"]))
torch.manual_seed(1)
rows = []


def model_of(dtype):
    fields = dict(given["config"])
    config = AutoConfig.for_model(fields.pop("model_type"), **fields)
    return AutoModelForCausalLM.from_config(config, dtype=dtype)


def timed(what, size, tokens, run):
    try:
        run()  # chooses algorithms
        best, first = float("inf"), time.perf_counter()
        while best == float("inf") or time.perf_counter() - first < 5:
            begin = time.perf_counter()
            run()
            best = min(best, time.perf_counter() - begin)
        rows.append(dict(what=what, size=size, tokensPerSecond=tokens / best))
    except (RuntimeError, MemoryError) as error:
        rows.append(dict(what=what, size=size, problem=str(error).splitlines()[0][:200]))


def ids(batch, length):
    return torch.randint(given["config"]["vocab_size"], (batch, length))


def prefill(model, tokens):
    return model(input_ids=ids(1, tokens), use_cache=True, logits_to_keep=1)


def decode_seconds(model, batch):
    cache = DynamicCache(config=model.config)
    logits = model(input_ids=ids(batch, 16), past_key_values=cache, logits_to_keep=1).logits
    begin = time.perf_counter()
    for _ in range(given["outputTokens"]):
        token = torch.multinomial(torch.softmax(logits[:, -1].float(), -1), 1)
        logits = model(input_ids=token, past_key_values=cache, logits_to_keep=1).logits
    return time.perf_counter() - begin


def step(model, optimizer, tokens):
    row = ids(1, tokens)
    with torch.autocast("cpu", dtype=torch.bfloat16):
        loss = model(input_ids=row, labels=row, use_cache=False).loss
    loss.backward()
    optimizer.step()
    optimizer.zero_grad(set_to_none=True)


with torch.inference_mode():
    model = model_of(torch.bfloat16).eval()
    for tokens in given["prompts"]:
        timed("prefill", tokens, tokens, lambda: prefill(model, tokens))
    for batch in given["batches"]:
        decode_seconds(model, batch)
        seconds = decode_seconds(model, batch)
        rows.append(dict(what="generation", size=batch, tokensPerSecond=batch * given["outputTokens"] / seconds))
    del model
model = model_of(torch.float32).train()
optimizer = torch.optim.AdamW(model.parameters(), lr=1e-6, fused=True)
for tokens in given["packed"]:
    timed("training", tokens, tokens, lambda: step(model, optimizer, tokens))
print(json.dumps(rows))
