import { HoneError } from "../errors.ts";
import type { MemoryPlan, RolePlan } from "./memory.ts";
import { inUnits } from "./units.ts";

const NAMED = 3;

/**
 * Throws HONE_ERR_OUT_OF_MEMORY if a role does not fit its device, naming its largest classes and what to change. A
 * device of unknown capacity refuses nothing.
 */
export function expectFit(plan: MemoryPlan): void {
  const { capacity = Number.POSITIVE_INFINITY } = plan;
  const worst = plan.roles.filter(({ total }) => total > capacity);
  if (worst.length === 0) return;
  const said = worst.map((role) => overflow(role, capacity));
  const largest = worst.flatMap(largestRows);
  const changes = [...new Set(largest.flatMap(({ change }) => change ?? []))];
  throw new HoneError(
    "HONE_ERR_OUT_OF_MEMORY",
    `this recipe does not fit ${plan.device}: ${said.join("; ")}`,
    {
      hint: `Change ${changes.join("; ")}${pagesHint(worst)}.`,
      details: { roles: worst.map(({ role, total }) => ({ role, total })), capacity },
    },
  );
}

function overflow(role: RolePlan, capacity: number): string {
  const parts = largestRows(role).map(({ name, bytes }) => `${name} ${inUnits(bytes)}`);
  return `${role.role} needs ${inUnits(role.total)} of ${inUnits(capacity)} (${parts.join(", ")})`;
}

function largestRows({ rows }: RolePlan) {
  return rows.toSorted((a, b) => b.bytes - a.bytes).slice(0, NAMED);
}

/** How many pages would fit, if fewer keys and values are enough to make room. */
function pagesHint(worst: readonly RolePlan[]): string {
  const most = worst
    .map(({ keyValueTokens: { asked, fit = 0 } }) => (fit < asked ? fit : 0))
    .filter((fit) => fit > 0);
  return most.length === 0
    ? ""
    : `; keys and values of ${Math.min(...most).toLocaleString("en")} tokens would fit`;
}
