// Communicators through the addon, between processes and within one. test/csrc/dist tests what collectives compute and
// how a group ends; this file tests what JavaScript sees, and that Node's threads do not wait for another rank.
import { spawnSync } from "node:child_process";
import { once } from "node:events";
import { stat } from "node:fs/promises";
import { fileURLToPath } from "node:url";
import { describe, expect, test } from "vitest";
import { Communicator, info } from "../../lib/native/index.ts";
import { patient } from "../patience.ts";
import { signalTo } from "../stopped.ts";
import { communicatorPair as pair, rankProcess, rankProcesses, resultsOf } from "./processes.ts";

const ROOT = fileURLToPath(new URL("../..", import.meta.url));
const withGloo = describe.skipIf(info().gloo.version === null);

test.runIf(info().gloo.version === null)("without Gloo a communicator says what to install", () => {
  expect(() => new Communicator({ rank: 0, size: 1, timeoutMs: 1000 })).toThrow(
    /libgloo-dev.*npx hone build/,
  );
});

/**
 * The port in the socket's address, which follows the line that names its owner. Gloo compares ports in this byte
 * order: the rank with the higher one connects.
 */
function port(blob: Uint8Array): number {
  return new Uint16Array(blob.slice(blob.indexOf(10) + 3).buffer)[0]!;
}

