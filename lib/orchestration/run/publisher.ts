import type { Sink, StepDetails } from "../../metrics/index.ts";
import type { StepRecord } from "../../records.ts";
import { Channel } from "../../shared/async/channel.ts";
import { Delivery, type DeliveryState } from "../../trackers/index.ts";
import { nameRollout, type StepOutcome } from "../pipeline/index.ts";
import { Announcer } from "./announcer.ts";

const BUFFERED_RECORDS = 1000;

/** Publishes a run's records and events to its sinks, its listeners and its iterators. */
export class Publisher {
  readonly listeners = new Announcer();
  readonly records = new Channel<StepRecord>();
  /** Number of step records that were dropped because the consumer of the iterator was too slow. */
  missedRecords = 0;
  readonly #sinks: readonly Sink[];

  constructor(sinks: readonly Sink[]) {
    this.#sinks = sinks;
  }

  warn(message: string): void {
    this.listeners.emit("warning", message);
  }

  /** Progress of the trackers, by name. */
  get deliveries(): Record<string, DeliveryState> {
    const trackers = this.#sinks.filter((sink) => sink instanceof Delivery);
    return Object.fromEntries(trackers.map(({ name, state }) => [name, state]));
  }

  /** Publishes a step's record, with the results of its groups and its update. Throws a sink's error. */
  step(
    record: StepRecord,
    { batch, update }: StepOutcome,
    times: Pick<StepDetails, "endedAt" | "epochMs">,
  ): void {
    const details = { ...times, groups: batch.groups.map(({ group }) => group) };
    for (const sink of this.#sinks) sink.write(record, details);
    if (this.records.length < BUFFERED_RECORDS) this.records.push(record);
    else this.missedRecords += 1;
    if (this.listeners.hears("group"))
      for (const { request, group } of batch.groups)
        this.listeners.emit("group", group, { id: request.group, step: record.step });
    this.listeners.emit("step", record);
    if (!update?.report.skipped) return;
    const { culprit } = update;
    const whose = culprit ? `; the loss of ${nameRollout(culprit)} was not finite` : "";
    this.warn(`step ${record.step} was skipped${whose}`);
  }

  /** Reports the end to the sinks. An error of a sink becomes a warning, since the run has ended. */
  ended(state: "finished" | "stopped" | "failed"): void {
    for (const sink of this.#sinks)
      try {
        sink.ended?.(state);
      } catch (error) {
        this.warn(`${sink.name} failed at the end of the run: ${String(error)}`);
      }
  }

  /** Closes all sinks, even if one fails; then throws its error. */
  async close(): Promise<void> {
    const ends = await Promise.allSettled(this.#sinks.map(async (sink) => sink.close()));
    for (const end of ends) if (end.status === "rejected") throw end.reason;
  }
}
