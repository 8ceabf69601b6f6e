// An evaluation in its own process: node --import tsx evaluation-child.ts <model> <folder> <completions> Prints the
// number of completions at each increase, and kills itself at the given number, because a test that reads the output
// would kill it late.
import { evaluation } from "./killed-evaluation.ts";

const [model, dir, until] = process.argv.slice(2) as [string, string, string];
await evaluation(model, dir, (there) => {
  process.stdout.write(`${there}\n`);
  if (there >= Number(until)) process.kill(process.pid, "SIGKILL");
});
