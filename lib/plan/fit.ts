import { HoneError } from "../errors.ts";
import type { MemoryPlan, RolePlan } from "./memory.ts";
import { inUnits } from "./units.ts";

const NAMED = 3;

/** Throws HONE_ERR_OUT_OF_MEMORY if a role does not fit its device, naming its largest classes and what to change. */
export function expectFit(plan: MemoryPlan): void {
  const worst = plan.roles.filter(({ total }) => total > plan.capacity);
  if (worst.length === 0) return;
  const said = worst.map((role) => overflow(role, plan.capacity));
  const largest = worst.flatMap(largestRows);
  const changes = [...new Set(largest.flatMap(({ change }) => change ?? []))];
  throw new HoneError(
    "HONE_ERR_OUT_OF_MEMORY",
    `this recipe does not fit ${plan.device}: ${said.join("; ")}`,
    {
      hint: `Change ${changes.join("; ")}${pagesHint(plan)}.`,
      details: { roles: worst.map(({ role, total }) => ({ role, total })), capacity: plan.capacity },
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

/** How many pages would do, where keys and values alone can make room. */
function pagesHint({ roles, capacity }: MemoryPlan): string {
  const most = roles
    .filter(({ total, keyValueTokens: k }) => total > capacity && k.fit > 0 && k.fit < k.asked)
    .map(({ keyValueTokens: { fit } }) => fit);
  return most.length === 0
    ? ""
    : `; keys and values of ${Math.min(...most).toLocaleString("en")} tokens would fit`;
}
