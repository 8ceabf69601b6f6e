#!/usr/bin/env python3
"""Makes golden numbers of tiny versions of published models: test/fixtures/models/goldens.json.

  python3 scripts/make-model-goldens.py [name ...]       needs torch and transformers; names: only these models

published.json has each model's config.json as published. A tiny version has the same fields with smaller sizes; its weights
come from a formula (`weights`), which test/csrc/contract/published_models.test.cc also has, so that no weights are stored.
The goldens are, computed in float64: log-probabilities of some ids; two numbers for each tensor's gradient, its norm and its
inner product with the tensor that the formula gives with another seed; for one step of torch.optim.AdamW on the mean loss,
the loss before and after, the gradient's norm before clipping, and the same two numbers for each tensor's change; for
hybrids, mixtures, Cohere's models and Gemma-4 also the ids of greedy generation. transformers counts `parameters` in published.json from the published
config, on the meta device. It stores the matrices of a layer's experts as one tensor; here each has its name in published
files.
"""

import copy
import json
import pathlib
import sys

import numpy
import torch
import transformers

FOLDER = pathlib.Path(__file__).resolve().parent.parent / "test" / "fixtures" / "models"
LENGTH, VOCABULARY, GREEDY = 24, 60, 24
HEAD_DIM, MAX_GROUPS, WINDOW = 8, 2, 5
EXPERTS, CHOSEN, EXPERT_WIDTH, STATE = 10, 3, 12, 10
COUNTS = ("num_experts", "num_local_experts", "n_routed_experts", "moe_num_experts")
RATE, BETAS, EPS, DECAY, CLIP = 1e-2, (0.9, 0.95), 1e-3, 0.1, 0.5
MASK = (1 << 64) - 1


def uniform(name, count):
    """Returns numbers in [-1, 1): the top 24 bits of Splitmix64 of FNV-1a(name) + i."""
    seed = 0xCBF29CE484222325
    for byte in name.encode():
        seed = (seed ^ byte) * 0x100000001B3 & MASK
    with numpy.errstate(over="ignore"):
        x = numpy.uint64(seed) + numpy.arange(1, count + 1, dtype=numpy.uint64) * numpy.uint64(0x9E3779B97F4A7C15)
        x = (x ^ (x >> numpy.uint64(30))) * numpy.uint64(0xBF58476D1CE4E5B9)
        x = (x ^ (x >> numpy.uint64(27))) * numpy.uint64(0x94D049BB133111EB)
        x = x ^ (x >> numpy.uint64(31))
    return (x >> numpy.uint64(40)).astype(numpy.float64) / (1 << 23) - 1.0


def weights(name, shape, offset):
    """Norms 1 - offset + u/4, biases u/4, embedding and head u/2, matrices 3 u / sqrt(fan-in); rounded to float32."""
    u = uniform(name, int(numpy.prod(shape)))
    if name.endswith((".bias", "_proj_bias")):
        value = u / 4
    elif len(shape) == 1:
        value = 1 - offset + u / 4
    elif "embed" in name or "lm_head" in name or name.endswith("e_score_correction_bias"):
        value = u / 2
    else:
        value = 3 * u / numpy.sqrt(float(shape[1]))
    return value.astype(numpy.float32).reshape(shape)


def has_mamba(text):
    return "mamba" in (text.get("layer_types") or [])


def layers_of(text):
    """Returns a number of layers that includes every kind that the model has."""
    if text.get("no_rope_layers") or text["model_type"] in ("olmo3", "exaone4", "exaone_moe", "cohere2"):
        return 4
    if text.get("model_type") in ("gemma3_text", "gemma4_text"):
        return 6
    if text["model_type"].startswith(("qwen3_5", "qwen3_next")):
        return 5  # the fourth layer has attention
    if text["model_type"] in ("lfm2", "lfm2_moe"):
        return 4
    if text["model_type"] == "ernie4_5_moe":
        return 3
    if text["model_type"] == "nemotron_h":
        return 5
    if has_mamba(text):
        return 3
    if text.get("first_k_dense_replace"):
        return 1 + text["first_k_dense_replace"]
    return 2


def is_qwen_vl(config):
    """True for models whose rotary positions have three axes, which only the whole model computes, not its text model."""
    return config["model_type"] in ("qwen2_5_vl", "qwen3_vl")


