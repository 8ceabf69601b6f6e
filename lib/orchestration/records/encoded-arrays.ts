// Arrays in lines of JSON.

/** Bytes in base64, of words of 32 bits little-endian. */
export function encode({ buffer, byteOffset, byteLength }: Int32Array | Float32Array | Uint8Array): string {
  return Buffer.from(buffer, byteOffset, byteLength).toString("base64");
}

export function decodeBytes(text: string): Uint8Array<ArrayBuffer> {
  return Uint8Array.from(Buffer.from(text, "base64"));
}

export const encodeIds = (ids: Int32Array): string => encode(ids);
export const decodeIds = (text: string): Int32Array => new Int32Array(decodeBytes(text).buffer);
export const decodeLogprobs = (text: string): Float32Array => new Float32Array(decodeBytes(text).buffer);
