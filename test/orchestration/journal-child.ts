// Writes verdicts in an endless loop and prints the number of each that is on the disk; its parent kills it.
import { VerdictJournal } from "../../lib/orchestration/records/verdict-journal.ts";

const problem = {
  id: 1,
  domain: "math",
  family: "t",
  level: 0,
  question: "?",
  verifier: "math",
  reference: {},
};
const journal = new VerdictJournal(process.argv[2]!);
const say = (i: number) => new Promise<void>((done) => process.stdout.write(`${i}\n`, () => done()));
for (let i = 0; ; i++) {
  journal.add([{ problem, text: `text ${i}`, finish: "eos" }], [{ status: "wrong", score: 0, reason: "no" }]);
  await say(i);
}
