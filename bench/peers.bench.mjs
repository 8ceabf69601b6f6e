// Ours beside transformers and PyTorch on the CPU, in bf16, on the shape of Qwen3-0.6B with random weights: a prompt,
// decoding, a training step with AdamW. Ours, theirs, ours again, in one run, and the ratio of the mean of ours to theirs.
// Optional: without PyTorch and transformers it reports no rows. HONE_PEERS names the Python that has them:
//   python3 -m venv venv && venv/bin/pip install torch transformers && HONE_PEERS=venv/bin/python npm run bench -- --only peers
// Six minutes on two cores and 11 GB; --smoke: a tiny shape, whose numbers mean nothing.
import { spawnSync } from "node:child_process";
import { availableParallelism } from "node:os";
import path from "node:path";
import { fileURLToPath } from "node:url";
import { BENCH_SHAPES } from "../dist/lib/cli/bench.js";

const root = path.resolve(path.dirname(fileURLToPath(import.meta.url)), "..");
const smoke = process.argv.includes("--smoke");
const python = process.env.HONE_PEERS ?? "python3";
const [shape, prompts, batches, outputTokens, packed] = smoke
  ? ["tiny", [32], [2], 4, [64]]
  : ["0.6b", [128, 1024], [8, 32], 16, [1024]];
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

function ours() {
  const flags = { device: "cpu", shape, weights: "bf16", batch: batches, "output-tokens": outputTokens };
  const all = { ...flags, "prompt-tokens": prompts, "packed-tokens": packed };
  const argv = Object.entries(all).flatMap(([name, value]) => [`--${name}`, String(value)]);
  return run(process.execPath, [path.join(root, "dist/lib/cli/main.js"), "bench", "--json", ...argv]);
}

const first = ours();
const sizes = { config: BENCH_SHAPES[shape], prompts, batches, outputTokens, packed };
const peers = run(python, [path.join(root, "bench/peers.py"), JSON.stringify(sizes)]);
const second = ours();

const NAMES = { prefill: "prompt", generation: "decode, batch", training: "training step, packed" };
const rows = peers.map(({ what, size, tokensPerSecond: peer, problem }) => {
  const [before, after] = [first, second].map(
    ({ rows }) => rows.find((row) => row.what === what && row.size === size)?.tokensPerSecond,
  );
  const name = `${shape}, ${NAMES[what]} ${size}, times the peer`;
  return problem
    ? { name, before, after, problem }
    : { name, value: (before + after) / 2 / peer, before, peer, after };
});
done({ machine: first.device, rows });
