import { columnsOf } from "../../report/terminal.ts";
import { EXIT } from "../exit.ts";
import { type Common, print, type Verb } from "./verb.ts";

async function doctor(flags: Common): Promise<number> {
  const { diagnose, diagnosisText } = await import("../doctor.ts");
  const diagnosis = await diagnose();
  print(flags, diagnosis, diagnosisText(diagnosis, columnsOf(process.stdout)));
  return diagnosis.problem === undefined ? EXIT.done : EXIT.environment;
}

export const doctorVerb: Verb = (hone, ends) => {
  hone
    .command("doctor")
    .description("what this machine and this build are; paste it into an issue")
    .option("--json", "print JSON")
    .action(ends(doctor));
};
