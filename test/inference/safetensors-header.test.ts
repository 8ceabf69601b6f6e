import { execFileSync } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, expect, test } from "vitest";
import { readHeader, withLocalHead } from "../../lib/inference/safetensors-header.ts";

const dir = mkdtempSync(join(tmpdir(), "hone-header-"));
afterAll(() => rmSync(dir, { recursive: true, force: true }));

/** A file with `text` as its header and `dataBytes` bytes of data. */
function file(text: string, dataBytes = 0): Buffer {
  const size = Buffer.alloc(8);
  size.writeBigUInt64LE(BigInt(Buffer.byteLength(text)));
  return Buffer.concat([size, Buffer.from(text), Buffer.alloc(dataBytes)]);
}

/** Reads the header; returns it with the sizes of the reads. */
async function reading(contents: Buffer) {
  const looks: number[] = [];
  const read = async (bytes: number) => {
    looks.push(bytes);
    return contents.subarray(0, bytes);
  };
  return { header: await readHeader({ where: "w", size: contents.length, read }), looks };
}

const tensor = { dtype: "F32", shape: [2], data_offsets: [0, 8] };

test("tensors by name, without the file's own remarks", async () => {
  const text = JSON.stringify({ __metadata__: { format: "pt" }, a: tensor });
  expect(await reading(file(text, 8))).toEqual({ header: { a: tensor }, looks: [8 + text.length + 8] });
});

test.each([
  ["up to the first look's end", 65_536 - 8, [65_536]],
  ["one byte more", 65_536 - 7, [65_536, 65_537]],
])("a header %s takes one look or two, and never the data", async (_, bytes, looks) => {
  const text = JSON.stringify({ é: tensor });
  const padded = text + " ".repeat(bytes - Buffer.byteLength(text));
  expect(await reading(file(padded, 1 << 20))).toEqual({ header: { é: tensor }, looks });
});

test.each([
  ["a file too short to say", Buffer.alloc(7), "w: the header would have 0 bytes; not a safetensors file"],
  [
    "a header larger than the file",
    file("{}").subarray(0, 9),
    "w: the header would have 2 bytes; not a safetensors file",
  ],
  ["a header that is no JSON", file("{]"), expect.stringMatching(/^w: /)],
])("%s is named", async (_, contents, message) => {
  await expect(reading(contents)).rejects.toMatchObject({ code: "HONE_ERR_FORMAT", message });
});

test("a file of this machine has the same head; one that cannot be read is named", async () => {
  const path = join(dir, "a.safetensors");
  writeFileSync(path, file(JSON.stringify({ a: tensor }), 8));
  expect(await withLocalHead(path, readHeader)).toEqual({ a: tensor });
  const size = await withLocalHead(path, async (head) => [head.size, (await head.read(1000)).length]);
  expect(size[0]).toBe(size[1]);
  for (const bad of [join(dir, "none"), dir]) {
    await expect(withLocalHead(bad, readHeader)).rejects.toMatchObject({
      code: "HONE_ERR_IO",
      message: expect.stringContaining(`${bad}: `),
    });
  }
});

test("a pipe or a device in place of a weight file is refused, without waiting for it", async () => {
  const pipe = join(dir, "pipe");
  execFileSync("mkfifo", [pipe]);
  for (const path of [pipe, "/dev/zero"]) {
    const message = `${path}: not a regular file`;
    await expect(withLocalHead(path, readHeader)).rejects.toMatchObject({ code: "HONE_ERR_IO", message });
  }
});
