import { expect, test } from "vitest";
import type { MemberStatus } from "../../lib/fleet/membership.ts";
import { type Published, PublishedVersions } from "../../lib/fleet/published.ts";

test("who is alive without the version lags, and an engine is served while one that has it is alive", () => {
  let names = ["actor.0#1", "actor.1#1"];
  const published = new PublishedVersions({
    get alive() {
      return names.map((member) => ({ member }) as MemberStatus);
    },
    isAlive: (member) => names.includes(member),
  });
  expect([published.version("e"), published.lagging("e"), published.isServed("e")]).toEqual([
    undefined,
    [],
    false,
  ]);
  published.set("e", { version: 3, members: new Set(["actor.0#1"]) } as unknown as Published);
  expect([published.version("e"), published.lagging("e"), published.isServed("e")]).toEqual([
    3,
    ["actor.1#1"],
    true,
  ]);
  names = ["actor.1#1"];
  expect([published.lagging("e"), published.isServed("e")]).toEqual([["actor.1#1"], false]);
});