withGloo("between processes", () => {
  test.each([2, 3, 4])("%i of them compute what plain loops compute", async (size) => {
    const results = await resultsOf(
      size,
      `const own = Float32Array.of(rank, 1, 0.5);
       const wide = Int32Array.from({ length: 2 * group.size }, (_, i) => 10 * rank + i);
       await group.barrier();
       return [
         await group.allReduce(own, "sum"), await group.allReduce(own, "max"), await group.broadcast(own, 1),
         await group.allGather(Uint8Array.of(rank, 7)), await group.reduceScatter(wide, "sum"), await group.allToAll(wide),
         await group.allReduce(BigInt64Array.of(1n << 40n), "sum"), await group.allReduce(Float64Array.of(0.1), "sum"),
         await group.broadcast(Uint32Array.of(4_000_000_000 + rank), 0),
       ];`,
    );
    const ranks = [...Array(size).keys()];
    const total = ranks.reduce((sum, rank) => sum + rank, 0);
    for (const rank of ranks) {
      expect(results[rank]).toEqual({
        value: [
          Float32Array.of(total, size, size * 0.5),
          Float32Array.of(size - 1, 1, 0.5),
          Float32Array.of(1, 1, 0.5),
          Uint8Array.from(ranks.flatMap((other) => [other, 7])),
          Int32Array.of(10 * total + size * 2 * rank, 10 * total + size * (2 * rank + 1)),
          Int32Array.from(ranks.flatMap((other) => [10 * other + 2 * rank, 10 * other + 2 * rank + 1])),
          BigInt64Array.of(BigInt(size) << 40n),
          Float64Array.of(ranks.reduce((sum, other) => (other === 0 ? 0.1 : sum + 0.1), 0)),
          Uint32Array.of(4_000_000_000),
        ],
      });
    }
  });

  test("ranks that make different calls are told so, all of them", async () => {
    const results = await resultsOf(
      3,
      `return rank === 2 ? await group.allReduce(new Float32Array(5), "sum") : await group.allReduce(new Float32Array(4), "sum");`,
    );
    for (const result of results) {
      expect(result?.error?.code).toBe("HONE_ERR_COLLECTIVE");
      expect(result?.error?.message).toMatch(/rank 2 calls all_reduce sum of f32\[5\] as collective 1/);
    }
  });

  test("a killed process shows at the others, long before their time-out", async () => {
    const ranks = await rankProcesses(
      3,
      `await group.barrier();
       process.send({ met: true });
       while (true) await group.allReduce(new Float32Array(64), "sum");`,
      patient(600_000),
    );
    await once(ranks[1]!.child, "message"); // the others wait for a rank that is killed earlier
    ranks[1]!.child.kill("SIGKILL");
    const [first, second, third] = await Promise.all(ranks.map(({ result }) => result));
    expect(second).toBeUndefined();
    for (const result of [first, third]) {
      expect(result?.error?.code).toBe("HONE_ERR_COLLECTIVE");
      expect(result?.error?.message).toContain("is gone");
    }
  });

  test("a stopped process costs the others the time-out, and is told when it goes on", async () => {
    const ranks = await rankProcesses(
      2,
      `await group.barrier();
       if (rank === 1) process.kill(process.pid, "SIGSTOP");
       while (true) await group.barrier();`,
      1000,
    );
    const [waiting, stopped] = ranks.map(({ result }) => result);
    expect((await waiting)?.error?.code).toBe("HONE_ERR_COLLECTIVE");
    ranks[1]!.child.kill("SIGCONT");
    expect((await stopped)?.error?.code).toBe("HONE_ERR_COLLECTIVE");
  });

  // Gloo's thread used to throw when a connection came too late, which ended the process.
  test("a process that stands still while another connects and gives up lives on, and is told", async () => {
    const timeoutMs = patient(60_000);
    const slow = rankProcess("return 1", { rank: 1, size: 2, timeoutMs });
    const there = (await slow.prepared)[0]!;
    let group: Communicator, here: Uint8Array;
    do {
      group = new Communicator({ rank: 0, size: 2, timeoutMs });
      here = group.prepare()[1]!;
    } while (port(here) < port(there)); // so that this process waits for the other's connection
    signalTo(slow.child.pid!, "SIGSTOP");
    const connected = group.connect([new Uint8Array(), there]);
    setTimeout(() => group.abort("it takes too long"), 200);
    await expect(connected).rejects.toMatchObject({ code: "HONE_ERR_ABORTED" });
    slow.child.kill("SIGCONT");
    slow.child.send([here, new Uint8Array()]);
    expect(await slow.result).toMatchObject({ error: { code: "HONE_ERR_COLLECTIVE" } });
  });

  test("a process may end while a collective waits", () => {
    const script = `
      const native = require("node-gyp-build")(${JSON.stringify(ROOT)});
      (async () => {
        const two = [0, 1].map((rank) => new native.NativeCommunicator({ rank, size: 2, timeoutMs: 3_600_000 }));
        const prepared = two.map((group) => group.prepare());
        await Promise.all(two.map((group, rank) => group.connect(prepared.map((blobs) => blobs[rank]))));
        two[0].barrier();
        setTimeout(() => process.exit(3), 50);
      })();`;
    const { status, stderr } = spawnSync(process.execPath, ["--input-type=commonjs", "-e", script], {
      encoding: "utf8",
      timeout: patient(60_000),
    });
    expect({ status, stderr }).toEqual({ status: 3, stderr: "" });
  });
});

