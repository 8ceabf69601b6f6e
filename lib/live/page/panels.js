import { explainPanel } from "./panel-explain.js";
import { gradientsPanel } from "./panel-gradients.js";
import { metricsPanel } from "./panel-metrics.js";
import { overviewPanel } from "./panel-overview.js";
import { pipelinePanel } from "./panel-pipeline.js";
import { problemsPanel } from "./panel-problems.js";
import { recipePanel } from "./panel-recipe.js";
import { resultsPanel } from "./panel-results.js";
import { samplesPanel } from "./panel-samples.js";

/** @import { Panel } from "./page.js" */

/** Every tab, in order. @type {readonly Panel[]} */
export const PANELS = [
  overviewPanel,
  metricsPanel,
  pipelinePanel,
  samplesPanel,
  problemsPanel,
  explainPanel,
  gradientsPanel,
  resultsPanel,
  recipePanel,
];
