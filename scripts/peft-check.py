"""Checks the goldens of scripts/make-lora-goldens.py against PEFT: computes the same numbers with peft's LoRA.

python3 scripts/peft-check.py test/fixtures/peft    # needs torch, transformers, peft

Compares in float64 the log-probs before the first of ten AdamW steps, each step's loss and gradient norm, and A and B after
the last. Exits with 1 if a difference is larger than the rounding of the goldens.
"""
import json
import sys

import peft
import torch
from safetensors.torch import load_file
from transformers import AutoModelForCausalLM

folder = sys.argv[1]
torch.set_default_dtype(torch.float64)
golden = json.load(open(f"{folder}/steps.json"))
base = AutoModelForCausalLM.from_pretrained(f"{folder}/model", dtype=torch.float64, experts_implementation="eager")
mixes = hasattr(base.config, "num_experts")
of_experts = {"target_modules": ["q_proj", "k_proj", "v_proj", "o_proj"], "target_parameters": ["mlp.experts.gate_up_proj", "mlp.experts.down_proj"]}
targets = of_experts if mixes else {"target_modules": "all-linear"}
config = peft.LoraConfig(r=4, lora_alpha=8, lora_dropout=0.0, bias="none", task_type="CAUSAL_LM", **targets)
model = peft.get_peft_model(base, config, autocast_adapter_dtype=False)
tensors = load_file(f"{folder}/adapter/adapter_model.safetensors")
unknown = peft.set_peft_model_state_dict(model, {name: t.double() for name, t in tensors.items()}).unexpected_keys
adapters = {n.replace("base_model.model.", "").replace(".default", ""): p for n, p in model.named_parameters() if p.requires_grad}
texts = [torch.tensor(ids) for ids in golden["ids"]]
optimizer = torch.optim.AdamW(adapters.values(), lr=1e-2, betas=(0.9, 0.95), eps=1e-8, weight_decay=0.1)


def logprobs(ids):
    return torch.log_softmax(model(ids[None]).logits[0, :-1], -1).gather(1, ids[1:, None])[:, 0]


def distance(got, wanted):
    return max(abs(a - b) for a, b in zip(got, wanted, strict=True))


off = {"log-probs": distance(logprobs(texts[0]).tolist(), golden["logprob0"]), "loss": 0.0, "norm": 0.0}
for step in range(10):
    loss = -sum(logprobs(ids).sum() for ids in texts) / sum(len(ids) - 1 for ids in texts)
    optimizer.zero_grad()
    loss.backward()
    norm = torch.nn.utils.clip_grad_norm_(adapters.values(), 0.5)
    optimizer.step()
    off["loss"] = max(off["loss"], abs(loss.item() - golden["loss"][step]))
    off["norm"] = max(off["norm"], abs(norm.item() - golden["norm"][step]))
off["A and B"] = max(distance(adapters[name].flatten().tolist(), wanted) for name, wanted in golden["after"].items())
print(f"peft {peft.__version__}: {len(golden['after'])} of {len(adapters)} matrices,", {k: float(f"{v:.1g}") for k, v in off.items()})
sys.exit(bool(unknown) or len(golden["after"]) != len(adapters) or any(not v < 1e-8 for v in off.values()))
