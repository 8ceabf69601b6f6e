"""PyTorch on the shapes of bench/cuda, on the machine where scripts/gpu-check.sh runs.

A line of JSON for every figure, written at once: `bench` and `name` are those of our row, or the beginning of its name.
A figure that cannot be had is a line with the `problem`. Medians of CUDA events after a warm-up, random data.

    peers.py --json FILE                       on a GPU
    peers.py --json FILE --device cpu --tiny   do the calls still exist? (the numbers mean nothing)
"""
import argparse
import json
import statistics
import time

import torch
import torch.nn.functional as F

parser = argparse.ArgumentParser()
parser.add_argument("--json", required=True)
parser.add_argument("--device", choices=["cuda", "cpu"], default="cuda")
parser.add_argument("--tiny", action="store_true", help="small shapes, each call once")
arguments = parser.parse_args()
CUDA, TINY = arguments.device == "cuda", arguments.tiny
lines = open(arguments.json, "w")


def write(**line):
    print(json.dumps(line), file=lines, flush=True)


def elapsed_us(run):
    if not CUDA:
        begin = time.perf_counter()
        run()
        return (time.perf_counter() - begin) * 1e6
    begin, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
    begin.record()
    run()
    end.record()
    end.synchronize()
    return begin.elapsed_time(end) * 1e3


def median_us(run):
    run()  # compiles, chooses an algorithm
    if TINY:
        return elapsed_us(run)
    once = min(elapsed_us(run), elapsed_us(run))
    calls, repeats = max(1, min(40, int(400 / once))), 3 if once > 2e5 else 11

    def several():
        for _ in range(calls):
            run()

    several()
    return statistics.median(elapsed_us(several) / calls for _ in range(repeats))


def add(bench, name, peer, run, flops=0.0, measure=median_us, **more):
    try:
        us = measure(run)
    except Exception as error:  # one peer that fails must not hide the others
        return write(bench=bench, name=name, peer=peer, problem=reason(error))
    if flops:
        more["teraflops"] = flops / us * 1e-6
    write(bench=bench, name=name, peer=peer, microseconds=us, **more)
    print(f"{bench:10} {name:45} {peer:32} {us:12.1f} us", f"{flops / us * 1e-6:8.1f} TFLOP/s" if flops else "", flush=True)


def reason(error):
    return f"{type(error).__name__}: {(str(error).splitlines() or [''])[0][:200]}"


def numbers(*shape, dtype=torch.bfloat16):
    return torch.rand(*shape, device=arguments.device, dtype=dtype) * 2 - 1


def products():
    shapes = [("square", 8192, 8192, 8192), ("qkv", 8192, 6144, 5120), ("gate|up", 8192, 28672, 5120), ("down", 8192, 5120, 14336)]
    shapes += [("gate|up", 64, 28672, 5120), ("down", 1, 5120, 14336)]
    for what, m, n, k in [("smoke", 300, 136, 200)] if TINY else shapes:
        # weights of a decoding step take turns, so that no cache holds them
        x, w, turn = numbers(m, k), [numbers(n, k) for _ in range(4 if m <= 256 else 1)], iter(range(1 << 30))
        name = f"{'decode' if m <= 256 else 'forward'} {what} {m}x{n}x{k}"
        add("gemm", name, "F.linear", lambda: F.linear(x, w[next(turn) % len(w)]), flops=2.0 * m * n * k)


