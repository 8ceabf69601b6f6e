"""TRL on the CPU in f32, for bench/trl.bench.mjs, which says what to do in JSON:

    trl-run.py '{"do": "train", "trainer": "GRPOTrainer", "args": {...}, "model": DIR, "rows": FILE, "rewards": FILE, "reward": "right", "log": "reward", "out": DIR}'
    trl-run.py '{"do": "gradients", ..., "steps": FILE, "checkpoints": [DIR]}'

"train" trains as a user's script would, writes the model to out/model and to out/result.json the mean of `log` and of the
clip fraction over each batch, the processor seconds of the imports, and the versions. "gradients" asks TRL's own loss of
batches that Hone recorded, each under the weights that it was trained with, and writes losses and norms of gradients.
"""
import importlib
import importlib.util
import json
import os
import sys
import time

os.environ["TRL_EXPERIMENTAL_SILENCE"] = "1"

import datasets
import torch
import transformers
import trl
from torch.nn.utils.rnn import pad_sequence

IMPORTED = time.process_time()
# Where TRL keeps what is not in its main package: trainer, then its configuration.
PLACES = {
    "GRPOTrainer": ("trl", "trl", "GRPOConfig"),
    "RLOOTrainer": ("trl", "trl", "RLOOConfig"),
    "DistillationTrainer": ("trl", "trl", "DistillationConfig"),
    "GSPOTokenTrainer": ("trl.experimental.gspo_token", "trl", "GRPOConfig"),
    "GMPOTrainer": ("trl.experimental.gmpo", "trl.experimental.gmpo", "GMPOConfig"),
}


def reward_of(file, name):
    spec = importlib.util.spec_from_file_location("rewards", file)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return getattr(module, name)


def model_of(folder):
    return transformers.AutoModelForCausalLM.from_pretrained(folder, dtype=torch.float32)


def trainer_of(given):
    home, of_config, config_name = PLACES[given["trainer"]]
    Trainer = getattr(importlib.import_module(home), given["trainer"].replace("GSPOToken", "GRPO"))
    Config = getattr(importlib.import_module(of_config), config_name)
    args = Config(
        output_dir=os.path.join(given["out"], "trainer"), use_cpu=True, bf16=False, gradient_checkpointing=False,
        lr_scheduler_type="constant", warmup_steps=0, save_strategy="no", report_to="none", disable_tqdm=True,
        **given["args"],
    )
    tokenizer = transformers.AutoTokenizer.from_pretrained(given["model"], padding_side="left")
    cache = os.path.join(given["out"], "rows")
    rows = datasets.load_dataset("json", data_files=given["rows"], split="train", cache_dir=cache)
    more = dict(teacher_model=given["teacher"]) if "teacher" in given else dict(reward_funcs=reward_of(given["rewards"], given["reward"]))
    return Trainer(model=model_of(given["model"]), args=args, train_dataset=rows, processing_class=tokenizer, **more)


def train(given):
    trainer = trainer_of(given)
    trainer.train()
    trainer.save_model(os.path.join(given["out"], "model"))
    entries = [entry for entry in trainer.state.log_history if given["log"] in entry]
    curve = [entry[given["log"]] for entry in entries]
    clipped = [entry.get("clip_ratio/region_mean", 0) for entry in entries]
    versions = {module.__name__: module.__version__ for module in (trl, torch, transformers)}
    return dict(curve=curve, clipped=clipped, imported=IMPORTED, versions=versions)


def padded(lists, side, value=0, dtype=torch.long):
    return pad_sequence([torch.tensor(one, dtype=dtype) for one in lists], True, value, side)


def inputs_of(rollouts, whole):
    """What a trainer makes of a batch that it sampled itself. @param whole: log-probs are summed over an answer."""
    prompts, tokens = [one["prompt"] for one in rollouts], [one["tokens"] for one in rollouts]
    old = padded([one["logprobs"] for one in rollouts], "right", 0.0, torch.float32)
    masks = {
        f"{name}_mask": padded([[1] * len(ids) for ids in lists], side)
        for name, lists, side in (("prompt", prompts, "left"), ("completion", tokens, "right"))
    }
    reference = [one["reference"] for one in rollouts if "reference" in one]
    more = {"ref_per_token_logps": padded(reference, "right", 0.0, torch.float32)} if reference else {}
    return dict(
        **more, prompt_ids=padded(prompts, "left"), completion_ids=padded(tokens, "right"), **masks,
        advantages=torch.tensor([one["advantage"] for one in rollouts], dtype=torch.float32),
        num_items_in_batch=masks["completion_mask"].sum(),
        **({"old_logps": old.sum(1)} if whole else {"old_per_token_logps": old}),
    )


def gradients(given):
    trainer = trainer_of(given)
    trainer.current_gradient_accumulation_steps = 1
    found = []
    with open(given["steps"]) as file:
        steps = json.load(file)
    for rollouts, folder in zip(steps, given["checkpoints"]):
        trainer.model.load_state_dict(model_of(folder).state_dict())
        trainer.model.train()
        trainer.model.zero_grad(set_to_none=True)
        loss = trainer._compute_loss(trainer.model, inputs_of(rollouts, given["trainer"] == "RLOOTrainer"))
        loss.backward()
        norm = torch.nn.utils.get_total_norm([weight.grad for weight in trainer.model.parameters()])
        found.append(dict(loss=loss.item(), norm=norm.item()))
    return found


given = json.loads(sys.argv[1])
torch.set_num_threads(int(os.environ["OMP_NUM_THREADS"]))
os.makedirs(given["out"], exist_ok=True)
result = train(given) if given["do"] == "train" else gradients(given)
with open(os.path.join(given["out"], "result.json"), "w") as file:
    json.dump(result, file)
