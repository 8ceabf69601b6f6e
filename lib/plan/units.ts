const UNITS = ["B", "KiB", "MiB", "GiB", "TiB"] as const;

/** Formats a byte count: "37.6 GiB". */
export function inUnits(bytes: number): string {
  const power = bytes > 0 ? Math.min(UNITS.length - 1, Math.max(0, Math.floor(Math.log2(bytes) / 10))) : 0;
  return `${(bytes / 1024 ** power).toFixed(power === 0 ? 0 : 1)} ${UNITS[power]}`;
}

/** Bytes of "80GiB", "80 GB" or "512 MiB"; undefined for anything else. */
export function fromUnits(text: string): number | undefined {
  const { number, power, binary } =
    /^(?<number>\d+(?:\.\d+)?)\s*(?<power>[KMGT])?(?<binary>i)?B?$/i.exec(text)?.groups ?? {};
  if (number === undefined) return undefined;
  const base = binary === undefined && power !== undefined ? 1000 : 1024;
  return Number(number) * base ** (power === undefined ? 0 : "KMGT".indexOf(power.toUpperCase()) + 1);
}
