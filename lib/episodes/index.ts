/** Rollouts of several turns: the policy, and who answers it. */
export { EnvironmentPartner, type Partner, type Play } from "./partner.ts";
export { type PlayedEpisode, playEpisode, turnBudget } from "./player.ts";
