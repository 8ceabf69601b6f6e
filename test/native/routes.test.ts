import { describe, expect, test } from "vitest";
import { engineMessage } from "../../lib/native/engine-message.ts";
import {
  joinedRoutes,
  RouteBuffer,
  routeReader,
  routesByToken,
  routesOfMessage,
  rowsFrom,
  rowsOf,
} from "../../lib/native/routes.ts";
import type { Routes } from "../../lib/records.ts";

const WIDTH = 3;
/** Rows [from, to) of a sequence whose row i has the bytes 10 i, 10 i + 1, 10 i + 2. */
const rows = (from: number, to: number): Routes => ({
  width: WIDTH,
  bytes: Uint8Array.from(
    { length: (to - from) * WIDTH },
    (_, i) => 10 * (from + Math.floor(i / WIDTH)) + (i % WIDTH),
  ),
});

describe("a message's routes", () => {
  test("are read token by token, also after a token without any", () => {
    const brought = [rows(0, 4), undefined, rows(4, 5), rows(9, 10)];
    const read = routeReader({ ...engineMessage(4), ...routesOfMessage(brought) });
    expect([0, 1, 2, 3].map(read)).toEqual(brought);
  });

  test("are absent where no token has any", () => {
    expect(routesOfMessage([undefined, undefined])).toEqual({});
    expect(routeReader(engineMessage(1))(0)).toBeUndefined();
  });
});

test("an attempt's rows are divided as an engine reports them: the prompt's with the first token, then one each", () => {
  expect(routesByToken(rows(0, 6), 3)).toEqual([rows(0, 4), rows(4, 5), rows(5, 6)]);
  expect(routesByToken(rows(0, 2), 2)).toEqual([rows(0, 1), rows(1, 2)]);
  expect(routesByToken(undefined, 2)).toEqual([undefined, undefined]);
  expect(routesByToken(undefined, 0)).toEqual([]);
});

test("rows are cut and joined; with a gap there are none", () => {
  expect(rowsFrom(rows(0, 5), 2, 4)).toEqual(rows(2, 4));
  expect(joinedRoutes(rows(0, 2), rows(2, 3))).toEqual(rows(0, 3));
  expect(joinedRoutes(undefined, rows(2, 3))).toBeUndefined();
  expect(rowsOf(undefined)).toBe(0);
});

describe("a buffer of routes", () => {
  test("grows by one row a token and gives copies", () => {
    const buffer = new RouteBuffer();
    buffer.add(rows(0, 4));
    for (let i = 4; i < 20; i++) buffer.add(rows(i, i + 1));
    const whole = buffer.from(0)!;
    expect(whole).toEqual(rows(0, 20));
    expect(buffer.from(18)).toEqual(rows(18, 20));
    buffer.clear();
    expect(buffer.from(0)).toBeUndefined();
    buffer.add(rows(7, 9));
    expect(buffer.from(0)).toEqual(rows(7, 9));
    expect(whole).toEqual(rows(0, 20));
  });

  test("keeps what sampling saw where a prompt with the tokens so far is computed again", () => {
    const buffer = new RouteBuffer();
    buffer.add(rows(0, 4));
    buffer.add(rows(4, 5));
    const later = { width: WIDTH, bytes: rows(0, 7).bytes.map((byte) => byte + 100) };
    buffer.add(later);
    expect(buffer.from(0)).toEqual(joinedRoutes(rows(0, 5), rowsFrom(later, 5)));
    expect(buffer.rows).toBe(7);
  });

  test("begins with all rows of an attempt whose tokens so far have none", () => {
    const buffer = new RouteBuffer();
    buffer.add(rows(0, 7));
    buffer.add(rows(7, 8));
    expect(buffer.from(0)).toEqual(rows(0, 8));
  });
});
