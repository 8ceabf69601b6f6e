import { expect, test } from "vitest";
import type { TransportKind } from "../../lib/fleet/messages.ts";
import { chooseTransport, localTrainers } from "../../lib/fleet/transports.ts";
import type { NativeInfo } from "../../lib/native/face.ts";
import { standInCore } from "../orchestration/stand-in-core.ts";
import { TRAINER } from "./small-engine.ts";

const gloo = { gloo: { version: "0.5", reason: null } } as Pick<NativeInfo, "gloo">;
const none = { gloo: { version: null, reason: "libgloo.so is not installed" } } as Pick<NativeInfo, "gloo">;

test.each([
  [undefined, gloo, "communicator", /over Gloo/],
  ["communicator", gloo, "communicator", /over Gloo/],
  ["folder", gloo, "folder", /through folders$/],
  [undefined, none, "folder", /through folders; Gloo is not there: libgloo.so is not installed/],
] as const)("asked for %s with %o: %s", (asked, info, way, words) => {
  expect(chooseTransport(asked, info)).toEqual({ way, words: expect.stringMatching(words) });
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
