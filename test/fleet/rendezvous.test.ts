import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { Rendezvous, sessionRun } from "../../lib/fleet/rendezvous.ts";
import { noRedis, RedisServer } from "../streams/redis/redis-server.ts";

let server: RedisServer;
beforeAll(async () => {
  if (noRedis === undefined) server = await RedisServer.start();
});
afterAll(() => server?.[Symbol.asyncDispose]());

const never = new AbortController().signal;
let runs = 0;

/** Opens two processes of one run. @param aliveMs a coordinator counts as alive for so long without a heartbeat */
async function two(work: (a: Rendezvous, b: Rendezvous) => Promise<void>, aliveMs = 10_000): Promise<void> {
  const name = `run-${runs++}`;
  await using a = await Rendezvous.open(server.url, name, aliveMs);
  await using b = await Rendezvous.open(server.url, name, aliveMs);
  await work(a, b);
}

test("a store that other machines or other sessions do not have is refused", async () => {
  for (const url of ["memory:", "unix:none.sock"])
    await expect(Rendezvous.open(url, "x")).rejects.toMatchObject({ code: "HONE_ERR_USAGE" });
});

test("each session has a store of its own", () => {
  expect(sessionRun("a", 1)).not.toBe(sessionRun("a", 2));
});

describe.skipIf(noRedis !== undefined)("at a server", () => {
  test("agents hear of a coordinator, and how it ended", () =>
    two(async (coordinator, agent) => {
      const heard = agent.next(0, 10_000, never);
      const session = await coordinator.sit();
      expect(await agent.next(0, 50, never)).toBeUndefined(); // the coordinator still prepares
      await coordinator.acquireLeadership(session);
      const kept = coordinator.keep(session, () => {});
      expect([session, await heard]).toEqual([1, 1]);
      const over = agent.over(1);
      await coordinator.end(75);
      expect(await over).toBe(75);
      await kept.close();
    }));

  test("one that says nothing of its end is missed all the same, and the next session is another", () =>
    two(async (coordinator, agent) => {
      await coordinator.acquireLeadership(await coordinator.sit());
      await coordinator.keep(1, () => {}).close();
      expect(await agent.over(1)).toBeUndefined();
      expect(await agent.next(1, 50, never)).toBeUndefined();
      await coordinator.acquireLeadership(await coordinator.sit());
      expect(await agent.next(1, 1000, never)).toBe(2);
    }, 2_500));

  // A process may take seconds to exit after it gave up its lease, on a busy machine or with much to close.
  test("whoever says first how a session ended is right", () =>
    two(async (coordinator, agent) => {
      const session = await coordinator.sit();
      await coordinator.acquireLeadership(session);
      await agent.end(78, session);
      await coordinator.end(75);
      expect(await agent.over(session)).toBe(78);
    }));

  test("how it ended is heard seconds after it has gone, unless another sits by then", () =>
    two(async (coordinator, agent) => {
      await coordinator.acquireLeadership(await coordinator.sit());
      const heard = agent.over(1);
      await coordinator.keep(1, () => {}).close();
      await new Promise((resolve) => setTimeout(resolve, 3_000));
      await coordinator.end(0);
      expect(await heard).toBe(0);
      await coordinator.acquireLeadership(await coordinator.sit());
      const silent = agent.over(2);
      await coordinator.keep(2, () => {}).close();
      await coordinator.acquireLeadership(await coordinator.sit());
      expect(await silent).toBeUndefined();
    }, 3_600_000));

  test("whoever waits for a word of a store that is closed lets others go on", () =>
    two(async (coordinator) => {
      const ended = new AbortController();
      let looks = 0;
      const { signal } = ended;
      Object.defineProperty(signal, "aborted", { get: () => ++looks > 1000 }); // bounds the loop, so that a failing test ends
      await coordinator[Symbol.asyncDispose]();
      const heard = coordinator.failure(1, signal);
      await new Promise((resolve) => setImmediate(resolve));
      expect(looks).toBeLessThan(100);
      looks = 1000;
      ended.abort();
      expect(await heard).toBeUndefined();
    }));

  test("a node has one agent; whoever follows one that died has its place when its lease is over", () =>
    two(async (first, second) => {
      const held = await first.takeNode(1);
      await expect(second.takeNode(1)).rejects.toMatchObject({ code: "HONE_ERR_STATE" });
      await (await second.takeNode(2)).close();
      await held.close();
      await (await second.takeNode(1)).close();
    }, 2000));

  test("while one is alive no other sits; when it is silent for long enough another does, and it is told", () =>
    two(async (first, second) => {
      await first.acquireLeadership(await first.sit());
      const kept = first.keep(1, () => {});
      await expect(second.acquireLeadership(await second.sit())).rejects.toMatchObject({
        code: "HONE_ERR_STATE",
      });
      await kept.close();
      await first.acquireLeadership(await first.sit()); // this coordinator's heartbeat has stopped
      await second.acquireLeadership(await second.sit());
      const held = second.keep(4, () => {});
      const lost = new Promise<Error>((resolve) => {
        const late = first.keep(3, (error) => {
          resolve(error);
          void late.close();
        });
      });
      expect(await lost).toMatchObject({ code: "HONE_ERR_STATE" });
      await held.close();
    }, 2_500));

  test("a lease that cannot be given back runs out, and holds nobody's end up", () =>
    two(async (coordinator) => {
      await coordinator.acquireLeadership(await coordinator.sit());
      const kept = coordinator.keep(1, () => {});
      await coordinator[Symbol.asyncDispose](); // as if the server were gone
      await kept.close();
    }));

  test("the first node that gives up says why", () =>
    two(async (coordinator, agent) => {
      const session = await coordinator.sit();
      await agent.fail(session, "node 3: it said last");
      await agent.fail(session, "node 4: so did this");
      expect(await coordinator.failure(session, never)).toBe("node 3: it said last");
      expect(await coordinator.failure(session + 1, AbortSignal.timeout(50))).toBeUndefined();
    }));
});
