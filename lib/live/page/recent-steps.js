/** Steps whose mean is compared with the mean of as many before them. */
const MOST_STEPS = 15;
/** Least number of steps from which noise can be estimated. */
const FEWEST_STEPS = 3;

/**
 * A metric's mean over the last steps that have it, beside as many before them.
 * @typedef {object} Recent
 * @property {number} mean
 * @property {number} steps in the mean, 15 at most
 * @property {number} [change] against the steps before; absent where there are too few
 * @property {number} [error] standard error of `change`, from the spread of the steps
 */

/**
 * @param {readonly (number | null)[]} values of a metric, a step each
 * @returns {Recent | undefined} undefined where no step has the metric
 */
export function recentSteps(values) {
  const known = values.filter((value) => value !== null);
  if (known.length === 0) return undefined;
  const half = Math.floor(known.length / 2);
  if (half < FEWEST_STEPS)
    return { mean: mean(known.slice(-MOST_STEPS)), steps: Math.min(known.length, MOST_STEPS) };
  const steps = Math.min(half, MOST_STEPS);
  const last = known.slice(-steps);
  const before = known.slice(-2 * steps, -steps);
  const error = Math.sqrt((variance(last) + variance(before)) / steps);
  return { mean: mean(last), steps, change: mean(last) - mean(before), error };
}

/** @param {readonly number[]} values */
const mean = (values) => values.reduce((sum, value) => sum + value, 0) / values.length;

/** Unbiased. @param {readonly number[]} values */
function variance(values) {
  const centre = mean(values);
  return values.reduce((sum, value) => sum + (value - centre) ** 2, 0) / (values.length - 1);
}
