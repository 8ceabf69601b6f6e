import fc from "fast-check";
import { expect, test } from "vitest";
import { EventQueue } from "../../lib/simulate/event-queue.ts";

test("by time, and at one time by order of asking, also with hundreds and while some come and go", () => {
  const asked = fc.array(fc.nat(40), { minLength: 1, maxLength: 600 });
  fc.assert(
    fc.property(asked, fc.nat(300), (times, early) => {
      const heap = new EventQueue();
      const came: number[] = [];
      const take = () => {
        const at = heap.firstAt;
        heap.runFirst();
        expect(times[came.at(-1)!]).toBe(at);
      };
      const first = times.slice(0, early);
      const add = (at: number, i: number) => heap.add(at, (tag) => came.push(tag), i);
      for (const [i, at] of first.entries()) add(at, i);
      const gone = Math.floor(first.length / 2);
      for (let i = 0; i < gone; i++) take();
      for (const [i, at] of times.slice(early).entries()) add(at, early + i);
      while (heap.size > 0) take();
      const sorted = (of: readonly number[]) => [...of].sort((a, b) => times[a]! - times[b]! || a - b);
      const before = sorted([...first.keys()]).slice(0, gone);
      const left = [...times.keys()].filter((i) => !before.includes(i));
      expect(came).toEqual([...before, ...sorted(left)]);
    }),
    { numRuns: 40 },
  );
});
