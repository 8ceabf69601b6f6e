#!/usr/bin/env python3
"""Makes a tiny Phi-3 with longrope, and transformers' log-probabilities for it in float64: test/fixtures/models/longrope.

  python3 scripts/make-longrope-golden.py test/fixtures/models/longrope        needs torch and transformers

The sequences have 4,096 tokens (short factors), 4,097 and 4,300 (long factors); token i is (7 i i + 13 i) mod 48. The golden
file has, by sequence length, the log-probability of the token after each of some positions.
"""

import json
import sys

import torch
from transformers import Phi3Config, Phi3ForCausalLM

torch.manual_seed(0)
folder = sys.argv[1]
config = Phi3Config(
    vocab_size=48, hidden_size=16, num_hidden_layers=2, num_attention_heads=2, num_key_value_heads=1,
    intermediate_size=24, max_position_embeddings=16384, original_max_position_embeddings=4096, rope_theta=10000.0,
    pad_token_id=None, bos_token_id=1, eos_token_id=2, tie_word_embeddings=False, sliding_window=None,
    rope_scaling={"type": "longrope", "short_factor": [1.0, 1.1, 1.3, 1.6], "long_factor": [1.5, 4.0, 9.0, 16.0]})
model = Phi3ForCausalLM(config).float()
with torch.no_grad():
    for name, parameter in model.named_parameters():
        parameter.copy_(torch.ones_like(parameter) if "norm" in name else torch.randn_like(parameter) * 0.4)
model.save_pretrained(folder)
model = model.double()
golden = {}
for length in (4096, 4097, 4300):
    ids = torch.tensor([[(i * i * 7 + i * 13) % 48 for i in range(length)]])
    with torch.no_grad():
        logprobs = torch.log_softmax(model(ids).logits[0], -1)
    chosen = logprobs[:-1].gather(1, ids[0, 1:, None])[:, 0]
    places = [p for p in (0, 1, 2, 3, 10, 100, 500, 1000, 2000, 3000, 4000, 4094, 4095, 4200, 4298) if p < length - 1]
    golden[str(length)] = {str(p): chosen[p].item() for p in places}
json.dump(golden, open(folder + "/golden.json", "w"), indent=2)
