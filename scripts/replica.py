#!/usr/bin/env python3
"""Recomputes recorded steps of a run in float64 with PyTorch, from the run folder alone.

    python3 scripts/replica.py runs/mine                 # all steps that can be recomputed
    python3 scripts/replica.py runs/mine --steps 3,4,5 --json

Needs torch; a run with `rollouts: { record: true }` and `checkpoint: { everySteps: 1 }` that kept enough checkpoints; and an
objective and network that this file implements. From the weights and moments before a step and its rollouts in rollouts/, it
computes rewards, advantages, loss, gradient norm and the weights after the step by their published formulas, and compares
them with the recorded ones. Exits with 1 if a difference exceeds LIMITS.

In a LoRA run the trained weights are A and B; the base is in checkpoints/warm-start, or in the model folder that the recipe
names, or in --base. A LoRA run has no checkpoint of the adapters before its first step, so that step is skipped unless the
adapters had a warm start. The network reads tokens from an environment, but no sum includes them. The recipe's path of a
teacher's folder must be valid from here; the recorded log-probs are compared with the teacher's.
"""
import argparse
import base64
import itertools
import json
import math
import sys
from pathlib import Path

import torch

# Largest differences: relative ones, except logprob (for rollouts that only the weights before the step sampled) and teacher in nats, and selection in the units that the rule of tokens compares.
LIMITS = {"reward": 1e-12, "advantage": 1e-9, "weight": 1e-12, "loss": 2e-5, "gradient": 2e-5, "movement": 5e-3, "logprob": 1e-4, "teacher": 1e-4, "selection": 1e-4}
NETWORKS = ("llama", "mistral", "qwen2", "qwen3")


def words(text, dtype):
    return torch.frombuffer(bytearray(base64.b64decode(text)), dtype=dtype) if text else torch.empty(0, dtype=dtype)


DTYPES = {"F32": torch.float32, "BF16": torch.bfloat16, "F16": torch.float16}
PEFT_PREFIX = "base_model.model."


def read_tensors(path):
    with open(path, "rb") as file:
        header = json.loads(file.read(int.from_bytes(file.read(8), "little")))
        data = file.read()
    header.pop("__metadata__", None)
    tensors = {}
    for name, entry in header.items():
        begin, end = entry["data_offsets"]
        values = torch.frombuffer(bytearray(data[begin:end]), dtype=DTYPES[entry["dtype"]])
        tensors[name.removeprefix(PEFT_PREFIX)] = values.reshape(entry["shape"]).double()
    return tensors


def read_weights(folder):
    """Returns the weights of a model folder or a checkpoint, without moments; for a folder of adapters only A and B."""
    tensors = {}
    for path in sorted(folder.glob("*.safetensors")):
        if not path.name.startswith("optimizer"):
            tensors.update(read_tensors(path))
    return tensors


class Checkpoint:
    """The trained weights, moments and number of optimizer steps of a folder in checkpoints/."""

    def __init__(self, folder):
        self.config = json.loads((folder / "config.json").read_text())
        self.steps = json.loads((folder / "manifest.json").read_text())["body"]["optimizer"]["steps"]
        self.weights = read_weights(folder)
        self.moments = read_tensors(folder / "optimizer.safetensors")


def holds_adapters(folder):
    return (folder / "adapter_model.safetensors").exists()


class Adapted:
    """Computes the network's weights from the trained ones: W + alpha / r B A with adapters, otherwise the same weights."""

    def __init__(self, base=None, lora=None):
        self.base, self.scale = base, lora and lora["alpha"] / lora["rank"]

    def __call__(self, trained):
        if self.base is None:
            return trained
        out = dict(self.base)
        for name, a in trained.items():
            of = name.removesuffix(".lora_A.weight")
            if of != name:
                out[f"{of}.weight"] = self.base[f"{of}.weight"] + self.scale * trained[f"{of}.lora_B.weight"] @ a
        return out


def adapted_by(run, recipe, given):
    """Returns the function from a run's trained weights to its network's weights."""
    if recipe["model"]["weightStorage"] != "f32":
        sys.exit("replica.py knows weights stored as f32; bf16 rounds weights, keys and values, which it does not")
    lora = recipe.get("lora")
    if lora is None:
        return Adapted()
    started = run / "checkpoints" / "warm-start"
    kept = started if started.is_dir() and not holds_adapters(started) else None
    named = given or kept or Path(recipe["model"].get("folder", run))
    if not (base := read_weights(named)):
        sys.exit(f"{named} has no weights: name the folder of the base by --base")
    return Adapted(base, lora)


