// Parses the URL of a PostgreSQL database like PostgreSQL's own programs; the `pg` package treats `sslmode` differently:
// https://www.postgresql.org/docs/current/libpq-ssl.html
import type { ConnectionOptions } from "node:tls";

export type PostgresAddress = {
  /** A name, an address, or the folder of a socket. */
  host: string;
  port: number;
  user: string;
  password: string;
  database: string;
  sslMode: SslMode;
  /** Paths on the machine that connects. */
  sslRootCertificate: string | null;
  sslCertificate: string | null;
  sslKey: string | null;
};

const sslModes = ["disable", "allow", "prefer", "require", "verify-ca", "verify-full"] as const;
type SslMode = (typeof sslModes)[number];

/** A comma after the password, or in the query's `host`. PostgreSQL's own programs try such hosts in turn; `pg` cannot. */
const severalHosts = /^[^/]*:\/\/(?:[^/?#]*@)?[^/?#@]*,(?![^/?#]*@)|[?&]host=[^&#]*(?:,|%2c)/i;

const example = "It reads postgres://user:password@host:5432/database.";

/**
 * @throws Error whose message follows the URL's name (“… isn't a valid URL.”), and repeats nothing of the URL, which contains a
 * secret
 */
export function readPostgresUrl(text: string, defaultUser = "postgres"): PostgresAddress {
  if (severalHosts.test(text))
    throw new Error("names several hosts. Name one, such as a proxy in front of them.");
  let url: URL;
  let parts: { user: string; password: string; database: string };
  try {
    url = new URL(text);
    parts = {
      user: decodeURIComponent(url.username),
      password: decodeURIComponent(url.password),
      database: decodeURIComponent(url.pathname.slice(1)),
    };
  } catch {
    throw new Error(`isn't a valid URL. ${example}`);
  }
  if (!["postgres:", "postgresql:"].includes(url.protocol))
    throw new Error(`does not begin with postgres://. ${example}`);
  if (parts.database === "") throw new Error(`names no database. ${example}`);
  const asked = url.searchParams;
  const mode = asked.get("sslmode") ?? "prefer";
  const sslMode = sslModes.find((known) => known === mode);
  if (sslMode === undefined)
    throw new Error(`has sslmode=${mode}; PostgreSQL knows ${sslModes.join(", ")}.`);
  return {
    ...parts,
    user: parts.user || (asked.get("user") ?? defaultUser),
    password: parts.password || (asked.get("password") ?? ""),
    // A URL has no other place for the folder of a socket.
    host: asked.get("host") ?? (url.hostname.replace(/^\[|\]$/g, "") || "localhost"),
    port: Number(url.port || (asked.get("port") ?? 5432)),
    sslMode,
    sslRootCertificate: asked.get("sslrootcert"),
    sslCertificate: asked.get("sslcert"),
    sslKey: asked.get("sslkey"),
  };
}

export const placeOf = ({ host, port }: PostgresAddress): string => `${host}:${port}`;

/**
 * Connects with TLS unless the address disables it; without TLS where the address permits that and the server has none.
 * @param readFile reads a file that the address names
 * @param attempt makes one connection; throws the errors of `pg`
 */
export async function connectAs<Connection>(
  address: PostgresAddress,
  readFile: (path: string) => Promise<string>,
  attempt: (ssl: ConnectionOptions | false) => Promise<Connection>,
): Promise<Connection> {
  const { sslMode, host } = address;
  // PostgreSQL never encrypts connections over a socket.
  if (sslMode === "disable" || host.startsWith("/")) return attempt(false);
  try {
    return await attempt(await tlsOptions(address, readFile));
  } catch (error) {
    const mayBePlain = sslMode === "allow" || sslMode === "prefer";
    const isWithoutTls = error instanceof Error && error.message.includes("not support SSL");
    if (!mayBePlain || !isWithoutTls) throw error;
    return attempt(false);
  }
}

/**
 * Returns the TLS options. `require` only encrypts; the server's certificate is verified by `verify-…`, and by `require` where an
 * authority is given.
 */
async function tlsOptions(
  { sslMode, sslRootCertificate, sslCertificate, sslKey }: PostgresAddress,
  readFile: (path: string) => Promise<string>,
): Promise<ConnectionOptions> {
  const read = async (name: "ca" | "cert" | "key", path: string | null) =>
    path === null ? {} : { [name]: await readFile(path) };
  const own = { ...(await read("cert", sslCertificate)), ...(await read("key", sslKey)) };
  const authority = sslRootCertificate === "system" ? null : sslRootCertificate;
  const trusted = { ...own, ...(await read("ca", authority)) };
  if (sslMode === "verify-full") return trusted;
  if (sslMode === "verify-ca" || (sslMode === "require" && authority !== null))
    return { ...trusted, checkServerIdentity: () => undefined };
  return { ...own, rejectUnauthorized: false };
}
