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
      hint: "Change a.b; c.d; nothing; keys and values of 32 tokens would fit.",
    }),
  );
});

test("no number of pages is named where they are not what is too much", () => {
  expect(() => expectFit(plan(role("actor", 11, { asked: 16, fit: 0 })))).toThrow(
    expect.objectContaining({ hint: "Change a.b; c.d; nothing." }),
  );
});
