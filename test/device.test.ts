// The device is the one named, else HONE_DEVICE's, else the CPU. Deliberate faults (mutants) that these tests detect:
// an empty HONE_DEVICE counts as a name; any name is accepted; HONE_DEVICE is ignored.
import { afterEach, describe, expect, test, vi } from "vitest";
import { DEVICES, defaultDevice, deviceOf } from "../lib/device.ts";

afterEach(() => vi.unstubAllEnvs());

describe("a device", () => {
  test.each(DEVICES)("%s is known by its name", (name) => {
    expect(deviceOf(name, "--device")).toBe(name);
  });

  test.each(["gpu", "CUDA", "", "cuda:1"])("%j is refused with what is known", (name) => {
    expect(() => deviceOf(name, "--device")).toThrow(
      expect.objectContaining({
        code: "HONE_ERR_USAGE",
        message: `--device is ${JSON.stringify(name)}; known: cpu, cuda`,
      }),
    );
  });
});

describe("without a name", () => {
  test.each([
    [undefined, "cpu"],
    ["", "cpu"],
    ["cpu", "cpu"],
    ["cuda", "cuda"],
  ])("HONE_DEVICE=%j means %s", (value, device) => {
    vi.stubEnv("HONE_DEVICE", value);
    expect(defaultDevice()).toBe(device);
  });

  test("a wrong HONE_DEVICE is said, not ignored", () => {
    vi.stubEnv("HONE_DEVICE", "tpu");
    expect(() => defaultDevice()).toThrow('HONE_DEVICE is "tpu"; known: cpu, cuda');
  });
});
