import { parseArgs } from "node:util";

/**
 * Reads the options of the command line. With --help, or for an unknown option, prints the usage and ends the process.
 */
export function optionsOf(options, usage) {
  let values;
  try {
    ({ values } = parseArgs({ options: { ...options, help: { type: "boolean", default: false } } }));
  } catch (error) {
    console.error(`${error.message}\n${usage}`);
    process.exit(2);
  }
  if (!values.help) return values;
  console.log(usage);
  process.exit(0);
}
