import { agentVerb } from "./verbs/agent.ts";
import { benchVerb } from "./verbs/bench.ts";
import { checkVerb } from "./verbs/check.ts";
import { compareVerb } from "./verbs/compare.ts";
import { completionVerb } from "./verbs/completion.ts";
import { convertVerb } from "./verbs/convert.ts";
import { dataVerb } from "./verbs/data.ts";
import { diffVerb } from "./verbs/diff.ts";
import { doctorVerb } from "./verbs/doctor.ts";
import { evalVerb } from "./verbs/eval.ts";
import { explainVerb } from "./verbs/explain.ts";
import { exportVerb } from "./verbs/export.ts";
import { generateVerb } from "./verbs/generate.ts";
import { initVerb } from "./verbs/init.ts";
import { inspectVerb } from "./verbs/inspect.ts";
import { launchVerb } from "./verbs/launch.ts";
import { planVerb } from "./verbs/plan.ts";
import { pushVerb } from "./verbs/push.ts";
import { replayVerb } from "./verbs/replay.ts";
import { reportVerb } from "./verbs/report.ts";
import { rescoreVerb } from "./verbs/rescore.ts";
import { rolloutsVerb } from "./verbs/rollouts.ts";
import { runVerb } from "./verbs/run.ts";
import { runsVerb } from "./verbs/runs.ts";
import { samplesVerb } from "./verbs/samples.ts";
import { schemaVerb } from "./verbs/schema.ts";
import { scoreVerb } from "./verbs/score.ts";
import { buildVerb } from "./verbs/scripts.ts";
import { simulateVerb } from "./verbs/simulate.ts";
import { statusVerb } from "./verbs/status.ts";
import { sweepVerb } from "./verbs/sweep.ts";
import { tokenizeVerb } from "./verbs/tokenize.ts";
import { tracesVerb } from "./verbs/traces.ts";
import { trackVerb } from "./verbs/track.ts";
import type { Verb } from "./verbs/verb.ts";
import { verifyVerb } from "./verbs/verify.ts";
import { watchVerb } from "./verbs/watch.ts";

/** Every command, in the order `hone --help` lists them. Each imports what it needs when it runs, if that is heavy. */
export const VERBS: readonly Verb[] = [
  initVerb,
  runVerb,
  watchVerb,
  statusVerb,
  checkVerb,
  planVerb,
  simulateVerb,
  launchVerb,
  agentVerb,
  dataVerb,
  sweepVerb,
  replayVerb,
  reportVerb,
  runsVerb,
  diffVerb,
  trackVerb,
  evalVerb,
  compareVerb,
  tracesVerb,
  verifyVerb,
  rescoreVerb,
  rolloutsVerb,
  samplesVerb,
  explainVerb,
  generateVerb,
  inspectVerb,
  convertVerb,
  exportVerb,
  pushVerb,
  scoreVerb,
  tokenizeVerb,
  doctorVerb,
  buildVerb,
  benchVerb,
  schemaVerb,
  completionVerb,
];
