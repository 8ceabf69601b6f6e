import { afterAll, beforeAll } from "vitest";
import { streamsConform } from "../conformance.ts";
import { waitsConform } from "../conformance-waits.ts";
import { noRedis, RedisServer, redisUnderTest } from "./redis-server.ts";

let server: RedisServer;
beforeAll(async () => {
  if (noRedis === undefined) server = await RedisServer.start();
});
afterAll(() => server?.[Symbol.asyncDispose]());

const redis = redisUnderTest(() => server);
streamsConform(redis);
waitsConform(redis);
