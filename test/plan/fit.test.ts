import { expect, test } from "vitest";
import { expectFit, type MemoryPlan, type Network, type RolePlan } from "../../lib/plan/index.ts";

const GIB = 2 ** 30;
const role = (name: RolePlan["role"], gib: number, keyValueTokens = { asked: 0, fit: 0 }): RolePlan => ({
  role: name,
  devices: 1,
  rows: [
    { name: "small", bytes: GIB / 4, change: "nothing" },
    { name: "large", bytes: (gib - 1) * GIB, change: "a.b" },
    { name: "middle", bytes: GIB / 2, change: "c.d" },
    { name: "fixed", bytes: GIB / 4 },
  ],
  total: gib * GIB,
  keyValueTokens,
});
const plan = (...roles: RolePlan[]): MemoryPlan => ({
  network: {} as Network,
  device: "GPU",
  capacity: 10 * GIB,
  roles,
  hostRows: [],
  recomputeSaves: 0,
});

test("what fits to the last byte passes", () => {
  expect(expectFit(plan(role("actor", 10), role("trainer", 3)))).toBeUndefined();
});

test("every role that does not fit is named, with its three largest classes", () => {
  const tooMuch = plan(role("actor", 11, { asked: 64, fit: 32 }), role("trainer", 10), role("trainer", 12));
  expect(() => expectFit(tooMuch)).toThrow(
    expect.objectContaining({
      code: "HONE_ERR_OUT_OF_MEMORY",
      message:
        "this recipe does not fit GPU: actor needs 11.0 GiB of 10.0 GiB (large 10.0 GiB, middle 512.0 MiB, small 256.0 MiB); " +
        "trainer needs 12.0 GiB of 10.0 GiB (large 11.0 GiB, middle 512.0 MiB, small 256.0 MiB)",
      hint: "Change a.b; c.d; nothing.",
    }),
  );
});

const proposal = (...settings: string[]) => ({
  changes: settings.map((setting) => ({ name: "a", cost: "b", assignments: setting.split(" ") })),
  total: 12.5 * GIB,
  keyValueTokens: 0,
});

test("the changes that make it fit are named as a command line takes them", () => {
  const advice = { proposals: [proposal("a.b=1 c=2", "d=3"), proposal("e=4")], least: proposal() };
  expect(() => expectFit({ ...plan(role("actor", 11)), advice })).toThrow(
    expect.objectContaining({
      hint: "What makes it fit, cheapest first: --set a.b=1 --set c=2 --set d=3; or --set e=4.",
    }),
  );
});

test("where nothing is enough, the least need is", () => {
  const advice = { proposals: [], least: proposal("a.b=1", "c=2") };
  expect(() => expectFit({ ...plan(role("actor", 13)), advice })).toThrow(
    expect.objectContaining({
      hint: "No change of settings makes it fit: it needs 12.5 GiB at least, by --set a.b=1 --set c=2. Change a.b; c.d; nothing.",
    }),
  );
  const untouched = { proposals: [], least: proposal() };
  expect(() => expectFit({ ...plan(role("actor", 13)), advice: untouched })).toThrow(
    expect.objectContaining({
      hint: "No change of settings makes it fit: it needs 12.5 GiB at least. Change a.b; c.d; nothing.",
    }),
  );
});
