import { expect, test } from "vitest";
import type { TransportKind } from "../../lib/fleet/messages.ts";
import { chooseTransport, localTrainers } from "../../lib/fleet/transports.ts";
import type { NativeInfo } from "../../lib/native/face.ts";
import { standInCore } from "../orchestration/stand-in-core.ts";
import { TRAINER } from "./small-engine.ts";

type Libraries = Pick<NativeInfo, "gloo" | "nccl">;
const noNccl = { version: null, reason: "no libnccl.so" };
const gloo = { gloo: { version: "0.5", reason: null }, nccl: noNccl } as Libraries;
const both = { ...gloo, nccl: { version: "2.27", reason: null } } as Libraries;
const none = { gloo: { version: null, reason: "libgloo.so is not installed" }, nccl: noNccl } as Libraries;

test.each([
  [undefined, gloo, "communicator", "folder", /over Gloo, from one/],
  [undefined, both, "communicator", "communicator", /over Gloo, between GPUs over NCCL, from one/],
  ["communicator", gloo, "communicator", "communicator", /over Gloo/],
  ["folder", both, "folder", "folder", /through folders$/],
  [undefined, none, "folder", "folder", /through folders; Gloo is not there: libgloo.so is not installed/],
] as const)("asked for %s with %o: %s, between GPUs %s", (asked, info, way, betweenGpus, words) => {
  expect(chooseTransport(asked, info)).toEqual({ way, betweenGpus, words: expect.stringMatching(words) });
});

test("a communicator that is asked for and not there is refused", () => {
  expect(() => chooseTransport("communicator", none)).toThrow(
    /hardware.weights is "communicator", and Gloo is not/,
  );
});

test("a trainer of this process sends under its own name", async () => {
  const sent: [TransportKind, string][] = [];
  const sender = {
    send: async ({ way }: { way: TransportKind }, _: unknown, me: string) => void sent.push([way, me]),
    close: async () => {},
  };
  const { send, senders } = localTrainers(standInCore(), sender, "10.0.0.7")("{}", TRAINER);
  expect(await senders()).toEqual([{ name: "trainer.0#0", host: "10.0.0.7" }]);
  await send({ update: 1, engine: "e", version: 1, way: "folder", groups: [] });
  expect(sent).toEqual([["folder", "trainer.0#0"]]);
});
