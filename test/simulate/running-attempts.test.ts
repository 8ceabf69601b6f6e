import fc from "fast-check";
import { expect, test } from "vitest";
import { submittedGroup } from "../../lib/simulate/attempt.ts";
import { RunningAttempts } from "../../lib/simulate/running-attempts.ts";
import { requestOf } from "../orchestration/pipeline-accounting.ts";

const attemptOf = (group: number, endStep: number) => {
  const request = { ...requestOf(group, 0), attempts: 1 };
  const outcome = { promptTokens: 1, lengths: [5], verify: [1], kept: true };
  const attempt = submittedGroup(request, outcome).attempts[0]!;
  attempt.endStep = endStep;
  return attempt;
};

test("the one that ends first is in front, whoever leaves meanwhile", () => {
  fc.assert(
    fc.property(fc.array(fc.nat(50), { minLength: 1, maxLength: 150 }), (ends) => {
      const running = new RunningAttempts();
      ends.forEach((end, group) => {
        running.add(attemptOf(group, end));
      });
      const youngest = running.takeYoungest();
      expect(youngest.group.request.group).toBe(ends.length - 1);
      const left = ends.slice(0, -1).map((end, group) => [end, group] as const);
      const expected = left.sort((a, b) => a[0] - b[0] || a[1] - b[1]);
      const came = expected.map(() => {
        const attempt = running.takeFirst();
        return [attempt.endStep, attempt.group.request.group] as const;
      });
      expect(came).toEqual(expected);
      expect(running.size).toBe(0);
    }),
  );
});
