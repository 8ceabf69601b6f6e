import { isIP } from "node:net";
import { pathToFileURL } from "node:url";
import { HoneError } from "../../errors.ts";
import { readPlainFile } from "../../shared/files/plain-file.ts";

/** Address of a Redis server and how to connect, by the names of ioredis. */
export type RedisAddress = (TcpAddress | SocketAddress) & {
  /** Refuses a server without persistence unless the address ends with ?appendonly=no. */
  readonly mustKeep: boolean;
};

interface TcpAddress {
  readonly host: string;
  readonly port: number;
  readonly db: number;
  readonly username?: string;
  readonly password?: string;
  /** TLS, with the certificate authority of the server; default: Node's authorities. */
  readonly tls?: { readonly servername?: string; readonly ca?: Buffer };
}

interface SocketAddress {
  /** Path of a Unix socket. */
  readonly path: string;
}

const DEFAULT_PORT = 6379;
const MOST_FILE_BYTES = 1 << 20;
/** Longest path of a Unix socket on Linux: sun_path without the zero byte at its end. */
const MOST_PATH_BYTES = 107;
const SOCKET = "redis+unix:";

/**
 * redis://[user[:password]@]host[:port][/database][?appendonly=no]; rediss:// for TLS. Process lists show an address,
 * so the password may come from the environment instead: HONE_REDIS_PASSWORD, or the file that
 * HONE_REDIS_PASSWORD_FILE names (a mounted secret). HONE_REDIS_CA names a file of PEM certificates.
 * redis+unix:///path[?appendonly=no] for a server at a Unix socket, which is sent no password: the socket's folder
 * controls access. Throws HONE_ERR_USAGE, and HONE_ERR_IO for files that cannot be read.
 */
export function readAddress(url: string, env: NodeJS.ProcessEnv = process.env): RedisAddress {
  const at = URL.canParse(url) ? new URL(url) : undefined;
  const options = [...(at?.searchParams ?? [])].map(([name, value]) => `${name}=${value}`);
  const place = at && (at.protocol === SOCKET ? socketAddress(at) : tcpAddress(at, env));
  if (place === undefined || options.some((option) => option !== "appendonly=no"))
    throw new HoneError("HONE_ERR_USAGE", `${withoutPassword(url)} is not an address of a Redis server`, {
      hint: "redis://host:6379/0, rediss:// for TLS, redis+unix:///path for a Unix socket",
    });
  return { ...place, mustKeep: options.length === 0 };
}

/** The address of a server at a Unix socket. Throws HONE_ERR_USAGE for a path that no Unix socket can have. @param path absolute */
export function socketUrl(path: string): string {
  expectSocketPath(path);
  return pathToFileURL(path).href.replace("file:", SOCKET);
}

function socketAddress(at: URL): SocketAddress | undefined {
  const path = decoded(at.pathname);
  if (at.host !== "" || path === undefined || !/^\/[^\0]*[^\0/]$/.test(path)) return undefined;
  expectSocketPath(path);
  return { path };
}

function expectSocketPath(path: string): void {
  const bytes = Buffer.byteLength(path);
  if (bytes <= MOST_PATH_BYTES) return;
  throw new HoneError(
    "HONE_ERR_USAGE",
    `${path} has ${bytes} bytes, and the path of a Unix socket has ${MOST_PATH_BYTES} at most`,
    {
      hint: "A store that belongs to the run lies in the temporary folder: set TMPDIR to a shorter path, such as TMPDIR=/tmp. Move a socket of your own to a shorter path.",
    },
  );
}

function tcpAddress(at: URL, env: NodeJS.ProcessEnv): TcpAddress | undefined {
  const isKnown = at.protocol === "redis:" || at.protocol === "rediss:";
  if (!isKnown || at.hostname === "" || !/^(?:\/\d*)?$/.test(at.pathname)) return undefined;
  const host = at.hostname.replace(/^\[|\]$/g, "");
  const [username, given] = [decoded(at.username), decoded(at.password)];
  if (username === undefined || given === undefined) return undefined;
  const password = given || secret(env);
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
  };
}

/** Undefined for an invalid percent escape, or bytes that are not UTF-8. */
function decoded(text: string): string | undefined {
  try {
    return decodeURIComponent(text);
  } catch {
    return undefined;
  }
}

/** The URL without password, for messages. */
export const withoutPassword = (url: string): string =>
  url.replace(/^([a-z+]+:\/\/[^:@/]*):[^@/]*@/i, "$1:***@");

function secret(env: NodeJS.ProcessEnv): string | undefined {
  const file = env["HONE_REDIS_PASSWORD_FILE"];
  if (file !== undefined) return readPlainFile(file, MOST_FILE_BYTES).toString("utf8").trimEnd();
  return env["HONE_REDIS_PASSWORD"];
}