def shrink_text(text):
    small, layers = dict(text), layers_of(text)
    defaults = transformers.AutoConfig.for_model(text["model_type"]).get_text_config()
    heads = text.get("num_attention_heads", defaults.num_attention_heads)
    kv_heads = text.get("num_key_value_heads", getattr(defaults, "num_key_value_heads", heads))
    group = min(heads // kv_heads, 3)
    kv_small = min(kv_heads, MAX_GROUPS)
    small.update(num_hidden_layers=layers, num_attention_heads=kv_small * group, num_key_value_heads=kv_small)
    even = text["hidden_size"] == heads * text.get("head_dim", text["hidden_size"] // heads)
    width = kv_small * group * HEAD_DIM if even else 24
    small.update(hidden_size=width, intermediate_size=20, vocab_size=VOCABULARY)
    if "global_head_dim" in text:  # the layers without a window have wider heads, and fewer for keys
        small.update(global_head_dim=2 * HEAD_DIM, num_global_key_value_heads=1)
    if "block_ff_dim" in text:  # LFM2's names; the MLP's width is two thirds of block_ff_dim, rounded up
        small.update(block_dim=width, block_ff_dim=30, block_multiple_of=4, conv_dim=width, conv_dim_out=width)
    if text.get("shared_intermediate_size"):  # a hybrid's sizes must be consistent, even without Mamba layers
        small.update(shared_intermediate_size=20, mamba_n_heads=2 * width // HEAD_DIM, mamba_d_head=HEAD_DIM)
    if text["model_type"] == "nemotron_h":
        first = text["hybrid_override_pattern"].index("*") - 1
        small.update(hybrid_override_pattern=text["hybrid_override_pattern"][first : first + layers], head_dim=HEAD_DIM)
        small.update(mamba_num_heads=6, mamba_head_dim=HEAD_DIM, n_groups=2, ssm_state_size=STATE)
    if "mamba_d_ssm" in text:
        small.update(mamba_n_heads=6, mamba_d_head=HEAD_DIM, mamba_d_ssm=6 * HEAD_DIM, mamba_d_state=STATE)
    if has_mamba(text):
        small.update(mamba_d_state=STATE, embedding_multiplier=1)  # with 12 the tied head would repeat the last token
    for name in COUNTS:
        if text.get(name):
            chosen = "moe_k" if name == "moe_num_experts" else "num_experts_per_tok"
            small.update({name: EXPERTS, chosen: min(text[chosen], CHOSEN)})
    if "rotary_dim" in text:
        small["rotary_dim"] = text["rotary_dim"] * HEAD_DIM // text["head_dim"]
    if text["model_type"] == "granitemoe":
        small["embedding_multiplier"] = 1  # with 12 the tied head would repeat the last token
    if "moe_intermediate_size" in text:
        small["moe_intermediate_size"] = EXPERT_WIDTH
    for name in ("shared_expert_intermediate_size", "moe_shared_expert_intermediate_size"):
        if name in text:
            small[name] = EXPERT_WIDTH + 2
    if "head_dim" in text or not even or text["model_type"].startswith("gemma"):
        small["head_dim"] = HEAD_DIM
    # transformers refuses ids outside the small vocabulary; these ids do not affect logits.
    small.update({name: 1 for name, value in text.items() if name.endswith("_token_id") and value is not None})
    if defaults.pad_token_id is not None:  # the embedding's row of this id gets no gradient
        small["pad_token_id"] = 1
    for name in [name for name in text if name.startswith("linear_") and name.endswith("_head_dim")]:
        small[name] = text[name] * HEAD_DIM // 128
    if "linear_num_value_heads" in text:  # keeps the number of value heads per key head
        share = text["linear_num_value_heads"] // text["linear_num_key_heads"]
        small.update(linear_num_key_heads=2, linear_num_value_heads=2 * share)
    for name in ("layer_types", "mlp_layer_types", "no_rope_layers"):
        if name in text:
            first = text[name].index("attention") - 1 if has_mamba(text) else 0  # a layer of attention between two of Mamba-2
            small[name] = text[name][first : first + layers]
    if text.get("sliding_window") and text.get("use_sliding_window", True):
        small["sliding_window"] = WINDOW
    scaling = text.get("rope_scaling") or {}
    if "mrope_section" in scaling:
        small["rope_scaling"] = {**scaling, "mrope_section": [2, 1, 1]}  # HEAD_DIM / 2 pairs of dimensions
    if "short_factor" in scaling:
        pairs = int(HEAD_DIM * text.get("partial_rotary_factor", 1.0)) // 2
        small["rope_scaling"] = {
            **scaling,
            **{name: scaling[name][:pairs] for name in ("short_factor", "long_factor")},
        }
    return small


def shrink_vision(vision, text):
    """Shrinks the vision model, which gets no images: only its sizes must be valid."""
    small = {**vision, "depth": 1, "hidden_size": 8, "intermediate_size": 8, "num_heads": 2}
    small.update(out_hidden_size=text["hidden_size"], fullatt_block_indexes=[0], deepstack_visual_indexes=[0])
    return {name: small[name] for name in vision}


def shrink(config):
    small = {**config, "text_config": shrink_text(config["text_config"])} if "text_config" in config else shrink_text(config)
    if is_qwen_vl(config):
        small["vision_config"] = shrink_vision(config["vision_config"], small.get("text_config", small))
        small.update({name: 1 for name in config if name.endswith("_token_id")})
    return small


def text_config_of(config):
    whole = transformers.AutoConfig.for_model(**copy.deepcopy(config))  # some configs modify their arguments
    return whole.get_text_config()


def model_of(config, device):
    if is_qwen_vl(config):
        whole = transformers.AutoConfig.for_model(**config)
        with torch.device(device):
            return transformers.AutoModelForImageTextToText.from_config(whole, dtype=torch.float64, attn_implementation="eager")
    text = text_config_of(config)
    text._attn_implementation = text._experts_implementation = "eager"
    if "text_config" in config and "tie_word_embeddings" in config:
        text.tie_word_embeddings = config["tie_word_embeddings"]
    with torch.device(device):
        return transformers.AutoModelForCausalLM.from_config(text, dtype=torch.float64)


def parameters_of(model):
    """Returns the text model's parameters, by its own names."""
    named = [(n.replace(".language_model.", "."), p) for n, p in model.named_parameters() if ".visual." not in n]
    return dict(named)


def experts_in(name, tensor):
    """Yields the file name of each matrix in a tensor [E, ..], with a function that selects it from such a tensor."""
    module, part = name.rsplit(".experts.", 1)
    width = tensor.shape[1] // 2
    if part in ("down_proj", "up_proj"):
        of_one = {part: slice(None)}
    else:
        of_one = {"gate_proj": slice(0, width), "up_proj": slice(width, 2 * width)}
    for expert in range(tensor.shape[0]):
        for matrix, rows in of_one.items():
            yield f"{module}.experts.{expert}.{matrix}.weight", (lambda whole, e=expert, r=rows: whole[e, r])


MIXTRAL = {"gate_proj": "w1", "up_proj": "w3", "down_proj": "w2"}


GRANITE = {"experts.gate_up_proj": "input_linear.weight", "experts.down_proj": "output_linear.weight", "router.weight": "router.layer.weight"}


def in_files(name, model_type):
    if model_type in ("granitemoehybrid", "granitemoe"):
        for theirs, ours in GRANITE.items():
            name = name.replace(f".block_sparse_moe.{theirs}", f".block_sparse_moe.{ours}")
    if model_type == "ernie4_5_moe":
        return name.replace(".mlp.gate.moe_statics.", ".mlp.moe_statics.")
    if model_type == "exaone_moe":
        return name.replace(".mlp.gate.e_score", ".mlp.e_score")
    if model_type not in ("mixtral", "minimax_m2", "lfm2_moe"):
        return name
    name = name.replace(".mlp.", ".block_sparse_moe.")
    for ours, theirs in MIXTRAL.items():
        name = name.replace(f".{ours}.", f".{theirs}.")
    return name


def tensors_of(model):
    """Yields (name in files, tensor of the model, function that selects it from that tensor or from its gradient)."""
    kind = model.config.get_text_config().model_type
    for name, tensor in parameters_of(model).items():
        if any(f".{parent}.experts." in name for parent in ("mlp", "mixer", "feed_forward")) and kind != "gpt_oss":  # gpt-oss files store them as transformers does
            yield from ((in_files(n, kind), tensor, take) for n, take in experts_in(name, tensor))
        else:
            yield in_files(name, kind), tensor, lambda whole: whole
    for name, tensor in model.named_buffers():
        if name.endswith(("e_score_correction_bias", "expert_bias", "layer_scalar")):
            yield in_files(name, kind), tensor, lambda whole: whole


def two_numbers(name, values):
    """Returns a tensor's norm, and its inner product with the tensor that the formula gives with another seed."""
    other = torch.from_numpy(weights("gradient of " + name, tuple(values.shape), 1))
    return values.double().norm().item(), (values * other).sum().item()


def adamw_step(model, loss_of):
    """Matrices and experts' tensors decay, biases and vectors do not. eps is large, so that no element's first step depends only on its gradient's sign."""
    named = parameters_of(model).items()
    parameters = [p for _, p in named]
    is_matrix = {name: (p.dim() == 2 or ".experts." in name) and not name.endswith("_bias") for name, p in named}
    decays = [p for name, p in named if is_matrix[name]]
    others = [p for name, p in named if not is_matrix[name]]
    groups = [{"params": decays, "weight_decay": DECAY}, {"params": others, "weight_decay": 0.0}]
    optimizer = torch.optim.AdamW(groups, lr=RATE, betas=BETAS, eps=EPS)
    before = [(name, take(tensor).detach().clone()) for name, tensor, take in tensors_of(model)]
    loss = loss_of().item()
    norm = torch.nn.utils.clip_grad_norm_(parameters, CLIP).item()
    optimizer.step()
    changes = {}
    with torch.no_grad():
        for (name, old), (_, tensor, take) in zip(before, tensors_of(model)):
            changes[name] = [float(f"{number:.8g}") for number in two_numbers(name, take(tensor) - old)]
        after = loss_of().item()
    return {"loss": loss, "norm": norm, "after": after, "changes": changes}


def has_experts(config):
    return any(config.get(name) for name in COUNTS)


def greedy_of(model, ids):
    """Returns the ids that greedy generation appends, computed with the model's cache."""
    model.generation_config = transformers.GenerationConfig(max_new_tokens=GREEDY, do_sample=False, pad_token_id=1)
    with torch.no_grad():
        return model.generate(torch.tensor([ids]))[0, len(ids) :].tolist()


def golden(config):
    small = shrink(config)
    model = model_of(small, "cpu").eval()
    offset = 1 if any(name in small["model_type"] for name in ("gemma2", "gemma3", "qwen3_5", "qwen3_next")) else 0
    with torch.no_grad():
        for name, tensor, take in tensors_of(model):
            take(tensor).copy_(torch.from_numpy(weights(name, tuple(take(tensor).shape), offset)))
    ids = [int((u + 1) / 2 * VOCABULARY) for u in uniform("ids", LENGTH)]

    def logprobs_of():
        logits = model(torch.tensor([ids]), use_cache=False).logits[0, :-1]
        return torch.log_softmax(logits, -1).gather(1, torch.tensor(ids[1:])[:, None])[:, 0]

    logprobs = logprobs_of()
    (-logprobs.mean()).backward()
    gradients, greedy = {}, {}
    for name, tensor, take in tensors_of(model):
        gradient = torch.zeros_like(tensor) if tensor.grad is None else tensor.grad
        gradients[name] = list(two_numbers(name, take(gradient)))
    text = small.get("text_config", small)
    if {"linear_num_value_heads", "mamba_d_ssm", "hybrid_override_pattern", "conv_L_cache", "logit_scale", "global_head_dim"} & text.keys() or has_experts(small) or has_mamba(text):
        greedy = {"greedy": greedy_of(model, ids)}
    step = adamw_step(model, lambda: -logprobs_of().mean())
    return {"config": small, "ids": ids, "logprobs": logprobs.tolist(), "gradients": gradients, **greedy, "adamw": step}


def write(name, rows):
    lines = ",\n".join(f"  {json.dumps(key)}: {json.dumps(row)}" for key, row in rows.items())
    (FOLDER / name).write_text("{\n" + lines + "\n}\n")


def main():
    torch.set_num_threads(1)
    published = json.loads((FOLDER / "published.json").read_text())
    for name, row in published.items():
        if sys.argv[1:] and name not in sys.argv[1:]:
            continue
        meta = model_of(row["config"], "meta")
        counted = sum(take(tensor).numel() for _, tensor, take in tensors_of(meta))
        if counted != row["parameters"]:
            print(f"{name}: {row['parameters']} parameters said, {counted} counted")
        row["parameters"] = counted
    goldens = json.loads((FOLDER / "goldens.json").read_text()) if sys.argv[1:] else {}
    for name, row in published.items():
        if sys.argv[1:] and name not in sys.argv[1:]:
            continue
        print(name, flush=True)
        goldens[name] = golden(row["config"])
    write("published.json", published)
    write("goldens.json", goldens)


main()