def attention():
    tokens = 1024 if TINY else 16384
    for name, heads, kv_heads, dim in [("H4/2 D64", 4, 2, 64)] if TINY else [("H32/8 D128", 32, 8, 128), ("H16/8 D128", 16, 8, 128)]:
        for length in [512] if TINY else [512, 2048, 8192, 16384]:
            packed(f"{name}, {tokens // length}x{length}", tokens // length, length, heads, kv_heads, dim)


def packed(what, count, length, heads, kv_heads, dim):
    flops = 4.0 * count * heads * dim * length * (length + 1) / 2

    def both(peer, call, *inputs):
        for x in inputs:
            x.requires_grad_()
        add("attention", f"packed forward {what}", peer, call, flops=flops)
        try:
            out = call()
            slope = torch.rand_like(out)
        except Exception:
            return  # the forward's line says why
        add("attention", f"packed backward {what}", peer,
            lambda: torch.autograd.grad(out, inputs, slope, retain_graph=True), flops=2.5 * flops)

    q, k, v = numbers(count, heads, length, dim), numbers(count, kv_heads, length, dim), numbers(count, kv_heads, length, dim)
    both("F.scaled_dot_product_attention", lambda: F.scaled_dot_product_attention(q, k, v, is_causal=True, enable_gqa=True), q, k, v)
    try:
        from torch.nn.attention.varlen import varlen_attn
    except ImportError as error:
        return write(bench="attention", name=f"packed forward {what}", peer="varlen_attn", problem=reason(error))
    # every query head with keys of its own: grouped heads are not in every version
    q, k, v = (numbers(count * length, heads, dim) for _ in range(3))
    starts = torch.arange(0, count + 1, device=arguments.device, dtype=torch.int32) * length
    both("varlen_attn, keys repeated", lambda: varlen(varlen_attn, q, k, v, starts, length), q, k, v)


def varlen(varlen_attn, q, k, v, starts, length):
    try:
        return varlen_attn(q, k, v, starts, starts, length, length, window_size=(-1, 0))
    except TypeError:  # up to torch 2.10
        return varlen_attn(q, k, v, starts, starts, length, length, is_causal=True)


def rows():
    tokens, width, mlp = (64, 128, 192) if TINY else (16384, 5120, 14336)
    x, w = numbers(tokens, width), torch.ones(width, device=arguments.device, dtype=torch.bfloat16)
    norm = torch.compile(lambda x, w: F.rms_norm(x, (width,), w, 1e-5))
    add("rows", f"rms_norm {tokens}x{width}", "torch.compile", lambda: norm(x, w))
    gate, up = numbers(tokens, mlp), numbers(tokens, mlp)
    swiglu = torch.compile(lambda gate, up: F.silu(gate) * up)
    add("rows", f"swiglu {tokens}x{mlp}", "torch.compile", lambda: swiglu(gate, up))
    n = 40000 if TINY else 1 << 28
    weight = torch.nn.Parameter(numbers(n, dtype=torch.float32))
    weight.grad = numbers(n, dtype=torch.float32)
    adamw = torch.optim.AdamW([weight], lr=1e-6, fused=True)
    add("rows", f"adamw {n}", "fused AdamW (28 bytes a weight, ours 30)", adamw.step)


def head():
    for name, width, vocabulary, dtype in [("smoke", 64, 700, torch.float32)] if TINY else [
            ("0.6B", 1024, 151936, torch.bfloat16), ("8B", 4096, 151936, torch.float32)]:
        count = 64 if TINY else 4096
        h, w = numbers(count, width), numbers(vocabulary, width, dtype=dtype)
        targets = torch.randint(0, vocabulary, (count,), device=arguments.device)
        passes = 3 if dtype == torch.float32 else 1  # as ours is counted

        def forward(h, w, targets):
            return F.cross_entropy(F.linear(h.to(w.dtype), w).float(), targets, reduction="none")

        for peer, call in [("logits stored", forward), ("logits stored, torch.compile", torch.compile(forward))]:
            add("lm_head", f"statistics {name}, {count} rows", f"{str(dtype)[6:]}, {peer}", lambda: call(h, w, targets),
                flops=2.0 * count * vocabulary * width * passes)


def model():
    try:
        from transformers import AutoModelForCausalLM, Qwen3Config
    except ImportError as error:
        return write(bench="model", name="generate 0.6B", peer="transformers", problem=reason(error))
    size = "smoke" if TINY else "0.6B"
    shape = dict(hidden_size=64, intermediate_size=192, num_hidden_layers=2, num_attention_heads=4, head_dim=16,
                 num_key_value_heads=2, vocab_size=500) if TINY else \
        dict(hidden_size=1024, intermediate_size=3072, num_hidden_layers=28, num_attention_heads=16, head_dim=128,
             num_key_value_heads=8, vocab_size=151936)
    config = Qwen3Config(**shape, tie_word_embeddings=True, max_position_embeddings=8192)
    network = AutoModelForCausalLM.from_config(config, dtype=torch.bfloat16).to(arguments.device)
    train(network, size, config.vocab_size)
    for cache, batches in [("dynamic", (1, 8, 64, 256)), ("static", (1, 64))]:  # a static cache is compiled for each batch
        for batch in (1, 3) if TINY else batches:
            generate(network.eval(), size, config.vocab_size, cache, batch)


def generate(network, size, vocabulary, cache, batch):
    prompt, short, long = (20, 2, 6) if TINY else (128, 16, 128)
    ids = torch.randint(0, vocabulary, (batch, prompt), device=arguments.device)

    def run(tokens):
        return network.generate(ids, attention_mask=torch.ones_like(ids), max_new_tokens=tokens, min_new_tokens=tokens,
                                do_sample=True, cache_implementation=cache, pad_token_id=0)

    def step_us(run):  # a decoding step: what more tokens take longer than few
        run(long), run(short)
        return (elapsed_us(lambda: run(long)) - elapsed_us(lambda: run(short))) / (long - short)

    add("model", f"generate {size}, batch {batch}", f"transformers, {cache} cache", run, measure=step_us, tokens=batch)


def train(network, size, vocabulary):
    network.train()
    count, length = (2, 24) if TINY else (4, 4096)
    ids = torch.randint(0, vocabulary, (count, length), device=arguments.device)
    adamw = torch.optim.AdamW(network.parameters(), lr=1e-6, fused=True)

    def step():
        for one in ids:  # a sequence at a time, for the logits of all would be 40 GB
            network(input_ids=one[None], labels=one[None]).loss.backward()
        adamw.step()
        adamw.zero_grad()

    add("model", f"train {size}, {count * length} tokens", "transformers, all in bf16", step, tokens=count * length)


write(torch=torch.__version__, device=torch.cuda.get_device_name() if CUDA else "cpu")
torch.backends.cuda.matmul.allow_tf32 = False
for part in (products, attention, rows, head, model):
    try:
        part()
    except Exception as error:
        write(bench=part.__name__, name=part.__name__, peer="torch", problem=reason(error))
    if CUDA:
        torch.cuda.empty_cache()
