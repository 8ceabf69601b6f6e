// Entry point of a fleet process. Its output is its log.
import { writeSync } from "node:fs";
import { PROCESS_EXIT, readEnvironment } from "./environment.ts";
import { runRole } from "./role.ts";

const LOG = 2;
const LINGER_MS = 5_000;

const say = (line: string) => void writeSync(LOG, `${new Date().toISOString()} ${line}\n`);
const kill = () => process.kill(process.pid, "SIGKILL");
const stop = new AbortController();
// under an agent, the launcher's SIGTERM reaches every process, and the coordinator still needs this one to save
if (process.env["HONE_AGENT"] === undefined) process.on("SIGTERM", () => stop.abort());
else process.on("SIGTERM", () => {});
process.on("message", (message) => message === "leave" && stop.abort());
process.on("SIGINT", () => {}); // the coordinator handles Ctrl-C: it saves, then ends its processes
process.once("disconnect", kill); // the parent is gone
if (process.connected === false) kill(); // the parent may have disconnected while this module was loading

try {
  process.exitCode = await runRole(readEnvironment(process.env), stop.signal, say);
} catch (error) {
  say(String((error as Error).message));
  process.exitCode = PROCESS_EXIT.config;
}
process.removeListener("disconnect", kill);
if (process.connected) process.disconnect();
setTimeout(kill, LINGER_MS).unref(); // open handles must not keep the process, and with it the slot
