import { expect, test } from "vitest";
import { Channel, pour } from "../../../lib/shared/async/channel.ts";

async function drain<T>(channel: AsyncIterable<T>): Promise<T[]> {
  const items: T[] = [];
  for await (const item of channel) items.push(item);
  return items;
}

test("delivers in order, also what was pushed before and after the consumer came", async () => {
  const channel = new Channel<number>();
  channel.push(1);
  const got = drain(channel);
  channel.push(2);
  await Promise.resolve();
  channel.push(3);
  channel.end();
  channel.push(4);
  expect(await got).toEqual([1, 2, 3]);
});

test("delivers what was pushed before a failure, then the first error", async () => {
  const channel = new Channel<number>();
  channel.push(1);
  channel.fail(new Error("first"));
  channel.fail(new Error("second"));
  const got: number[] = [];
  const consume = async () => {
    for await (const item of channel) got.push(item);
  };
  await expect(consume()).rejects.toThrow("first");
  expect(got).toEqual([1]);
});

test("counts what waits", () => {
  const channel = new Channel<number>();
  channel.push(1);
  channel.push(2);
  expect(channel.length).toBe(2);
});

test("pouring ends or fails as the source does", async () => {
  const good = new Channel<number>();
  await pour(
    (async function* () {
      yield 1;
      yield 2;
    })(),
    good,
  );
  expect(await drain(good)).toEqual([1, 2]);
  const bad = new Channel<number>();
  await pour(
    // biome-ignore lint/correctness/useYield: a source that fails before its first item
    (async function* (): AsyncGenerator<number> {
      throw new Error("dry");
    })(),
    bad,
  );
  await expect(drain(bad)).rejects.toThrow("dry");
});
