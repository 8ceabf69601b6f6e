"""transformers and PyTorch on the CPU, on a whole model with random weights: what bench/peers.bench.mjs puts beside ours.

    peers.py '{"config": {...}, "part": "prefill", "prompts": [512], "together": [1, 8], "batches": [8], "outputTokens": 16,
               "packed": [1024], "rank": 16}'

Measures one part: generation, prefill, training, or lora (PEFT's). Prints {"rows": [{size, sequences, tokensPerSecond}],
"peakBytes"}; a row has a `problem` for what cannot be had. Threads: HONE_THREADS.
Of prompts and steps the best of five seconds. Prompts and decoding in inference mode with weights in bf16; decoding is a loop over the model and its own cache, without
what `generate` adds. A training step is forward and backward under bf16 autocast over f32 weights (with LoRA: over a base in bf16), and fused AdamW.
"""
import json
import os
import resource
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


def timed(size, tokens, run, **more):
    try:
        run()  # chooses algorithms
        best, first = float("inf"), time.perf_counter()
        while best == float("inf") or time.perf_counter() - first < 5:
            begin = time.perf_counter()
            run()
            best = min(best, time.perf_counter() - begin)
        rows.append(dict(size=size, tokensPerSecond=tokens / best, **more))
    except (RuntimeError, MemoryError) as error:
        rows.append(dict(size=size, problem=str(error).splitlines()[0][:200], **more))


def ids(batch, length):
    return torch.randint(given["config"]["vocab_size"], (batch, length))


def prefill(model, sequences, tokens):
    return model(input_ids=ids(sequences, tokens), use_cache=True, logits_to_keep=1)


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


def generations():
    model = model_of(torch.bfloat16).eval()
    for batch in given["batches"]:
        decode_seconds(model, batch)
        seconds = decode_seconds(model, batch)
        rows.append(dict(size=batch, tokensPerSecond=batch * given["outputTokens"] / seconds))


def prefills():
    model = model_of(torch.bfloat16).eval()
    for tokens in given["prompts"]:
        for sequences in given["together"]:
            timed(tokens, sequences * tokens, lambda: prefill(model, sequences, tokens), sequences=sequences)


def steps(model):
    trained = [parameter for parameter in model.parameters() if parameter.requires_grad]
    optimizer = torch.optim.AdamW(trained, lr=1e-6, fused=True)
    for tokens in given["packed"]:
        timed(tokens, tokens, lambda: step(model.train(), optimizer, tokens))


def adapted():
    try:
        from peft import LoraConfig, get_peft_model
    except ImportError as error:
        rows.extend(dict(size=tokens, problem=str(error)) for tokens in given["packed"])
        return
    config = LoraConfig(r=given["rank"], lora_alpha=2 * given["rank"], target_modules="all-linear", task_type="CAUSAL_LM")
    steps(get_peft_model(model_of(torch.bfloat16), config))


if given["part"] in ("generation", "prefill"):
    with torch.inference_mode():
        generations() if given["part"] == "generation" else prefills()
elif given["part"] == "training":
    steps(model_of(torch.float32))
else:
    adapted()
print(json.dumps(dict(rows=rows, peakBytes=resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024)))
