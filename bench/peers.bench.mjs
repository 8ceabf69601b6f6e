// Compares Hone with transformers and PyTorch on the CPU, in bf16, on the shape of Qwen3-0.6B with random weights:
// prompts, decoding, a training step with AdamW, full and with LoRA (PEFT's). Each part runs Hone, the peer and Hone
// again, and reports the ratio of Hone's mean to the peer's time. Each part runs in its own process; for steps the peak
// memory is compared too. Optional: without PyTorch and transformers it reports no rows. HONE_PEERS names the Python
// that has them: python3 -m venv venv && venv/bin/pip install torch transformers peft
// HONE_PEERS=venv/bin/python npm run bench -- --only peers
// Takes half an hour on two idle cores. A step of 4,096 tokens takes up to 29 GB, with LoRA 20 GB, and is left out if
// less is free. `node bench/peers.bench.mjs --parts training,lora` measures some parts; --smoke a tiny shape, whose
// numbers mean nothing.
import { spawnSync } from "node:child_process";
import { availableParallelism, freemem } from "node:os";
import path from "node:path";
import { fileURLToPath } from "node:url";
import { BENCH_SHAPES } from "../dist/lib/cli/bench.js";

const root = path.resolve(path.dirname(fileURLToPath(import.meta.url)), "..");
const smoke = process.argv.includes("--smoke");
const python = process.env.HONE_PEERS ?? "python3";
const LORA_RANK = 16;
const [shape, sizes, outputTokens] = smoke
  ? ["tiny", { prompts: [32], together: [1, 2], batches: [2], packed: [64] }, 4]
  : ["0.6b", { prompts: [128, 1024], together: [1, 8], batches: [8, 32, 128], packed: [1024, 4096] }, 16];
const at = process.argv.indexOf("--parts");
const wanted = at < 0 ? ["generation", "prefill", "training", "lora"] : process.argv[at + 1].split(",");
/** What each process measures. A process trains only one size, so that its peak memory belongs to that size. */
const PARTS = [
  ["generation", {}],
  ["prefill", {}],
  ...(smoke ? [] : [["prefill", { prompts: [4096], together: [1] }]]),
  ...["training", "lora"].flatMap((part) => sizes.packed.map((tokens) => [part, { packed: [tokens] }])),
].filter(([part]) => wanted.includes(part));
/** The most bytes that a step takes, Hone's or the peer's. */
const most = (part, { packed: [tokens] }) =>
  part === "training" ? 8e9 + 5e6 * tokens : part === "lora" ? 3e9 + 4e6 * tokens : 0;
const env = { ...process.env, HONE_THREADS: process.env.HONE_THREADS ?? String(availableParallelism()) };

const done = (result) => {
  process.stdout.write(`${JSON.stringify(result)}\n`);
  process.exit(0);
};
if (spawnSync(python, ["-c", "import torch, transformers"]).status !== 0)
  done({ rows: [], missing: `${python} has no torch and transformers` });

function run(command, argv) {
  const { status, stdout, stderr, error } = spawnSync(command, argv, {
    env,
    encoding: "utf8",
    maxBuffer: 1 << 27,
  });
  if (status !== 0) throw new Error(`${command} ${argv[0]}: ${error ?? stderr.slice(-2000)}`);
  return JSON.parse(stdout);
}

function ours(part, { prompts, together, batches, packed }) {
  const flags = {
    device: "cpu",
    shape,
    weights: "bf16",
    parts: part,
    batch: batches,
    "lora-rank": LORA_RANK,
  };
  const more = { "output-tokens": outputTokens, "prompt-tokens": prompts, "prompt-sequences": together };
  const all = Object.entries({ ...flags, ...more, "packed-tokens": packed });
  const argv = all.flatMap(([name, value]) => [`--${name}`, String(value)]);
  return run(process.execPath, [path.join(root, "dist/lib/cli/main.js"), "bench", "--json", ...argv]);
}

function theirs(part, given) {
  const request = { config: BENCH_SHAPES[shape], part, outputTokens, rank: LORA_RANK, ...given };
  return run(python, [path.join(root, "bench/peers.py"), JSON.stringify(request)]);
}

const NAMES = {
  prefill: "prompt",
  generation: "decode, batch",
  training: "training step, packed",
  lora: "LoRA step, packed",
};

function rowsOf(part, given) {
  const [needs, free] = smoke ? [0, 0] : [most(part, given), freemem()];
  if (needs > free) {
    const name = `${shape}, ${NAMES[part]} ${given.packed[0]}`;
    const problem = `not tried: takes up to ${Math.round(needs / 1e9)} GB, and ${Math.round(free / 1e9)} are free`;
    return [undefined, [{ name, problem }]];
  }
  const [first, peers, second] = [ours(part, given), theirs(part, given), ours(part, given)];
  const rows = peers.rows.map(({ size, sequences = 1, tokensPerSecond: peer, problem }) => {
    const [before, after] = [first, second].map(
      ({ rows }) =>
        rows.find((row) => row.size === size && (row.sequences ?? 1) === sequences)?.tokensPerSecond,
    );
    const name = `${shape}, ${sequences > 1 ? `${sequences} at once, ` : ""}${NAMES[part]} ${size}, times the peer`;
    return problem
      ? { name, before, after, problem }
      : { name, value: (before + after) / 2 / peer, before, peer, after };
  });
  if (part !== "training" && part !== "lora") return [first.device, rows];
  const [mine, other] = [first, peers].map(({ peakBytes }) => peakBytes / 1e9);
  const name = `${shape}, ${NAMES[part]} ${given.packed[0]}, peak memory of the peer's`;
  return [first.device, [...rows, { name, value: mine / other, gigabytes: mine, peer: other }]];
}

const all = PARTS.map(([part, given]) => rowsOf(part, { ...sizes, ...given }));
done({ machine: all.find(([machine]) => machine)?.[0], rows: all.flatMap(([, rows]) => rows) });
