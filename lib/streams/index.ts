export { deadLettersOf } from "./checks.ts";
export {
  decodeMessage,
  encodeMessage,
  type JsonValue,
  MESSAGE_VERSION,
  type Message,
  type Section,
  type SectionOf,
  type SectionType,
  sectionOf,
} from "./message.ts";
export { type OpenOptions, openStore, serveStore } from "./open.ts";
export { socketUrl, withoutPassword } from "./redis/address.ts";
export { unixPath, unixUrl } from "./socket/address.ts";
export type * from "./store.ts";
export { type Refusal, StreamError } from "./stream-error.ts";
