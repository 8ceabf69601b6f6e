import fc from "fast-check";
import { expect, test } from "vitest";
import { LiveRows } from "../../lib/samples/live-rows.ts";
import { Table } from "../../lib/samples/table.ts";
import type { Tables } from "../../lib/samples/tables.ts";

const empty = () =>
  ({
    members: new Table({ step: "u32" } as const),
    sessions: new Table({ step: "u32", members: "u32" } as const),
  }) as unknown as { members: Table<{ step: "u32" }>; sessions: Tables["sessions"] };

/** A session of n steps that continues after step `after`. The expected list drops invalidated rows at once. */
test("after any sessions, those rows are left that a list would have which is cut at each of them", () => {
  const session = fc.record({ after: fc.nat(12), steps: fc.nat(6), looks: fc.boolean() });
  fc.assert(
    fc.property(fc.array(session, { maxLength: 8 }), (sessions) => {
      const { members, sessions: marks } = empty();
      const live = new LiveRows({ members, sessions: marks } as unknown as Tables);
      let want: { row: number; step: number }[] = [];
      for (const { after, steps, looks } of sessions) {
        marks.push({ step: after, members: members.rows });
        want = want.filter(({ step }) => step <= after);
        for (let step = after + 1; step <= after + steps; step++)
          want.push({ row: members.push({ step }), step });
        if (looks) expect([...live.rows()]).toEqual(want.map(({ row }) => row));
      }
      expect([...live.rows()]).toEqual(want.map(({ row }) => row));
    }),
  );
});
