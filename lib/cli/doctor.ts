import { existsSync, readFileSync } from "node:fs";
import { availableParallelism, cpus, release, totalmem } from "node:os";
import { join } from "node:path";
import type { NativeInfo } from "../native/face.ts";
import { addonFile, packageVersion } from "../native/load.ts";
import { packageRoot } from "../package-root.ts";
import { flow } from "../report/index.ts";
import { choiceText, sandboxChoice } from "../sandbox/index.ts";
import { BF16_SET } from "../shared/models/weight-types.ts";
import { explain } from "./exit.ts";

/** A value is not broken into shorter lines, however narrow the terminal. */
const MIN_VALUE_COLUMNS = 20;

/** Findings of `hone doctor`. `native` is absent when the addon does not load; then `problem` has the reason. */
export interface Diagnosis {
  readonly hone: string;
  readonly node: string;
  readonly platform: string;
  readonly libc: string;
  readonly cpu: string;
  readonly cores: number;
  readonly memoryGiB: number;
  /** Sandbox that runs Python programs of the code domain, and why a better one is not available. */
  readonly sandbox: string;
  readonly native?: NativeInfo;
  /** File of the native core, relative to the package. */
  readonly file?: string;
  readonly build?: Readonly<Record<string, unknown>>;
  readonly problem?: string;
}

export async function diagnose(): Promise<Diagnosis> {
  const report = process.report.getReport() as { header?: { glibcVersionRuntime?: string } };
  const glibc = report.header?.glibcVersionRuntime;
  const facts = {
    hone: packageVersion(),
    node: process.version,
    platform: `${process.platform}-${process.arch}, kernel ${release()}`,
    libc: glibc === undefined ? "not glibc" : `glibc ${glibc}`,
    cpu: cpus()[0]?.model ?? "unknown",
    cores: availableParallelism(),
    memoryGiB: Math.round((totalmem() / 2 ** 30) * 10) / 10,
    sandbox: await sandboxChoice().then(choiceText, explain),
  };
  const file = join(packageRoot(), "build", "build-info.json");
  const build = existsSync(file)
    ? { build: JSON.parse(readFileSync(file, "utf8")) as Record<string, unknown> }
    : {};
  try {
    const native = (await import("../native/index.ts")).info();
    return { ...facts, ...build, native, file: addonFile() };
  } catch (error) {
    return { ...facts, ...build, problem: explain(error) };
  }
}

/** One block of at most `columns` that can be pasted into an issue. */
export function diagnosisText(diagnosis: Diagnosis, columns = 80): string {
  const { native, file, build, problem, ...facts } = diagnosis;
  const rows: [string, string][] = [
    ["hone", facts.hone],
    ["node", facts.node],
    ["platform", `${facts.platform}, ${facts.libc}`],
    ["cpu", `${facts.cpu}, ${facts.cores} cores, ${facts.memoryGiB} GiB`],
    ["sandbox", facts.sandbox],
  ];
  if (native !== undefined) {
    const { cuda, nccl, gloo } = native;
    rows.push(
      ["core", `${native.version}, kernels ${native.isa}, ${native.threads} threads`],
      ["bf16", bf16Text(native.isa)],
      ["cuda", cuda.compiled === null ? "not compiled in" : `compiled with ${cuda.compiled}`],
      ["driver", cuda.driver === null ? "none" : `supports CUDA ${cuda.driver}`],
      ["gpus", cuda.devices.length > 0 ? cuda.devices.join("; ") : `none${because(cuda.reason)}`],
      ["nccl", nccl.version === null ? `not found${because(nccl.reason)}` : ncclText(nccl)],
      ["gloo", gloo.version ?? `not there${because(gloo.reason)}`],
    );
  }
  if (file !== undefined) rows.push(["file", `${file}: ${originOf(file)}`]);
  for (const [name, value] of Object.entries(build ?? {})) {
    rows.push([`build.${name}`, typeof value === "string" ? value : JSON.stringify(value)]);
  }
  const width = Math.max(...rows.map(([name]) => name.length));
  const room = Math.max(MIN_VALUE_COLUMNS, columns - width - 2);
  const lines = rows.flatMap(([name, value]) =>
    flow(value.split(" "), room, " ").map((line, i) => `${(i === 0 ? name : "").padEnd(width)}  ${line}`),
  );
  return [...lines, ...(problem === undefined ? [] : ["", "the native core does not load:", problem])].join(
    "\n",
  );
}

/** Explains why the loader chose this file of the core. */
function originOf(file: string): string {
  if (!file.startsWith("prebuilds"))
    return "built on this machine, and preferred to the package's prebuilt core";
  return "the package's prebuilt core for CPUs, since none was built on this machine; npx hone build --cuda compiles one with CUDA";
}

function bf16Text(isa: string): string {
  return isa === BF16_SET
    ? "this processor multiplies bf16 by an instruction, which is the default if weights are stored as bf16"
    : "this processor has no instruction for bf16 products: they are in f32 unless model.arithmetic is bf16, which is slower here";
}

function ncclText({ version, capabilities = [] }: NativeInfo["nccl"]): string {
  return capabilities.length === 0 ? `${version}` : `${version}: ${capabilities.join(", ")}`;
}

function because(reason: string | null): string {
  return reason === null ? "" : `: ${reason}`;
}
