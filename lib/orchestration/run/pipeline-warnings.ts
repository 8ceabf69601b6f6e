import { type Recipe, recipeWarnings } from "../../config/index.ts";
import { type ProblemSource, rowWarnings } from "../../data/index.ts";
import { choiceText } from "../../plan/index.ts";
import type { DomainName, ScoredRollout } from "../../records.ts";
import type { DrawerOptions, SettledGroup } from "../pipeline/index.ts";
import { type RunResources, templateWarning } from "../setup/index.ts";
import { droppedGroupsWarning } from "./dropped-groups.ts";

type Warn = (message: string) => void;
type OnSettled = (settled: Pick<SettledGroup, "group">) => void;

/** The parts of a run whose messages become warnings. */
interface Told {
  readonly sources: ReadonlyMap<DomainName, Pick<ProblemSource, "report">>;
  readonly model: Pick<RunResources["model"], "format">;
  readonly memory: RunResources["memory"];
}

/** Number of steps' worth of groups with only zero scores after which the answers are shown. */
const SILENT_STEPS = 3;
const SHOWN_ANSWERS = 3;
const SHOWN_CHARS = 160;

/**
 * Warns of a recipe that looks like a mistake, a model without a chat template and unusable rows; during the
 * run, of groups that train nothing, answers that all score 0 and prompts that are too long.
 */
export function pipelineWarnings(
  recipe: Recipe,
  { sources, model, memory }: Told,
  warn: Warn,
): { readonly onSettled: OnSettled; readonly onLeftOut: NonNullable<DrawerOptions["onLeftOut"]> } {
  for (const warning of recipeWarnings(recipe)) warn(warning);
  const choice = choiceText(memory);
  if (choice !== undefined) warn(`to fit this machine's memory, ${choice}`);
  const template = templateWarning(recipe, model.format);
  if (template !== undefined) warn(template);
  for (const [domain, { report }] of sources) {
    for (const said of report ? rowWarnings(report) : []) warn(`${domain}: ${said}`);
  }
  const { groupsPerStep, steps } = recipe.training;
  const dropped = droppedGroupsWarning(groupsPerStep, warn);
  const silence = zeroScoreWarning(Math.min(SILENT_STEPS, steps) * groupsPerStep, warn);
  return {
    onSettled: (settled) => {
      dropped(settled);
      silence(settled);
    },
    onLeftOut: leftOutWarnings(warn),
  };
}

/** Warns once if the first `groups` groups of a session scored 0 throughout, with three of the answers. */
export function zeroScoreWarning(groups: number, warn: Warn): OnSettled {
  const answers: ScoredRollout[] = [];
  let seen = 0;
  let over = false;
  return ({ group: { rollouts } }) => {
    if (over || rollouts.length === 0) return;
    over = rollouts.some(({ verdict }) => verdict.score !== 0);
    if (over) return;
    if (answers.length < SHOWN_ANSWERS) answers.push(rollouts[0]!);
    seen += 1;
    if (seen < groups) return;
    over = true;
    warn(
      [
        `every answer of the first ${seen} groups scored 0; ${answers.length} of them:`,
        ...answers.map(shown),
      ].join("\n"),
    );
  };
}

/** Quoted, so that the policy's text stays on one line and cannot control the terminal. */
function shown({ rollout, verdict }: ScoredRollout): string {
  const { question, domain, verifier } = rollout.problem;
  return `  ${domain}: asked ${quoted(question)}\n    answered ${quoted(rollout.text)}\n    ${verifier}: ${verdict.status}, ${quoted(verdict.reason)}`;
}

function quoted(text: string): string {
  return JSON.stringify(text.length > SHOWN_CHARS ? `${text.slice(0, SHOWN_CHARS)}…` : text);
}

/** Warns about the first left-out problem of each domain. */
function leftOutWarnings(warn: Warn): NonNullable<DrawerOptions["onLeftOut"]> {
  const told = new Set<DomainName>();
  return ({ domain }, fault) => {
    if (told.has(domain)) return;
    told.add(domain);
    warn(`${fault.message}; another is drawn instead, and problems/left-out/${domain} counts them`);
  };
}
