/** Rollouts of several turns: the policy or an expert, and the environment that answers. */
export { type DemonstratedEpisode, EpisodeDemonstrator } from "./demonstration.ts";
export { EnvironmentPartner, type Partner, type Play } from "./partner.ts";
export { type PlayedEpisode, playEpisode, turnBudget } from "./player.ts";
export { PythonEnvironment } from "./python-environment.ts";
