import type { MetricSheet } from "./distribution.ts";
import type { EngineFacts, JudgeFacts, StepFacts, UpdateFacts } from "./facts.ts";
import { putStages } from "./step-stages.ts";

/** Optimizer, speed, time, memory and verifiers: how the machine spent this step. */
export function putMachineMetrics(sheet: MetricSheet, facts: StepFacts): void {
  sheet.put("run/elapsed", facts.elapsedSeconds);
  sheet.put("run/version", facts.version);
  sheet.put("memory/rss", facts.rssBytes);
  if (facts.processorSeconds !== undefined)
    sheet.share("speed/processors", facts.processorSeconds, facts.timing.total);
  if (facts.update !== undefined) {
    putOptimizer(sheet, facts.update);
    putTrainerSpeed(sheet, facts.update, facts.timing.total);
  }
  if (facts.engine !== undefined) putEngine(sheet, facts.engine, facts.timing.total);
  putTimes(sheet, facts);
  putVerifiers(sheet, facts);
  putUtilisation(sheet, facts);
}

function putOptimizer(sheet: MetricSheet, { report, learningRate, updates }: UpdateFacts): void {
  sheet.put("loss/total", report.loss);
  sheet.put("loss/policy", report.policyLoss);
  if (report.routerLoss) sheet.put("loss/router", report.routerLoss);
  sheet.put("grad/norm", report.gradNorm);
  sheet.put("grad/clipped", report.gradScale < 1 ? 1 : 0);
  const last = report.layerGradNorms.length - 1;
  report.layerGradNorms.forEach((norm, layer) => {
    sheet.put(`grad/layer/${layer === last ? "embedding" : layer}`, norm);
  });
  putExperts(sheet, report);
  sheet.share("experts/replaced", report.replacedRoutes ?? 0, report.givenRoutes ?? 0);
  sheet.put("update/norm", report.updateNorm);
  sheet.share("update/relative", report.updateNorm, report.weightNorm);
  sheet.put("weight/norm", report.weightNorm);
  sheet.put("learning-rate", learningRate);
  sheet.put("step/skipped", report.skipped ? 1 : 0);
  if (updates === undefined) return;
  sheet.put("update/count", updates.length);
  sheet.put("update/skipped", updates.filter(({ skipped }) => skipped).length);
}

/** How evenly the step's rows were routed to experts, over the layers with experts. */
function putExperts(sheet: MetricSheet, { expertRows, layerGradNorms }: UpdateFacts["report"]): void {
  if (expertRows === undefined || expertRows.length === 0) return;
  const experts = expertRows.length / (layerGradNorms.length - 1);
  const loads: number[] = [];
  let unused = 0;
  for (let first = 0; first < expertRows.length; first += experts) {
    const layer = expertRows.subarray(first, first + experts);
    const total = layer.reduce((sum, rows) => sum + rows, 0);
    if (total === 0) continue;
    loads.push((Math.max(...layer) * experts) / total);
    unused += layer.filter((rows) => rows === 0).length;
  }
  if (loads.length === 0) return;
  sheet.put("experts/load/max", Math.max(...loads));
  sheet.put("experts/load/mean", loads.reduce((sum, load) => sum + load, 0) / loads.length);
  sheet.share("experts/unused", unused, loads.length * experts);
}

function putTrainerSpeed(sheet: MetricSheet, update: UpdateFacts, total: number): void {
  const { report } = update;
  const tokens = report.trainedTokens / (update.epochs ?? 1);
  sheet.share("speed/trained", tokens, total);
  sheet.share("speed/trainer", report.packedTokens, report.forwardSeconds + report.backwardSeconds);
  sheet.put("trained/sequences", update.rollouts.length);
  sheet.put("trained/tokens", tokens);
  sheet.put("packing/micro-batches", report.microBatches);
  sheet.share("packing/efficiency", report.packedTokens, report.microBatches * update.packingBudget);
  sheet.share("packing/counted", report.trainedTokens, report.packedTokens);
}

