import { HoneError } from "../errors.ts";
import type { Advice, Proposal } from "./advice.ts";
import { fitsHost, mostOf, type RolePlan } from "./measured.ts";
import type { MemoryPlan } from "./memory.ts";
import { inUnits } from "./units.ts";

const NAMED = 3;

/**
 * Throws HONE_ERR_OUT_OF_MEMORY if a role does not fit its device, naming its largest classes and the
 * cheapest changes that make it fit, or the minimum that is needed; checks a GPU's host likewise. Devices of
 * unknown capacity are not checked.
 */
export function expectFit(plan: MemoryPlan): void {
  const { capacity = Number.POSITIVE_INFINITY } = plan;
  if (mostOf(plan) <= capacity && fitsHost(plan)) return;
  const worst = plan.roles.filter(({ total }) => total > capacity);
  const said = worst.map((role) => overflow(role.role, role.rows, capacity));
  const largest = worst.flatMap(largestRows);
  if (plan.together !== undefined) {
    said.splice(0, said.length, sumOf(plan, plan.together.total, capacity));
    largest.push(...plan.roles.flatMap(largestRows));
  }
  if (!fitsHost(plan)) {
    said.push(overflow("its host", plan.hostRows, plan.hostCapacity!));
    largest.push(...plan.hostRows);
  }
  const changes = [...new Set(largest.flatMap(({ change }) => change ?? []))];
  throw new HoneError(
    "HONE_ERR_OUT_OF_MEMORY",
    `this recipe does not fit ${plan.device}: ${said.join("; ")}`,
    {
      hint: plan.advice === undefined ? `Change ${changes.join("; ")}.` : adviceHint(plan.advice, changes),
      details: { roles: worst.map(({ role, total }) => ({ role, total })), capacity },
    },
  );
}

/** Describes the changes that a run makes by itself to fit, and its memory without them; undefined for an unchanged recipe. */
export function choiceText({ chosen }: Pick<MemoryPlan, "chosen">): string | undefined {
  if (chosen === undefined) return undefined;
  const made = chosen.changes.flatMap(({ assignments }) => assignments).join(" and ");
  return `${made} (slower; no number of the run changes); without this it needs ${inUnits(chosen.without.needs)} of ${inUnits(chosen.without.has)}`;
}

/** The assignments of a proposal, as a command line takes them. */
export const settings = ({ changes }: Proposal): string =>
  changes.flatMap(({ assignments }) => assignments.map((assignment) => `--set ${assignment}`)).join(" ");

function adviceHint({ proposals, least }: Advice, changes: readonly string[]): string {
  if (proposals.length > 0)
    return `What makes it fit, cheapest first: ${proposals.map(settings).join("; or ")}.`;
  const by = least.changes.length === 0 ? "" : `, by ${settings(least)}`;
  return `No change of settings makes it fit: it needs ${inUnits(least.total)} at least${by}. Change ${changes.join("; ")}.`;
}

function overflow(who: string, rows: RolePlan["rows"], capacity: number): string {
  const parts = largestRows({ rows }).map(({ name, bytes }) => `${name} ${inUnits(bytes)}`);
  const total = rows.reduce((sum, { bytes }) => sum + bytes, 0);
  return `${who} needs ${inUnits(total)} of ${inUnits(capacity)} (${parts.join(", ")})`;
}

/** Describes the memory of the processes that share a machine. */
function sumOf({ roles }: MemoryPlan, total: number, capacity: number): string {
  const parts = roles.map(({ role, devices, total: each }) => `${devices} x ${role} ${inUnits(each)}`);
  return `its processes need ${inUnits(total)} of ${inUnits(capacity)} on one machine (${parts.join(", ")} over all machines)`;
}

function largestRows({ rows }: Pick<RolePlan, "rows">) {
  return rows.toSorted((a, b) => b.bytes - a.bytes).slice(0, NAMED);
}
