import { streamsConform } from "../conformance.ts";
import { waitsConform } from "../conformance-waits.ts";
import { socketsUnderTest } from "./socket-place.ts";

for (const driver of socketsUnderTest) {
  streamsConform(driver);
  waitsConform(driver);
}
