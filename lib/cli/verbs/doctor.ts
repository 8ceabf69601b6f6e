import { columnsOf } from "../../report/terminal.ts";
import type { ClusterFlags } from "../doctor-cluster.ts";
import { EXIT } from "../exit.ts";
import { type Common, print, type Verb } from "./verb.ts";

interface Flags extends Common, ClusterFlags {
  readonly cluster?: boolean;
}

async function doctor(flags: Flags): Promise<number> {
  if (flags.cluster) {
    const { doctorCluster, selfTestText } = await import("../doctor-cluster.ts");
    return await doctorCluster(flags, (report) =>
      print(flags, report, selfTestText(report, columnsOf(process.stdout))),
    );
  }
  const { diagnose, diagnosisText } = await import("../doctor.ts");
  const diagnosis = await diagnose();
  print(flags, diagnosis, diagnosisText(diagnosis, columnsOf(process.stdout)));
  return diagnosis.problem === undefined ? EXIT.done : EXIT.environment;
}

export const doctorVerb: Verb = (hone, ends) => {
  hone
    .command("doctor")
    .description("describe this machine and this build; paste the output into an issue")
    .option("--json", "print JSON")
    .option(
      "--cluster",
      "self-test between ranks that a launcher started, or --processes: bandwidth, and collectives that hang",
    )
    .option("--processes <n>", "with --cluster: number of ranks on this machine")
    .option(
      "--store <address>",
      "with --cluster: store through which the ranks find each other (default: HONE_STORE; a socket for --processes)",
    )
    .option("--wait <seconds>", "with --cluster: seconds to wait for all ranks", "120")
    .option("--deadline <seconds>", "with --cluster: time within which a missing rank must be detected", "2")
    .action(ends(doctor));
};
