#!/usr/bin/env python3
"""Loads model folders with transformers and compares its log-probabilities with those of `hone score`.

    npx hone convert models/mine models/mine-f32 --dtype f32
    python3 scripts/transformers-check.py models/mine models/mine-f32

Needs torch and transformers. Prints for each folder the tensors that transformers missed or did not expect, and the largest
difference over 63 tokens in f32. Exits with 1 unless each folder loads completely and differs by less than 1e-4.
"""
import json
import random
import subprocess
import sys
import tempfile
from pathlib import Path

import torch
from transformers import AutoModelForCausalLM, AutoModelForImageTextToText

ROOT = Path(__file__).resolve().parent.parent
LIMIT = 1e-4


def of_transformers(folder, ids, config):
    """Returns log-probabilities of ids[1:], and the tensors that did not fit when the folder was loaded."""
    auto = AutoModelForImageTextToText if "text_config" in config else AutoModelForCausalLM
    model, info = auto.from_pretrained(folder, dtype=torch.float32, output_loading_info=True)
    with torch.no_grad():
        logits = model(input_ids=torch.tensor([ids])).logits[0, :-1].double()
    chosen = torch.log_softmax(logits, -1).gather(1, torch.tensor(ids)[1:, None])[:, 0]
    return chosen.tolist(), {name: sorted(found) for name, found in info.items() if found}


def of_hone(folder, ids):
    with tempfile.NamedTemporaryFile("w", suffix=".jsonl") as file:
        file.write(json.dumps({"ids": ids}) + "\n")
        file.flush()
        command = ["node", ROOT / "dist/lib/cli/main.js", "score", "--model", folder, "--file", file.name]
        return json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout)["logprobs"]


def main(folders):
    good = True
    for folder in folders:
        config = json.loads((Path(folder) / "config.json").read_text())
        vocabulary = config.get("text_config", config)["vocab_size"]
        # Low ids only: a wrapper's image token must not appear without an image.
        ids = random.Random(1).choices(range(min(vocabulary, 100)), k=64)
        theirs, unfit = of_transformers(folder, ids, config)
        worst = max(abs(a - b) for a, b in zip(of_hone(folder, ids), theirs, strict=True))
        good = good and worst < LIMIT and not unfit
        print(f"{folder}: largest difference {worst:.1e}" + (f", did not fit: {unfit}" if unfit else ""))
    return 0 if good and folders else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
