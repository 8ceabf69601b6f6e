// An evaluation in a process of its own, to be killed: node --import tsx evaluation-child.ts <model> <folder>
// Prints the number of completions whenever it counts more.
import { evaluation } from "./killed-evaluation.ts";

const [model, dir] = process.argv.slice(2) as [string, string];
await evaluation(model, dir, (there) => void process.stdout.write(`${there}\n`));
