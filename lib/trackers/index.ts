/** Trackers: destinations of a run's metrics other than its folder; sent in the background, spooled until delivered. */

export { Delivery, type DeliveryOptions, type DeliveryState, TRACKERS_FOLDER } from "./delivery.ts";
export { STDOUT } from "./jsonl.ts";
export {
  beginSession,
  openTrackers,
  sends,
  type TrackedFolder,
  type TrackerChoice,
  trackedFolder,
  trackerOf,
} from "./open.ts";
export {
  NotTaken,
  type Sending,
  type Tracked,
  type TrackedEnd,
  type TrackedRollout,
  type TrackedRun,
  type TrackedStep,
  type Tracker,
} from "./tracker.ts";
