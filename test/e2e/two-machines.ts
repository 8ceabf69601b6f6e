import { execFileSync, spawnSync } from "node:child_process";
import { existsSync } from "node:fs";

/** Two network namespaces joined by a virtual cable: for sockets they are two machines. Only root can create them. */
export class TwoMachines implements Disposable {
  static readonly #subnet = `10.${64 + (process.pid % 64)}.${process.pid % 256}`;
  readonly #names = { a: `hone-a-${process.pid}`, b: `hone-b-${process.pid}` };

  constructor() {
    const { a, b } = this.#names;
    this[Symbol.dispose](); // removes what a killed test run left
    for (const name of [a, b]) ip("netns", "add", name);
    ip("link", "add", "cable", "netns", a, "type", "veth", "peer", "name", "cable", "netns", b);
    for (const [name, address] of [
      [a, this.address("a")],
      [b, this.address("b")],
    ] as const) {
      ip("-n", name, "addr", "add", `${address}/24`, "dev", "cable");
      for (const device of ["lo", "cable"]) ip("-n", name, "link", "set", device, "up");
    }
  }

  address(machine: "a" | "b"): string {
    return `${TwoMachines.#subnet}.${machine === "a" ? 1 : 2}`;
  }

  /** The command prefix that runs a command on the machine. */
  on(machine: "a" | "b"): readonly string[] {
    return ["ip", "netns", "exec", this.#names[machine]];
  }

  cut(): void {
    ip("-n", this.#names.b, "link", "set", "cable", "down");
  }

  join(): void {
    ip("-n", this.#names.b, "link", "set", "cable", "up");
  }

  /** The ids of the processes that run on the machine. */
  processes(machine: "a" | "b"): readonly number[] {
    const text = execFileSync("ip", ["netns", "pids", this.#names[machine]], { encoding: "utf8" });
    return text
      .split("\n")
      .filter((line) => line !== "")
      .map(Number);
  }

  [Symbol.dispose](): void {
    for (const name of Object.values(this.#names)) {
      if (!existsSync(`/run/netns/${name}`)) continue;
      for (const pid of spawnSync("ip", ["netns", "pids", name], { encoding: "utf8" }).stdout.split("\n"))
        if (pid !== "") tryKill(Number(pid));
      ip("netns", "del", name);
    }
  }
}

function ip(...args: readonly string[]): void {
  execFileSync("ip", args, { stdio: ["ignore", "ignore", "pipe"] });
}

function tryKill(pid: number): void {
  try {
    process.kill(pid, "SIGKILL");
  } catch {
    // the process has ended in the meantime
  }
}

/** Why two machines cannot be made here; undefined if they can. */
export const noMachines = ((): string | undefined => {
  if (process.getuid?.() !== 0) return "network namespaces are root's";
  if (spawnSync("ip", ["-V"]).status !== 0) return "no ip: apt-get install iproute2";
  const name = `hone-try-${process.pid}`;
  if (spawnSync("ip", ["netns", "add", name]).status !== 0) return "no network namespaces here";
  ip("netns", "del", name);
  return undefined;
})();