def rms_norm(x, weight, eps):
    return x / (x.square().mean(-1, keepdim=True) + eps).sqrt() * weight


def rotate(x, theta):
    """x: [heads, T, D]; pairs are (i, i + D / 2)."""
    half = x.shape[-1] // 2
    frequencies = theta ** (-torch.arange(half, dtype=torch.float64) / half)
    angle = torch.arange(x.shape[1], dtype=torch.float64)[:, None] * frequencies
    a, b = x[..., :half], x[..., half:]
    return torch.cat([a * angle.cos() - b * angle.sin(), b * angle.cos() + a * angle.sin()], -1)


def logits_of(weights, config, ids):
    """Returns logits [T, V] of one sequence: a decoder with grouped heads, RoPE and SwiGLU, by its definition."""
    rope = config.get("rope_parameters") or {}
    if config["model_type"] not in NETWORKS or rope.get("rope_type", "default") != "default" or config.get("sliding_window"):
        sys.exit(f"replica.py knows {', '.join(NETWORKS)} with plain rotation and no window, not {config['model_type']}")
    heads, groups, width = config["num_attention_heads"], config["num_key_value_heads"], config["head_dim"]
    eps, theta = config["rms_norm_eps"], rope.get("rope_theta", config.get("rope_theta", 10000.0))
    after = torch.ones(len(ids), len(ids), dtype=torch.bool).triu(1)
    x = weights["model.embed_tokens.weight"][ids]
    for layer in range(config["num_hidden_layers"]):
        def w(name):
            return weights.get(f"model.layers.{layer}.{name}")

        def linear(h, name):
            y = h @ w(f"{name}.weight").T
            return y if w(f"{name}.bias") is None else y + w(f"{name}.bias")

        h = rms_norm(x, w("input_layernorm.weight"), eps)
        q, k, v = (linear(h, f"self_attn.{n}_proj").reshape(len(ids), -1, width).transpose(0, 1) for n in "qkv")
        if w("self_attn.q_norm.weight") is not None:
            q, k = rms_norm(q, w("self_attn.q_norm.weight"), eps), rms_norm(k, w("self_attn.k_norm.weight"), eps)
        q, k = rotate(q, theta), rotate(k, theta)
        k, v = (t.repeat_interleave(heads // groups, 0) for t in (k, v))
        scores = (q @ k.transpose(1, 2) / math.sqrt(width)).masked_fill(after, -math.inf)
        mixed = (scores.softmax(-1) @ v).transpose(0, 1).reshape(len(ids), -1)
        x = x + linear(mixed, "self_attn.o_proj")
        h = rms_norm(x, w("post_attention_layernorm.weight"), eps)
        x = x + linear(torch.nn.functional.silu(linear(h, "mlp.gate_proj")) * linear(h, "mlp.up_proj"), "mlp.down_proj")
    head = weights.get("lm_head.weight", weights["model.embed_tokens.weight"])
    return rms_norm(x, weights["model.norm.weight"], eps) @ head.T


def terms_of(o, ratio, advantage, new):
    """Returns the objective's term of each token, to be minimised; docs/reference/recipe.md."""
    kind, low, high = o["objective"], 1 - o["clipLow"], 1 + o["clipHigh"]
    if kind == "sapo":
        gate = o.get("gate", {"positive": 1.0, "negative": 1.05})
        tau = torch.where(advantage > 0, gate["positive"], gate["negative"])
        return -4 / tau * (tau * (ratio - 1)).sigmoid() * advantage
    if kind == "gmpo":  # `ratio` is already the mean
        return -ratio * advantage
    if kind == "cispo":
        return -ratio.detach().clamp(low, high) * advantage * new
    if kind == "reinforce-clamped":
        return -ratio.detach().clamp(0.0, high) * advantage * new
    if kind == "reinforce":
        return -advantage * new
    gain = torch.minimum(ratio * advantage, ratio.clamp(low, high) * advantage)
    return -torch.where(advantage < 0, torch.maximum(gain, o.get("dualClip", math.inf) * advantage), gain)


def ratio_of(o, log_ratio, advantage, corrected):
    """Returns the ratio of each token, or one for the sequence. With a correction, each token's ratio has the gradient of its own log-prob."""
    kind = o["objective"]
    if kind == "gmpo":
        log_ratio = (log_ratio * advantage.sign()).clamp(max=o["clipHigh"] if advantage > 0 else o["clipLow"]) * advantage.sign()
    if kind not in ("gspo", "gspo-token", "gmpo"):
        return log_ratio.exp()
    mean = log_ratio.mean()
    return (mean.detach() + log_ratio - log_ratio.detach() if corrected or kind == "gspo-token" else mean).exp()


def correction_of(rule, log_gap, was, now, advantage):
    """Returns constant weights that correct for the engine's different log-probs; docs/explanation/numerics.md."""
    kind, low, high = rule["kind"], rule["low"], rule["high"]
    if kind in ("dppo-tv", "dppo-kl"):
        mu, p = was.exp(), now.detach().exp()
        gap = (p - mu).abs() if kind == "dppo-tv" else mu * (mu / p).log() + (1 - mu) * ((1 - mu) / (1 - p)).log()
        away = (p - mu) * advantage > 0
        return log_gap.exp() * ~(away & (gap > torch.where(advantage > 0, high, low)))
    token, whole = log_gap.detach().exp(), log_gap.detach().sum().exp()
    if kind == "tis":
        return token.clamp(low, high)
    if kind == "sequence-tis":
        return whole.clamp(low, high).expand_as(token)
    tested = {"icepop": token, "sequence-mask": whole, "geometric-mask": log_gap.detach().mean().exp()}[kind]
    weight = whole if kind == "sequence-mask" else token
    return weight * ((tested >= low) & (tested <= high))


def weight_of(trained, totals, length, members):
    """Returns a rollout's weight in an update's loss. totals: groups, sequences and tokens of the update."""
    kind, sequences = trained["objective"]["objective"], totals["sequences"]
    if kind in ("gspo", "gspo-token", "gmpo", "sapo"):
        return (length if trained["objective"]["sequenceWeight"] == "length" else 1) / sequences
    if kind == "grpo":
        return 1 / (totals["groups"] * members)
    if kind in ("dapo", "cispo"):
        return length / totals["tokens"]
    return length / (sequences * (trained["drGrpoNormalizer"] if kind == "dr-grpo" else 1))


def worth_of(rollout, table):
    """Returns R of a verdict: its score, or a table's value; docs/reference/recipe.md."""
    status, score, finished = rollout["verdict"]["status"], rollout["verdict"]["score"], rollout["finish"] in ("eos", "stop")
    if table == "score":
        return score
    if table in ("pure_success", "success_and_format"):
        return score if finished or table == "pure_success" else 0.0
    row = table["finished" if finished else "truncated"]
    if status == "partial" and "partial" in row:
        return row["partial"]
    return row["wrong"] + score * (row["correct"] - row["wrong"]) if status in ("partial", "wrong") else row[status]


def reward_of(rollout, length, solve_rate, recipe):
    """Returns R + lambda P; docs/reference/recipe.md."""
    rule, limit = recipe["lengthPenalty"], recipe["rollouts"]["maxOutputTokens"]
    verdict, worth = rollout["verdict"], worth_of(rollout, recipe["reward"]["table"])
    if rule["kind"] == "none":
        return worth
    free = limit - rule["bufferTokens"]
    penalty = (free - length) / rule["bufferTokens"] if free < length <= limit else 0.0
    scale = solve_rate ** rule["solveRateExponent"] if verdict["status"] == "correct" else rule["incorrectScale"]
    cut = length >= limit and rollout["finish"] not in ("eos", "stop")
    return worth + (1.0 if cut or rule["kind"] == "lp" else scale) * penalty


def normalised(values):
    """Returns the values less their mean, over their standard deviation; 0 for values that are None, which do not count."""
    there = [v for v in values if v is not None]
    mean = sum(there) / max(1, len(there))
    std = math.sqrt(sum((v - mean) ** 2 for v in there) / max(1, len(there)))
    flat = len(there) < 2 or max(there) - min(there) < 1e-6
    return [0.0 if v is None or flat else (v - mean) / (std + 1e-6) for v in values]


def combined(rollouts, weights):
    """GDPO: sums a group's rewards by weight, each normalised within the group; the length penalty has weight 1."""
    penalties = [r["penaltyScale"] * r["penalty"] for r in rollouts]
    columns = [(1.0, [r["reward"] - p for r, p in zip(rollouts, penalties)])]
    if weights:
        columns = [(w / sum(weights.values()), [r["verdict"].get("parts", {}).get(name) for r in rollouts]) for name, w in weights.items()]
    columns.append((1.0, penalties))
    columns = [(w, normalised(values)) for w, values in columns]
    return [sum(w * values[i] for w, values in columns) for i in range(len(rollouts))]


def scoped(values, domains, scope):
    """Returns for each value the (mean, std over n, whether all are equal) of the batch, or of its domain."""
    out = []
    for domain in domains:
        mine = [v for v, d in zip(values, domains) if scope.startswith("batch-") or d == domain]
        mean = sum(mine) / len(mine)
        out.append((mean, math.sqrt(sum((v - mean) ** 2 for v in mine) / len(mine)), max(mine) - min(mine) < 1e-6))
    return out


def batchwide(differences, domains, rule):
    """Subtracts the mean and divides by the deviation, of the batch or of each rollout's domain in it, as the rule says."""
    if rule["baseline"] in ("batch-mean", "domain-mean"):
        differences = [0.0 if flat else d - mean for d, (mean, _, flat) in zip(differences, scoped(differences, domains, rule["baseline"]))]
    if rule["divideBy"] in ("batch-std", "domain-std"):
        differences = [d / (std + 1e-6) for d, (_, std, _) in zip(differences, scoped(differences, domains, rule["divideBy"]))]
    return differences


def advantages_of(rewards, rule):
    """Centres a group's rewards and divides them by std + 1e-6; all 0 if their range is below 1e-6. Skips batch-wide forms."""
    n, mean = len(rewards), sum(rewards) / len(rewards)
    if rule["baseline"] in ("batch-mean", "domain-mean"):
        return list(rewards)
    if n < 2 or max(rewards) - min(rewards) < 1e-6:
        return [0.0] * n
    out = [(r - mean) * (n / (n - 1) if rule["baseline"] == "leave-one-out" else 1) for r in rewards]
    if rule.get("passAt"):  # mean best of k with the member, less that without it
        sets = list(itertools.combinations(range(n), min(rule["passAt"], n - 1)))
        best = lambda of: sum(max(rewards[j] for j in s) for s in of) / len(of)
        out = [best([s for s in sets if i in s]) - best([s for s in sets if i not in s]) for i in range(n)]
    if rule["divideBy"] in ("none", "batch-std", "domain-std"):
        return out
    std = math.sqrt(sum((r - mean) ** 2 for r in rewards) / (n - (rule["divideBy"] == "sample-std")))
    return [a / (std + 1e-6) for a in out]


def chosen_of(rollout, tokens):
    """Returns a mask of the tokens that the policy sampled: all except those from its environment."""
    mask = torch.ones(tokens, dtype=torch.bool)
    given = rollout.get("given", [])
    for begin, end in zip(given[::2], given[1::2]):
        mask[begin:end] = False
    return mask


def divergence_of(log_s, teacher, rule):
    """Returns the divergence [n] of the policy's log-probs from the teacher's logits [n, V]; docs/explanation/numerics.md."""
    beta, k = rule["beta"], rule.get("topK")
    log_t = teacher[:, : log_s.shape[1]].log_softmax(-1)
    if k is not None:
        top = log_t.topk(k).indices
        log_s, log_t = log_s.gather(1, top).log_softmax(-1), log_t.gather(1, top).log_softmax(-1)
    kl = lambda a, b: (a.exp() * (a - b)).sum(-1)
    if beta in (0, 1):
        return kl(log_t, log_s) if beta == 0 else kl(log_s, log_t)
    log_m = (beta * log_t.exp() + (1 - beta) * log_s.exp()).log()
    return beta * kl(log_t, log_m) + (1 - beta) * kl(log_s, log_m)


def full_kl_of(log_s, log_t, k):
    """Returns KL(policy || reference) [n] of log-probs [n, V]: exact, or over the reference's k likeliest and the rest as one token."""
    if k is None:
        return (log_s.exp() * (log_s - log_t)).sum(-1)
    top = log_t.topk(k).indices
    log_s, log_t = log_s.gather(1, top), log_t.gather(1, top)
    ours, theirs = ((1 - x.exp().sum(-1)).clamp(min=2**-20) for x in (log_s, log_t))
    return (log_s.exp() * (log_s - log_t)).sum(-1) + ours * (ours.log() - theirs.log())


def reference_of(run, recipe, number, adapted):
    """Returns weights and config of the reference for a step's full KL term; None without such a term, or if the folder is missing."""
    if recipe["objective"]["klEstimator"] != "full" or not recipe["objective"]["klCoef"]:
        return None
    every = recipe["objective"]["referenceEverySteps"]
    since = (number - 1) // every * every if every else 0
    folder = run / "checkpoints" / (f"reference-{since:06d}" if since else "warm-start")
    return (adapted(Checkpoint(folder).weights), Checkpoint(folder).config) if folder.is_dir() else None


class Step:
    """One recorded step: its first line, and each rollout that it trained on, with prompt, tokens and mask."""

    def __init__(self, path, recipe, teacher=None, reference=None):
        self.reference, self.top_k = reference, recipe["objective"].get("klTopK")
        head, *groups = [json.loads(line) for line in path.read_text().splitlines()]
        self.head, self.trained, self.worst = head, head.get("trained"), dict.fromkeys(LIMITS, 0.0)
        self.rollouts = []
        self.updates = (self.trained or {}).get("updates") or ([{**self.trained, "epoch": 0, "rollouts": math.inf}] if self.trained else [])
        self.check_advantages([group for group in groups if "first" not in group], recipe)
        for group in groups:
            self.check_first(group, path.parent)
        for group in groups:
            first = len(self.rollouts)
            judged = [r for r in group["rollouts"] if "reward" in r]
            self.check_group(judged, group["solveRate"], recipe)
            for rollout in judged:
                if ("sequence" in rollout) != ("dropped" not in group and not rollout.get("masked", False)):
                    self.differ("weight", 1.0, math.nan)
                if "sequence" not in rollout:
                    continue
                tokens = words(rollout["tokens"], torch.int32).long()
                chosen = chosen_of(rollout, len(tokens))
                totals = self.update_of(len(self.rollouts))
                self.differ("weight", rollout["weight"], weight_of(self.trained, totals, int(chosen.sum()), len(judged)))
                self.rollouts.append((rollout, words(group["prompt"], torch.int32).long(), tokens, chosen))
            if teacher is not None:
                self.teach(self.rollouts[first:], teacher, recipe["teacher"])

    def teach(self, group, teacher, rule):
        """Sets per-token advantages from a teacher: docs/how-to/distillation.md."""
        gaps = []
        for rollout, prompt, tokens, chosen in group:
            logits = logits_of(*teacher, torch.cat([prompt, tokens]))[len(prompt) - 1 : -1][chosen]
            scored = (logits / self.trained["objective"]["temperature"]).log_softmax(-1).gather(1, tokens[chosen][:, None])[:, 0]
            said = words(rollout["teacher"], torch.float32).double()[chosen]
            self.differ("teacher", 0.0, (scored - said).abs().max().item(), 1.0)
            gaps.append(said - words(rollout["logprobs"], torch.float32).double()[chosen])
            if rule.get("divergence"):
                rollout["taught"], rollout["teacherLogits"] = rule["rewardCoef"] * rollout["advantage"], logits
        if rule.get("divergence"):
            self.rule = rule
            return
        mean = torch.cat(gaps).mean() if gaps else 0.0
        for (rollout, *_), gap in zip(group, gaps):
            rollout["taught"] = rule["rewardCoef"] * rollout["advantage"] + rule["coef"] * (gap - mean)

    def update_of(self, sequence):
        """Returns the update of the first epoch that contains a sequence."""
        for update in self.updates:
            if sequence < update["rollouts"]:
                return update
            sequence -= update["rollouts"]

    def parts(self):
        """Yields each update and the indices of its rollouts, in order."""
        first, epoch = 0, 0
        for update in self.updates:
            first = first if update["epoch"] == epoch else 0
            epoch, last = update["epoch"], min(len(self.rollouts), first + update["rollouts"])
            yield update, list(range(first, last))
            first = last

    def check_group(self, rollouts, solve_rate, recipe):
        for rollout in rollouts:
            length = int(chosen_of(rollout, len(base64.b64decode(rollout["tokens"])) // 4).sum())
            self.differ("reward", rollout["reward"], reward_of(rollout, length, solve_rate, recipe))
            masks = recipe["advantages"]["overlong"] == "mask"
            self.differ("advantage", rollout.get("masked", False), masks and rollout["finish"] == "length")

    def check_first(self, group, folder):
        """Checks that a group that an earlier step also trained on equals the record of that step."""
        if "first" not in group:
            return
        lines = (folder / f"step-{group['first']:06d}.jsonl").read_text().splitlines()
        then = next(one for one in map(json.loads, lines[1:]) if one["group"] == group["group"] and "first" not in one)
        for here, there in zip(group["rollouts"], then["rollouts"], strict=True):
            same = all(here[name] == there[name] for name in ("tokens", "logprobs", "versions"))
            self.differ("advantage", here.get("advantage", 0.0) if same else math.nan, there.get("advantage", 0.0))
            self.differ("reward", here.get("reward", 0.0), there.get("reward", 0.0))

    def check_advantages(self, groups, recipe):
        """Checks the advantages of a step. Batch-wide forms include all kept groups and do not change dropped ones."""
        rule, kept, said, domains = recipe["advantages"], [], [], []
        for group in groups:
            rollouts = [r for r in group["rollouts"] if "reward" in r]
            if not rollouts:
                continue
            rewards = [r["reward"] for r in rollouts]
            if rule.get("combine") == "advantages":
                several = recipe["domains"][group["domain"]].get("rewards") or {}
                rewards = combined(rollouts, {name: one["weight"] for name, one in several.items()})
            found = advantages_of(rewards, rule)
            if "dropped" in group:
                for rollout, advantage in zip(rollouts, found):
                    self.differ("advantage", rollout["advantage"], advantage)
                continue
            kept += found
            said += [r["advantage"] for r in rollouts]
            domains += [group["domain"]] * len(rollouts)
        for one, advantage in zip(said, batchwide(kept, domains, rule)):
            self.differ("advantage", one, advantage)

    def differ(self, what, said, found, scale=None):
        off = abs(said - found) / (scale or max(1.0 if what in ("reward", "advantage") else 1e-30, abs(said)))
        self.worst[what] = max(self.worst[what], off if math.isfinite(off) else math.inf)

    def log_probs(self, weights, config, rollout, prompt, tokens, chosen):
        """Returns log-probs [n, V] at the tokens that the policy sampled."""
        logits = logits_of(weights, config, torch.cat([prompt, tokens]))[len(prompt) - 1 : -1][chosen]
        return (logits / self.trained["objective"]["temperature"]).log_softmax(-1)

    def old_log_probs(self, weights, config):
        """Returns each rollout's log-probs before the first of several updates."""
        with torch.no_grad():
            return [self.log_probs(weights, config, *r).gather(1, r[2][r[3]][:, None])[:, 0] for r in self.rollouts]

    def check_selection(self, weights, config, rule):
        """Checks that `objective.tokens` selected the tokens of its definition; tokens with nearly equal values may be swapped."""
        tokens = [words(r[0].get("tokenWeights", r[0].get("tokenPenalties")), torch.float32)[r[3]] for r in self.rollouts]
        with torch.no_grad():
            scored = [self.log_probs(weights, config, *r) for r in self.rollouts]
        values = torch.cat([-(p.exp() * p).sum(-1) for p in scored])
        if rule["kind"] != "high-entropy":
            new = torch.cat([p.gather(1, r[2][r[3]][:, None])[:, 0] for p, r in zip(scored, self.rollouts)])
            own = [torch.as_tensor(r[0].get("taught", r[0]["advantage"]), dtype=torch.float64).expand(int(r[3].sum())) for r in self.rollouts]
            advantages = torch.cat(own)
            values = (advantages - advantages.mean()) * (new - new.mean())
        said, count = torch.cat(tokens), max(1, math.floor(rule["fraction"] * len(values)))
        if rule["kind"] == "clip-cov":
            inside = ((values > rule["low"]) & (values < rule["high"])).sum().item()
            outside = torch.maximum(rule["low"] - values, values - rule["high"])[said == 0]
            self.differ("selection", 0.0, outside.max().clamp(min=0).item() if len(outside) else 0.0, 1.0)
            self.differ("selection", int((said == 0).sum()), min(count, inside), 1.0)
            return
        taken = said != 0
        self.differ("selection", int(taken.sum()), count, 1.0)
        if not taken.all():
            self.differ("selection", 0.0, (values[~taken].max() - values[taken].min()).clamp(min=0).item(), 1.0)

    def loss(self, weights, config, update, of, old):
        """Returns an update's loss on the rollouts `of`, differentiable in weights. old: log-probs before the first of several updates, or None."""
        o = self.trained["objective"]
        total = torch.zeros((), dtype=torch.float64)
        for i in of:
            rollout, prompt, tokens, chosen = self.rollouts[i]
            n = int(chosen.sum())
            log_p = self.log_probs(weights, config, rollout, prompt, tokens, chosen)
            new = log_p.gather(1, tokens[chosen][:, None])[:, 0]
            behavior = words(rollout["logprobs"], torch.float32).double()[chosen]
            log_ratio = new - behavior
            advantage = torch.as_tensor(rollout.get("taught", rollout["advantage"]), dtype=torch.float32).double()
            weight = 1.0
            if "correction" in o:  # ratios are relative to the start of the step, and each token has its own weight
                start = new.detach() if old is None else old[i]
                log_ratio, weight = new - start, correction_of(o["correction"], start - behavior, behavior, new, advantage)
            far = (behavior - new.detach()).mean() > o.get("offPolicyMask", math.inf)
            weight = weight * ~(far & (advantage < 0))
            if "tokenWeights" in rollout:
                weight = weight * words(rollout["tokenWeights"], torch.float32).double()[chosen]
            by_token = "correction" in o or "tokenWeights" in rollout
            terms = terms_of(o, ratio_of(o, log_ratio, advantage, by_token), advantage, new)
            if "tokenPenalties" in rollout:
                held = words(rollout["tokenPenalties"], torch.float32).double()[chosen]
                moved = log_ratio.abs() > 3e-6  # smaller ratios are 0 in float32, where |x| has no slope
                total = total + rollout["weight"] * (held * moved * log_ratio.abs()).mean()
            total = total + rollout["weight"] * (weight * terms).mean()
            share = 1 / (update["sequences"] * (1 if o["sequenceWeight"] == "length" else n))
            total = total - o["entropyCoef"] * share * -(log_p.exp() * log_p).sum()
            if "teacherLogits" in rollout:
                away = divergence_of(log_p, rollout["teacherLogits"] / o["temperature"], self.rule["divergence"])
                total = total + self.rule["coef"] * away.sum() / update["tokens"]
                if old is None:
                    recorded = words(rollout["divergence"], torch.float32).double()[chosen]
                    self.differ("teacher", 0.0, (away.detach() - recorded).abs().max().item(), 1.0)
            if "divergence" in o:
                with torch.no_grad():
                    log_r = self.log_probs(*self.reference, rollout, prompt, tokens, chosen)
                away = full_kl_of(log_p, log_r, self.top_k)
                total = total + o["divergence"]["coef"] * share * away.sum()
                said = words(rollout["reference"], torch.float32).double()[chosen]
                self.differ("teacher", 0.0, (log_r.gather(1, tokens[chosen][:, None])[:, 0] - said).abs().max().item(), 1.0)
                if old is None:
                    recorded = words(rollout["divergence"], torch.float32).double()[chosen]
                    self.differ("teacher", 0.0, (away.detach() - recorded).abs().max().item(), 1.0)
            elif "reference" in rollout:
                gap = words(rollout["reference"], torch.float32).double()[chosen] - new
                k3 = gap.expm1() - gap
                estimates = {"k1": -gap, "k2": gap.square() / 2, "k3": k3, "unbiased": (new - behavior).exp() * k3}
                estimate = estimates[o.get("klEstimator", "k3")]
                total = total + o["klCoef"] * share * estimate.sum()
            sampled = new.detach() if old is None else old[i]
            if set(rollout["versions"][1::2]) | set(rollout["oldestKv"][1::2]) == {self.head["versionBefore"]}:
                self.differ("logprob", 0.0, (sampled - behavior).abs().max().item(), 1.0)
        return total

    def compare(self, before, after, adapted, rule=None):
        if rule is not None:
            self.check_selection(adapted(before.weights), before.config, rule)
        several = len(self.updates) > 1
        old = self.old_log_probs(adapted(before.weights), before.config) if several else None
        now = before
        for update, of in self.parts():
            weights = {name: w.clone().requires_grad_() for name, w in now.weights.items()}
            loss = self.loss(adapted(weights), now.config, update, of, old)
            gradients = dict(zip(weights, torch.autograd.grad(loss, list(weights.values()))))
            norm = math.sqrt(sum(g.square().sum().item() for g in gradients.values()))
            scale = sum(r["weight"] * torch.as_tensor(r.get("taught", r["advantage"])).abs().mean().item() for r in (self.rollouts[i][0] for i in of))
            self.differ("loss", update["loss"], loss.item(), scale)
            self.differ("gradient", update["gradNorm"], norm)
            if not update["skipped"]:
                now = updated(now, gradients, norm, self.trained)
        moved = missed = 0.0
        for name, w in now.weights.items():
            moved += (after.weights[name] - before.weights[name]).square().sum().item()
            missed += (after.weights[name] - w).square().sum().item()
        self.differ("movement", 0.0, math.sqrt(missed), math.sqrt(moved))


class Moved:
    """Weights and moments after an update."""

    def __init__(self, before):
        self.config, self.steps, self.weights, self.moments = before.config, before.steps + 1, {}, {}


def updated(before, gradients, norm, trained):
    """AdamW (Loshchilov & Hutter 2019) after clipping by the global norm; only matrices decay."""
    o, lr, out = trained["optimizer"], trained["objective"]["lr"], Moved(before)
    clip, t = min(1.0, o["gradientClip"] / (norm + 1e-6)) if o["gradientClip"] > 0 else 1.0, out.steps
    for name, w in before.weights.items():
        g = gradients[name] * clip
        m = out.moments[f"m.{name}"] = o["beta1"] * before.moments[f"m.{name}"] + (1 - o["beta1"]) * g
        v = out.moments[f"v.{name}"] = o["beta2"] * before.moments[f"v.{name}"] + (1 - o["beta2"]) * g.square()
        decayed = w * (1 - lr * o["weightDecay"]) if w.dim() == 2 else w
        out.weights[name] = decayed - lr * (m / (1 - o["beta1"] ** t)) / ((v / (1 - o["beta2"] ** t)).sqrt() + o["eps"])
    return out


def main():
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("run", type=Path)
    arguments.add_argument("--steps", help="comma-separated; default: all that have both checkpoints")
    arguments.add_argument("--base", type=Path, help="of a LoRA run: the folder of the weights under the adapters")
    arguments.add_argument("--json", action="store_true")
    given = arguments.parse_args()
    torch.set_num_threads(1)  # matrices are small, and idle threads would spin
    recipe = json.loads((given.run / "run.json").read_text())["config"]
    wanted = given.steps and {int(s) for s in given.steps.split(",")}
    results = []
    adapted = adapted_by(given.run, recipe, given.base)
    teacher = recipe.get("teacher") and Path(recipe["teacher"]["folder"])
    scorer = teacher and (read_weights(teacher), json.loads((teacher / "config.json").read_text()))
    for path in sorted((given.run / "rollouts").glob("step-*.jsonl")):
        number = int(path.stem.split("-")[1])
        names = [f"step-{number - 1:06d}" if number > 1 else "warm-start", f"step-{number:06d}"]
        folders = [given.run / "checkpoints" / name for name in names]
        if (wanted and number not in wanted) or not all(folder.is_dir() for folder in folders):
            continue
        if adapted.base is not None and not holds_adapters(folders[0]):
            continue
        step = Step(path, recipe, scorer, reference_of(given.run, recipe, number, adapted))
        if step.trained is None or step.trained["skipped"]:
            continue
        step.compare(*map(Checkpoint, folders), adapted, recipe["objective"].get("tokens"))
        results.append({"step": number, "objective": step.trained["objective"]["objective"], "sequences": len(step.rollouts), **step.worst})
    for result in results:
        print(json.dumps(result) if given.json else "  ".join(f"{k} {v:.1e}" if isinstance(v, float) else f"{k} {v}" for k, v in result.items()))
    sys.exit(0 if results and all(r[k] <= LIMITS[k] for r in results for k in LIMITS) else 1)


if __name__ == "__main__":
    main()
