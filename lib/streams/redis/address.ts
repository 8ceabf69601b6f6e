import { isIP } from "node:net";
import { HoneError } from "../../errors.ts";
import { readPlainFile } from "../../plain-file.ts";

/** Where a Redis server is and how it is spoken to. */
export interface RedisAddress {
  readonly host: string;
  readonly port: number;
  readonly db: number;
  readonly username?: string;
  readonly password?: string;
  /** TLS, with the certificate authority that vouches for the server; Node's own where there is none. */
  readonly tls?: { readonly servername?: string; readonly ca?: Buffer };
  /** A server that keeps nothing on disk is refused unless the address ends with ?appendonly=no. */
  readonly mustKeep: boolean;
}

const DEFAULT_PORT = 6379;
const MOST_FILE_BYTES = 1 << 20;

/**
 * redis://[user[:password]@]host[:port][/database][?appendonly=no]; rediss:// for TLS. An address is seen by everyone who
 * lists processes, so the password may come from the environment instead: HONE_REDIS_PASSWORD, or the file that
 * HONE_REDIS_PASSWORD_FILE names (a mounted secret). HONE_REDIS_CA names a file of PEM certificates.
 * Throws HONE_ERR_USAGE, and HONE_ERR_IO for files that cannot be read.
 */
export function readAddress(url: string, env: NodeJS.ProcessEnv = process.env): RedisAddress {
  const at = URL.canParse(url) ? new URL(url) : undefined;
  const rest = [...(at?.searchParams ?? [])].map(([name, value]) => `${name}=${value}`);
  const isKnown = at !== undefined && (at.protocol === "redis:" || at.protocol === "rediss:");
  if (
    !isKnown ||
    at.hostname === "" ||
    !/^(?:\/\d*)?$/.test(at.pathname) ||
    rest.some((o) => o !== "appendonly=no")
  )
    throw new HoneError("HONE_ERR_USAGE", `${withoutPassword(url)} is no address of a Redis server`, {
      hint: "redis://host:6379/0, rediss:// for TLS",
    });
  const host = at.hostname.replace(/^\[|\]$/g, "");
  const username = decodeURIComponent(at.username);
  const password = decodeURIComponent(at.password) || secret(env);
  const ca = env["HONE_REDIS_CA"];
  return {
    host,
    port: at.port === "" ? DEFAULT_PORT : Number(at.port),
    db: Number(at.pathname.slice(1)),
    ...(username !== "" && { username }),
    ...(password !== undefined && { password }),
    ...(at.protocol === "rediss:" && {
      tls: {
        ...(isIP(host) === 0 && { servername: host }),
        ...(ca !== undefined && { ca: readPlainFile(ca, MOST_FILE_BYTES) }),
      },
    }),
    mustKeep: rest.length === 0,
  };
}

/** For messages. */
export const withoutPassword = (url: string): string =>
  url.replace(/^([a-z]+:\/\/[^:@/]*):[^@/]*@/i, "$1:***@");

function secret(env: NodeJS.ProcessEnv): string | undefined {
  const file = env["HONE_REDIS_PASSWORD_FILE"];
  if (file !== undefined) return readPlainFile(file, MOST_FILE_BYTES).toString("utf8").trimEnd();
  return env["HONE_REDIS_PASSWORD"];
}
