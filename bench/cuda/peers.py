"""PyTorch on the shapes of bench/cuda, on the machine where scripts/gpu-check.sh runs.

What is not installed is left out and named. Each figure: median of 11 runs by CUDA events, random data.
"""
import argparse
import json
import statistics

import torch
import torch.nn.functional as F

rows, missing = [], []


def median_us(run):
    for _ in range(3):
        run()
    times = []
    for _ in range(11):
        begin, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
        begin.record()
        run()
        end.record()
        end.synchronize()
        times.append(begin.elapsed_time(end) * 1e3)
    return statistics.median(times)


def add(name, run, flops=0.0, moved=0.0):
    try:
        us = median_us(run)
    except Exception as error:  # one peer that fails must not hide the others
        missing.append(f"{name}: {type(error).__name__}: {str(error).splitlines()[0][:160]}")
        return
    row = {"name": name, "us": us}
    if flops:
        row["tflops"] = flops / us * 1e-6
    if moved:
        row["gbs"] = moved / us * 1e-3
    rows.append(row)


def bf16(*shape):
    return torch.randn(*shape, device="cuda", dtype=torch.bfloat16)


def products():
    for m, n, k in [(8192, 8192, 8192), (16384, 6144, 5120), (16384, 28672, 5120), (64, 28672, 5120), (1, 5120, 14336)]:
        x, w = bf16(m, k), bf16(n, k)
        add(f"torch.mm {m}x{n}x{k}", lambda: F.linear(x, w), flops=2.0 * m * n * k, moved=2.0 * (m * k + n * k + m * n))


def attention():
    for tokens, heads, kv_heads, dim in [(8192, 32, 8, 128), (2048, 32, 8, 128)]:
        q, k, v = bf16(1, heads, tokens, dim), bf16(1, kv_heads, tokens, dim), bf16(1, kv_heads, tokens, dim)
        for x in (q, k, v):
            x.requires_grad_()
        flops = 2.0 * heads * dim * tokens * tokens
        call = lambda: F.scaled_dot_product_attention(q, k, v, is_causal=True, enable_gqa=True)
        add(f"sdpa forward {tokens}", call, flops=flops)
        out = call()
        d = torch.randn_like(out)
        add(f"sdpa backward {tokens}", lambda: torch.autograd.grad(out, (q, k, v), d, retain_graph=True), flops=2.5 * flops)
    try:
        from torch.nn.attention.varlen import varlen_attn
    except ImportError:
        missing.append("torch.nn.attention.varlen: not in this torch")
        return
    q, k, v = bf16(16384, 32, 128), bf16(16384, 32, 128), bf16(16384, 32, 128)
    starts = torch.tensor([0, 8192, 16384], device="cuda", dtype=torch.int32)
    add("varlen 2 x 8192", lambda: varlen_attn(q, k, v, starts, starts, 8192, 8192, is_causal=True), flops=4.0 * 32 * 128 * 8192**2)


def rows_and_optimizer():
    x, w = bf16(16384, 5120), torch.ones(5120, device="cuda", dtype=torch.bfloat16)
    norm = torch.compile(lambda: F.rms_norm(x, (5120,), w, 1e-5))
    add("torch.compile rms_norm 16384x5120", norm, moved=4.0 * x.numel())
    gate, up = bf16(16384, 14336), bf16(16384, 14336)
    swiglu = torch.compile(lambda: F.silu(gate) * up)
    add("torch.compile swiglu 16384x14336", swiglu, moved=6.0 * gate.numel())
    weight = torch.nn.Parameter(torch.randn(1 << 28, device="cuda"))
    weight.grad = torch.randn_like(weight)
    adamw = torch.optim.AdamW([weight], lr=1e-6, fused=True)
    add("fused AdamW, 268 M f32", adamw.step, moved=28.0 * weight.numel())


def head():
    h, w = bf16(2048, 4096), torch.randn(128256, 4096, device="cuda")
    y = torch.randint(0, 128256, (2048,), device="cuda")
    forward = lambda: F.cross_entropy(F.linear(h.float(), w), y)
    add("f32 head, log-softmax, 2048x128256", forward, flops=2.0 * 2048 * 128256 * 4096)


def generation():
    try:
        from transformers import AutoModelForCausalLM, Qwen3Config
    except ImportError:
        missing.append("transformers: not installed")
        return
    config = Qwen3Config(hidden_size=1024, intermediate_size=3072, num_hidden_layers=28, num_attention_heads=16,
                         num_key_value_heads=8, head_dim=128, vocab_size=151936, tie_word_embeddings=True)
    model = AutoModelForCausalLM.from_config(config, dtype=torch.bfloat16).cuda().eval()
    for batch in (1, 64):
        ids = torch.randint(0, 151936, (batch, 128), device="cuda")
        for cache in ("dynamic", "static"):
            options = dict(max_new_tokens=128, min_new_tokens=128, do_sample=True, cache_implementation=cache, pad_token_id=0)
            run = lambda: model.generate(ids, attention_mask=torch.ones_like(ids), **options)
            before = len(rows)
            add(f"generate 0.6B batch {batch}, {cache} cache", run)
            if len(rows) > before:
                rows[-1]["tokens_per_second"] = batch * 128 / rows[-1]["us"] * 1e6


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--json", required=True)
    path = parser.parse_args().json
    torch.backends.cuda.matmul.allow_tf32 = False
    for part in (products, attention, rows_and_optimizer, head, generation):
        try:
            part()
        except Exception as error:
            missing.append(f"{part.__name__}: {type(error).__name__}: {str(error).splitlines()[0][:160]}")
        torch.cuda.empty_cache()
    with open(path, "w") as file:
        json.dump({"torch": torch.__version__, "device": torch.cuda.get_device_name(), "rows": rows, "missing": missing}, file, indent=1)
    print(f"{len(rows)} figures, {len(missing)} left out", *missing, sep="\n")


if __name__ == "__main__":
    main()