withGloo("within a process", () => {
  test("calls queue in order and a close waits for both", async () => {
    const [a, b] = await pair();
    expect([a.rank, a.size, b.rank]).toEqual([0, 2, 1]);
    const sums = [1, 2, 3].flatMap((x) => [a, b].map((group) => group.allReduce(Int32Array.of(x), "sum")));
    expect((await Promise.all(sums)).map(([x]) => x)).toEqual([2, 2, 4, 4, 6, 6]);
    await Promise.all([a.close(), b.close()]);
    await a.close();
    await expect(a.barrier()).rejects.toMatchObject({ code: "HONE_ERR_STATE" });
  });

  test("arguments are copied at the call", async () => {
    const [a, b] = await pair();
    const values = Float32Array.of(1, 2);
    const first = a.allReduce(values, "sum");
    values.fill(9);
    expect(await b.allReduce(Float32Array.of(1, 2), "sum")).toEqual(Float32Array.of(2, 4));
    expect(await first).toEqual(Float32Array.of(2, 4));
    await Promise.all([a.close(), b.close()]);
  });

  test("nothing of Node waits for another rank", async () => {
    // libuv's pool has four threads, which also read files; six blocked calls would fill it.
    const waiting = Array.from(
      { length: 6 },
      () => new Communicator({ rank: 0, size: 2, timeoutMs: 60_000 }),
    );
    const other = waiting.map(() => new Communicator({ rank: 1, size: 2, timeoutMs: 60_000 }));
    const nothing = new Uint8Array();
    const calls = waiting.map((group) => group.prepare()[1]!);
    let connected = 0;
    const connections = waiting.map(async (group, i) => {
      await group.connect([nothing, other[i]!.prepare()[0]!]);
      connected++;
    });
    for (let i = 0; i < 20; i++) await stat(ROOT);
    expect(connected).toBe(0);
    await Promise.all(other.map((group, i) => group.connect([calls[i]!, nothing])));
    await Promise.all(connections);
    await Promise.all([...waiting, ...other].map((group) => group.close()));
  });

  test("an abort ends what waits, here and at the other rank", async () => {
    const [a, b] = await pair(600_000);
    const here = expect(a.barrier()).rejects.toMatchObject({
      code: "HONE_ERR_ABORTED",
      message: expect.stringContaining("a signal came"),
    });
    setTimeout(() => a.abort("a signal came"), 50);
    await here;
    await expect(b.barrier()).rejects.toMatchObject({ code: "HONE_ERR_COLLECTIVE" });
    await Promise.all([a.close(), b.close()]);
  });

  test("what does not fit is refused with its name, and the group goes on", async () => {
    const [a, b] = await pair();
    await expect(a.broadcast(Float32Array.of(1), 2)).rejects.toMatchObject({ code: "HONE_ERR_SHAPE" });
    await expect(a.reduceScatter(new Float32Array(3), "sum")).rejects.toMatchObject({
      code: "HONE_ERR_SHAPE",
    });
    await expect(a.allToAll(new Float32Array(3))).rejects.toMatchObject({ code: "HONE_ERR_SHAPE" });
    await expect(a.allReduce(new Int16Array(1) as never, "sum")).rejects.toThrow(/arrays of this type/);
    await expect(a.allReduce([1] as never, "sum")).rejects.toThrow(/typed array/);
    await expect(a.allReduce(Float32Array.of(1), "min" as never)).rejects.toThrow(
      /"min", not "sum" or "max"/,
    );
    await Promise.all([a.barrier(), b.barrier()]);
    expect(() => a.prepare()).toThrow(/connect was called/);
    await expect(a.connect([])).rejects.toMatchObject({ code: "HONE_ERR_STATE" });
    await Promise.all([a.close(), b.close()]);
  });

  test("options and blobs that cannot be are refused", async () => {
    expect(() => new Communicator({ rank: 2, size: 2, timeoutMs: 10 })).toThrow(/rank 2 of 2/);
    expect(() => new Communicator({ rank: 0, size: 2, timeoutMs: 0 })).toThrow(/timeoutMs/);
    expect(() => new Communicator({ rank: 0, size: 2, timeoutMs: 10, host: "192.0.2.1" })).toThrow(
      /cannot listen/,
    );
    const group = new Communicator({ rank: 0, size: 2, timeoutMs: 100 });
    await expect(group.barrier()).rejects.toMatchObject({ code: "HONE_ERR_STATE" });
    await expect(group.connect([new Uint8Array(), Uint8Array.of(1, 2)])).rejects.toThrow(
      /entry 1 is not what rank 1 prepared/,
    );
    await group.close();
  });

  test("a group of one needs nobody", async () => {
    const alone = new Communicator({ rank: 0, size: 1, timeoutMs: 1000 });
    await alone.connect(alone.prepare());
    expect(await alone.allGather(Float32Array.of(3))).toEqual(Float32Array.of(3));
    await alone.close();
  });

  test("a communicator that is only dropped leaves no process behind", async () => {
    const ranks = await rankProcesses(2, `await group.barrier(); return rank;`);
    await Promise.all(ranks.map(({ child }) => once(child, "exit")));
    expect(ranks.map(({ child }) => child.exitCode)).toEqual([0, 0]);
  });
});