function putEngine(sheet: MetricSheet, engine: EngineFacts, total: number): void {
  sheet.share("speed/generated", engine.decodeTokens, total);
  sheet.share("speed/decode", engine.decodeTokens, engine.decodeSeconds);
  sheet.share("speed/prefill", engine.prefillTokens, engine.prefillSeconds);
  sheet.share("engine/occupancy", engine.decodeTokens, engine.steps * engine.maxRunning);
  sheet.share("engine/idle", Math.max(0, total - engine.busySeconds), total);
  sheet.share("engine/kv-used", engine.pagesUsed, engine.pagesTotal);
  sheet.put("engine/running", engine.running);
  sheet.put("engine/waiting", engine.waiting);
  sheet.put("engine/preemptions", engine.preemptions);
  sheet.put("engine/weight-swaps", engine.weightSwaps);
  sheet.put("engine/weight-swap-seconds", engine.weightSwapSeconds);
  sheet.put("engine/page-swap-seconds", engine.pageSwapSeconds);
  sheet.put("engine/taken-up", engine.takenUp);
  sheet.put("engine/taken-up-tokens", engine.takenUpTokens);
  sheet.put("engine/lost-tokens", engine.lostTokens);
}

/** Puts the times of the trainer's step; the engine works in parallel. */
function putTimes(sheet: MetricSheet, facts: StepFacts): void {
  const { timing } = facts;
  putStages(sheet, facts);
  sheet.put("time/step", timing.total);
  sheet.put("time/recording", timing.recording);
  sheet.put("checkpoint/pause-seconds", timing.checkpoint?.pause);
  sheet.put("checkpoint/write-seconds", timing.checkpoint?.write);
}

function putVerifiers(sheet: MetricSheet, facts: StepFacts): void {
  for (const [name, verifier] of Object.entries(facts.verifiers)) {
    sheet.put(`verifier/calls/${name}`, verifier.calls);
    sheet.put(`verifier/seconds/${name}`, verifier.totalSeconds);
    for (const count of ["retries", "judged", "correct", "partial", "unscored"] as const)
      sheet.put(`verifier/${count}/${name}`, verifier[count]);
    sheet.put(`verifier/timed-out/${name}`, verifier.timeouts);
    sheet.put(`verifier/crashed/${name}`, verifier.crashes);
    sheet.share(`verifier/timeouts/${name}`, verifier.timeouts, verifier.calls);
    sheet.share(`verifier/crashes/${name}`, verifier.crashes, verifier.calls);
    sheet.put(`verifier/p50-ms/${name}`, verifier.latencyMs?.p50);
    sheet.put(`verifier/p95-ms/${name}`, verifier.latencyMs?.p95);
    sheet.put(`verifier/p99-ms/${name}`, verifier.latencyMs?.p99);
    if (verifier.judge !== undefined) putJudge(sheet, name, verifier.judge);
  }
}

/** Fractions of the step that each worker was busy; the highest is the bottleneck. */
function putUtilisation(sheet: MetricSheet, facts: StepFacts): void {
  const { total, waiting } = facts.timing;
  if (total <= 0) return;
  if (facts.engine !== undefined)
    sheet.put("utilisation/engine", Math.min(1, facts.engine.busySeconds / total));
  if (facts.update !== undefined) sheet.put("utilisation/trainer", Math.max(0, 1 - waiting / total));
  if (facts.verifierWorkers === undefined || facts.verifierWorkers <= 0) return;
  const busy = Object.values(facts.verifiers).reduce((sum, verifier) => sum + verifier.busySeconds, 0);
  sheet.put("utilisation/verifiers", Math.min(1, busy / (total * facts.verifierWorkers)));
}

function putJudge(sheet: MetricSheet, name: string, judge: JudgeFacts): void {
  sheet.put(`judge/calls/${name}`, judge.calls);
  sheet.put(`judge/tokens/${name}`, judge.tokens);
  sheet.share(`judge/cached/${name}`, judge.cached, judge.calls + judge.cached);
  sheet.share(`judge/unreadable/${name}`, judge.unreadable, judge.calls + judge.cached);
  sheet.share(`judge/disagreement/${name}`, judge.disagreement, judge.compared);
  sheet.put(`judge/budget-left/${name}`, judge.budgetLeft);
}

/** Name of the busiest worker ("engine", "trainer" or "verifiers"), by the step's utilisation metrics. */
export function bottleneck(metrics: Readonly<Record<string, number>>): string | undefined {
  let name: string | undefined;
  let highest = 0;
  for (const worker of ["engine", "trainer", "verifiers"]) {
    const busy = metrics[`utilisation/${worker}`];
    if (busy === undefined || busy <= highest) continue;
    name = worker;
    highest = busy;
  }
  return name;
}
