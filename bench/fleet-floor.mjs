// A floor for fleet.bench.mjs: what a step's messages cost in Node processes that do nothing else. A coordinator,
// actors and trainers exchange them over Unix sockets with the package's codec. Nothing is stored, leased, fenced or
// checked, no weights move, and no process sends heartbeats. Between messages processes sleep, as they would compute in
// a run.
// node bench/fleet-floor.mjs [actors trainers [steps]] processor seconds a step of their JavaScript threads
import { spawn } from "node:child_process";
import { readFileSync } from "node:fs";
import net from "node:net";
import { setTimeout as pause } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { decodeMessage, encodeMessage } from "../dist/lib/streams/index.js";

const REQUESTS = 32; // requests in a step of the quick start
const BURSTS = 6; // portions in which a step's outcomes arrive, some milliseconds apart
const [ATTEMPTS, PROMPT, TOKENS, BATCH] = [8, 24, 8 * 12, 1024];
const [DECODE_MS, TRAIN_MS, UPDATE_MS] = [40, 30, 3];
const FIRST = 50; // V8 compiles everything in these steps, which are not counted

/** Processor seconds that this process's JavaScript thread has used. */
const cpu = () =>
  Number(readFileSync(`/proc/self/task/${process.pid}/schedstat`, "utf8").split(" ")[0]) / 1e9;
const zeros = (Type, count) => new Type(count);
const request = (number) =>
  encodeMessage({
    kind: "request",
    header: {
      number,
      version: 1,
      attempts: ATTEMPTS,
      maxTokens: 80,
      temperature: 1,
      seeds: Array(ATTEMPTS).fill("1"),
    },
    sections: { prompt: zeros(Int32Array, PROMPT) },
  });
const outcome = (number) =>
  encodeMessage({
    kind: "outcome",
    header: { number, by: { member: "actor.0#1" } },
    sections: {
      ends: zeros(Int32Array, ATTEMPTS),
      tokens: zeros(Int32Array, TOKENS),
      logprobs: zeros(Float32Array, TOKENS),
      entropies: zeros(Float32Array, TOKENS),
      versions: zeros(Int32Array, TOKENS),
    },
  });
const batch = (kind) =>
  encodeMessage({
    kind,
    header: { number: 1, name: "step", version: 1 },
    sections: {
      tokens: zeros(Int32Array, BATCH),
      logprobs: zeros(Float32Array, BATCH),
      mask: zeros(Float32Array, BATCH),
    },
  });
const word = (kind) =>
  encodeMessage({ kind, header: { update: 1, version: 1, members: ["actor.0#1"] }, sections: {} });

/** Reads the messages of a socket one after another; each is preceded by its length. */
async function* messages(socket) {
  let rest = Buffer.alloc(0);
  for await (const chunk of socket) {
    rest = rest.length === 0 ? chunk : Buffer.concat([rest, chunk]);
    while (rest.length >= 4 && rest.length >= 4 + rest.readUInt32LE(0)) {
      const end = 4 + rest.readUInt32LE(0);
      yield decodeMessage(Uint8Array.prototype.slice.call(rest, 4, end));
      rest = rest.subarray(end);
    }
  }
}

function send(socket, all) {
  const lengths = all.map((bytes) => {
    const length = Buffer.alloc(4);
    length.writeUInt32LE(bytes.length);
    return [length, bytes];
  });
  socket.write(Buffer.concat(lengths.flat()));
}

const ACTS = {
  async actor(socket, inbox, share) {
    const numbers = [];
    while (numbers.length < share) numbers.push((await inbox.next()).value.header.number);
    const each = Math.ceil(share / BURSTS);
    for (let first = 0; first < share; first += each) {
      await pause(DECODE_MS / BURSTS);
      send(socket, numbers.slice(first, first + each).map(outcome));
    }
    await inbox.next(); // an update
    await pause(UPDATE_MS);
    send(socket, [word("answer")]);
    await inbox.next(); // its commit
  },
  async trainer(socket, inbox, share) {
    await inbox.next();
    await pause(TRAIN_MS);
    if (share > 0) send(socket, [batch("report")]);
    await inbox.next(); // an update
    await pause(UPDATE_MS);
    if (share > 0) send(socket, [word("sent")]);
  },
};

async function child(role, share, steps) {
  const socket = new net.Socket({ fd: 3 });
  const inbox = messages(socket);
  let before = 0;
  for (let step = 0; step < steps; step++) {
    if (step === FIRST) before = cpu();
    await ACTS[role](socket, inbox, share);
  }
  send(socket, [encodeMessage({ kind: "spent", header: { seconds: cpu() - before }, sections: {} })]);
  socket.end();
}

function start(role, share, steps) {
  const argv = [fileURLToPath(import.meta.url), "--child", role, share, steps].map(String);
  const { stdio } = spawn(process.execPath, argv, { stdio: ["ignore", "inherit", "inherit", "pipe"] });
  return { socket: stdio[3], inbox: messages(stdio[3]), share };
}

/** Measures the processor seconds a step of all processes together. */
export async function messagesAlone(actors, trainers, steps = FIRST + 200) {
  const shareOf = (i) => Math.floor(((i + 1) * REQUESTS) / actors) - Math.floor((i * REQUESTS) / actors);
  const acting = Array.from({ length: actors }, (_, i) => start("actor", shareOf(i), steps));
  const training = Array.from({ length: trainers }, (_, i) => start("trainer", i === 0 ? 1 : 0, steps));
  let before = 0;
  for (let step = 0; step < steps; step++) {
    if (step === FIRST) before = cpu();
    for (const { socket, share } of acting)
      send(
        socket,
        Array.from({ length: share }, (_, i) => request(i)),
      );
    await Promise.all(
      acting.map(async ({ inbox, share }) => {
        for (let i = 0; i < share; i++) await inbox.next();
      }),
    );
    for (const { socket } of training) send(socket, [batch("step")]);
    await training[0].inbox.next();
    for (const { socket } of [...training, ...acting]) send(socket, [word("update")]);
    await Promise.all([training[0], ...acting].map(({ inbox }) => inbox.next()));
    for (const { socket } of acting) send(socket, [word("commit")]);
  }
  let spent = cpu() - before;
  for (const { inbox } of [...acting, ...training]) spent += (await inbox.next()).value.header.seconds;
  return spent / (steps - FIRST);
}

if (process.argv[2] === "--child") {
  const [role, share, steps] = process.argv.slice(3);
  await child(role, Number(share), Number(steps));
} else if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const [actors = 1, trainers = 1, steps] = process.argv.slice(2).map(Number);
  console.log(await messagesAlone(actors, trainers, steps));
}
