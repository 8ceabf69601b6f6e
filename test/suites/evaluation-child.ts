// An evaluation in a process of its own: node --import tsx evaluation-child.ts <model> <folder> <completions>
// Prints the number of completions whenever it counts more; kills itself at so many: a test that reads that may be late.
import { evaluation } from "./killed-evaluation.ts";

const [model, dir, until] = process.argv.slice(2) as [string, string, string];
await evaluation(model, dir, (there) => {
  process.stdout.write(`${there}\n`);
  if (there >= Number(until)) process.kill(process.pid, "SIGKILL");
});
