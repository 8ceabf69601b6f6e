import type { ModelFindings } from "../../inference/index.ts";
import { inUnits } from "../../plan/units.ts";
import { EXIT } from "../exit.ts";
import { withProgress } from "../progress.ts";
import { type Common, print, STRICT_CONFIG, type Verb } from "./verb.ts";

function findingsText(found: ModelFindings): string {
  const { architecture, decoder, sizes, tiedHead, memory, skipped } = found;
  const stored = Object.entries(found.dtypes).map(
    ([d, { tensors, bytes }]) => `${d} ${tensors} tensors, ${inUnits(bytes)}`,
  );
  const lines: readonly (readonly [string, string])[] = [
    ["architecture", decoder === architecture ? architecture : `${architecture}, text decoder ${decoder}`],
    ["parameters", found.parameters.toLocaleString("en-US")],
    ...Object.entries(sizes).map(([name, n]) => [name, n.toLocaleString("en-US")] as const),
    ["head", tiedHead ? "tied to the embedding" : "its own matrix"],
    ["stored", `${stored.join("; ")} in ${found.files} file${found.files === 1 ? "" : "s"}`],
    [
      "left aside",
      skipped.tensors === 0 ? "nothing" : `${skipped.tensors} tensors, ${inUnits(skipped.bytes)}`,
    ],
    ["weights, f32", inUnits(memory.weights)],
    [
      "keys and values",
      `${inUnits(memory.keyValuesPerToken)} a token, ${inUnits(memory.longestContext)} for the longest context`,
    ],
    ...(found.warnings.length > 0 ? [["not known", found.warnings.join("; ")] as const] : []),
    ["training", `${inUnits(memory.training)}: f32 weights, gradients and two moments, without activations`],
  ];
  return lines.map(([name, value]) => `${name.padEnd(16)} ${value}`).join("\n");
}

async function inspect(model: string, flags: Common): Promise<number> {
  const { inspectModel } = await import("../../inference/index.ts");
  const { downloadTold } = await import("../model-name.ts");
  const found = await withProgress((told) => inspectModel(model, downloadTold(told)));
  print(flags, found, findingsText(found));
  return EXIT.done;
}

export const inspectVerb: Verb = (hone, ends) => {
  hone
    .command("inspect <model>")
    .description(
      "architecture, sizes, stored types and memory of a model: a Hugging Face folder, or a name on the Hub, whose weights are not downloaded",
    )
    .option(...STRICT_CONFIG)
    .option("--json", "print JSON")
    .action(ends(inspect));
};
