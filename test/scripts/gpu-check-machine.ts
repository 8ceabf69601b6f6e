// A checkout with scripts/gpu-check.sh, and stand-ins for the programs, tools and the GPU that it uses.
import { spawn, spawnSync } from "node:child_process";
import { chmodSync, copyFileSync, mkdirSync, mkdtempSync, readFileSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";

/** The folder of the machines; each test file removes its own when it ends. */
export const folder = mkdtempSync(join(tmpdir(), "hone-gpu-check-"));

type Programs = Readonly<Record<string, string>>;

const sourcesOf = (script: string) => spawnSync(script, ["--sources"], { encoding: "utf8" }).stdout.trim();

/** Writes a folder of stand-in programs. */
function programs(where: string, scripts: Programs): string {
  const bin = join(folder, where);
  mkdirSync(bin, { recursive: true });
  for (const [program, body] of Object.entries(scripts)) {
    mkdirSync(dirname(join(bin, program)), { recursive: true });
    writeFileSync(join(bin, program), `#!/bin/bash\n${body}\n`);
    chmodSync(join(bin, program), 0o755);
  }
  return bin;
}

const gpu = (capability: string) => `echo "NVIDIA Test 1, 580.1, ${capability}"`;
export const passes = (cases: readonly string[]) =>
  `${cases.map((name) => `echo "ok   ${name}"`).join("\n")}\necho "${cases.length} cases, 0 failures, 0 skipped"`;
export const skips = (reason: string) =>
  `echo "  skipped: ${reason}"\necho "ok   a"\necho "1 cases, 0 failures, 1 skipped"`;

/** Makes a checkout with the script and built programs, and the PATH of a machine with a GPU. */
export function machine(
  name: string,
  built: Programs,
  tools: Programs = {},
  capability = "9.0",
  more: Programs = {},
) {
  const root = join(folder, name);
  mkdirSync(join(root, "scripts"), { recursive: true });
  copyFileSync("scripts/gpu-check.sh", join(root, "scripts/gpu-check.sh"));
  programs(`${name}/build/gpu`, built);
  const tests = Object.keys(built).filter((program) => program.startsWith("test_"));
  const list = tests.map((program, i) => `echo "  Test #${i + 1}: ${program.slice(5)}"`).join("\n");
  const bin = programs(`${name}/bin`, { "nvidia-smi": gpu(capability), ctest: `${list}\ntrue`, ...tools });
  const out = join(root, "out");
  const env = { ...process.env, ...more, PATH: `${bin}:${process.env["PATH"]}` };
  const script = join(root, "scripts/gpu-check.sh");
  return {
    out,
    /** Makes an archive as scripts/gpu-pack.mjs does, with stand-in programs. */
    archive: (inside: Programs, { architecture = "90a", sources = sourcesOf(script) } = {}) => {
      const stage = programs(`${name}/stage`, inside);
      const tests = Object.keys(inside).filter((program) => program.startsWith("test_"));
      writeFileSync(join(stage, "device-tests"), `${tests.map((test) => test.slice(5)).join("\n")}\n`);
      writeFileSync(join(stage, "manifest"), `architecture ${architecture}\nsources ${sources}\n`);
      const file = join(root, "pack.tar.xz");
      if (spawnSync("tar", ["-C", stage, "-cJf", file, "."]).status !== 0) throw new Error("no archive");
      return file;
    },
    start: (...args: string[]) => spawn(script, ["--out", out, ...args], { env, stdio: "ignore" }),
    check: (...args: string[]) =>
      spawnSync(script, ["--out", out, ...args], { encoding: "utf8", env }).status,
    summary: () => JSON.parse(readFileSync(join(out, "summary.json"), "utf8")) as Summary,
    text: (file: string) => packed(out, file),
    rows: (part: string) =>
      packed(out, `${part}.jsonl`)
        .trim()
        .split("\n")
        .map((line) => JSON.parse(line) as Readonly<Record<string, unknown>>),
  };
}

/** Reads a file of the archive. */
export function packed(out: string, file: string): string {
  const tar = spawnSync("tar", ["-xzOf", join(out, "gpu-check.tar.gz"), `./${file}`], { encoding: "utf8" });
  if (tar.status !== 0) throw new Error(tar.stderr);
  return tar.stdout;
}

interface Summary {
  readonly device: string;
  readonly architecture: string;
  readonly parts: readonly { readonly part: string; readonly status: string; readonly reason: string }[];
}
