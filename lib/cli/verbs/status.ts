import { printedColumns } from "../../report/terminal.ts";
import { EXIT } from "../exit.ts";
import { TRUST, type TrustFlags, trustOf } from "../folder-trust.ts";
import { type Common, print, type Verb } from "./verb.ts";

interface Flags extends Common, Pick<TrustFlags, "trust"> {
  readonly store?: string;
}

async function status(dir: string, flags: Flags): Promise<number> {
  const { readStatus } = await import("../../runs/index.ts");
  const { asTheStoreSays } = await import("../store-status.ts");
  const { statusText } = await import("../status-table.ts");
  const found = await asTheStoreSays(
    await readStatus(dir),
    flags.store ?? process.env["HONE_STORE"],
    await trustOf(flags),
  );
  print(flags, found, statusText(found, printedColumns(process.stdout), Date.now()));
  return EXIT.done;
}

export const statusVerb: Verb = (hone, ends) => {
  hone
    .command("status <run>")
    .description(
      "show which processes of a run are alive, what each does or waits for, and which ended and why",
    )
    .option("--store <address>", "address of the run's store, if it is a Redis server (default: HONE_STORE)")
    .option(...TRUST)
    .option("--json", "print JSON")
    .action(ends(status));
};
