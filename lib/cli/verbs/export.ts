import { Option } from "commander";
import { inUnits } from "../../plan/units.ts";
import { EXIT } from "../exit.ts";
import { withProgress } from "../progress.ts";
import { DTYPE_OPTION, type WriteFlags, writeOptions } from "./convert.ts";
import { print, type Verb } from "./verb.ts";

interface Flags extends WriteFlags {
  readonly run: string;
  readonly out: string;
  readonly step?: string;
  readonly checkpoint?: string;
  readonly merge?: boolean;
}

async function exportVerbAction(flags: Flags): Promise<number> {
  const options = writeOptions(flags, flags.out);
  const { exportRun, exportRunAdapters, exportText } = await import("../export-run.ts");
  const { modelFolder } = await import("../model-name.ts");
  const { checkpointCalled } = await import("../run-model.ts");
  const { templateWarning } = await import("../run-template.ts");
  const { run, step, merge = false } = flags;
  const checkpoint = step === undefined ? flags.checkpoint : checkpointCalled(step);
  const request = { run, ...(checkpoint !== undefined && { checkpoint }), ...options };
  const adapters = merge ? undefined : await exportRunAdapters(request, modelFolder);
  if (adapters !== undefined) {
    const said = `${adapters.checkpoint}: adapters for PEFT, of ${adapters.base}; --merge writes the whole model`;
    print(flags, adapters, [said, templateWarning(adapters.template) ?? []].flat().join("\n"));
    return EXIT.done;
  }
  const report = await withProgress(({ show, signal }) => {
    const onProgress = (done: number, total: number) => show(flags.out, done, total);
    return exportRun({ ...request, onProgress, signal }, modelFolder);
  });
  print(flags, report, exportText(report, `${inUnits(report.bytes)} in ${report.files} file(s)`));
  return EXIT.done;
}

export const exportVerb: Verb = (hone, ends) => {
  hone
    .command("export")
    .description("write a run's weights as a model folder that transformers loads")
    .requiredOption("--run <folder>", "run folder")
    .requiredOption("--out <folder>", "where the model is written")
    .option("--merge", "for a run with lora: export the merged model, not a PEFT folder of adapters")
    .addOption(
      new Option(
        "--step <step>",
        "step of the checkpoint, such as 40, or best (default: the newest)",
      ).conflicts("checkpoint"),
    )
    .option("--checkpoint <name>", "name of the checkpoint, such as step-000040 or warm-start")
    .option(...DTYPE_OPTION)
    .option("--shard-size <size>", "largest weight file, such as 5GB (default: the files of the source)")
    .option("--force", "replace an existing model folder")
    .option("--json", "print JSON")
    .action(ends(exportVerbAction));
};
