import { expect, test } from "vitest";
import { engineMessage } from "../../lib/native/engine-message.ts";

test("a message has an entry a token in the arrays of tokens, and one an attempt in those of ends", () => {
  for (const [name, array] of Object.entries<ArrayLike<number>>({ ...engineMessage(3, 2) })) {
    expect(array, name).toHaveLength(name.startsWith("ended") ? 2 : 3);
    expect(
      Array.from(array).every((value) => value === 0),
      name,
    ).toBe(true);
  }
  expect(engineMessage(1).endedRequest).toHaveLength(0);
});
