// Reads and checks the environment variables that configure the service.
import { readFileSync } from "node:fs";
import { hostname } from "node:os";
import { resolve } from "node:path";
import type { Environment } from "./environment/handover.ts";
import { hostInUrl } from "./http/allowed-hosts.ts";
import { instanceRoles, type InstanceRole } from "./instances/role.ts";
import { expandHome } from "./inventory/paths.ts";
import { createAddressGuard } from "./net/address-guard.ts";
import { readSmtpUrl, type SmtpSettings } from "./notifications/channels/smtp-url.ts";
import { shortestChosenToken } from "./tokens/service.ts";
import { toError } from "./to-error.ts";

export type SelfBackupSettings = {
  /** Id of a storage provider in the inventory. */
  providerId: number;
  /** How many backups are kept. */
  keep: number;
  /** Public keys of age; null = not encrypted, and without secrets. */
  recipients: string | null;
};

export type Config = {
  port: number;
  host: string;
  /** Absolute path of the folder with everything that the service stores. */
  dataFolder: string;
  inventoryFile: string;
  /** Whether forms only show the lines for the inventory, and never write it. */
  isInventoryReadOnly: boolean;
  /** Null = the embedded PostgreSQL. */
  databaseUrl: string | null;
  /** A token that the operator chose; null = none. */
  token: string | null;
  /** Requests per minute for each token; 0 = no limit. */
  rateLimit: number;
  /** Whether workers are stopped with the service; by default the signal decides. */
  workersOnStop: "by signal" | "keep" | "stop";
  /** Public base URL, without a trailing slash; null = taken from each request. */
  publicUrl: string | null;
  /** Base URL of another service to proxy, without a trailing slash; null = this process is the service. */
  upstream: string | null;
  /** Private address ranges that webhooks may reach; null = none. */
  allow: string | null;
  /** The mail server; null = no mail can be sent. */
  smtp: SmtpSettings | null;
  /** How many days the timeline and sent messages are kept. */
  keepDays: number;
  /** Public keys of age that backups of Quarterdeck itself are encrypted to; null = not encrypted. */
  selfBackupRecipients: string | null;
  /** The service's nightly backup of itself; null = none. */
  selfBackup: SelfBackupSettings | null;
  /** Role of this instance where several share a database. */
  role: InstanceRole;
  /** Name of this instance for the others, and its base URL for them, without a trailing slash. */
  instance: { name: string; url: string };
  logLevel: LogLevel;
};

const logLevels = ["debug", "info", "warn", "error"] as const;
type LogLevel = (typeof logLevels)[number];

/** An environment variable has an invalid value. The message names the variable. */
export class ConfigError extends Error {
  override name = "ConfigError";
}

/** Secrets that may also be given as `file:/path`, which keeps them out of the environment. */
const secretVariables = ["QUARTERDECK_TOKEN", "DATABASE_URL", "SMTP_URL"];

/**
 * Replaces each `file:/path` of a secret by the content of the file.
 * @throws ConfigError
 */
export function readSecretFiles(environment: Environment): Environment {
  const read = { ...environment };
  for (const name of secretVariables)
    if (environment[name] !== undefined) read[name] = readSecretFile(name, environment[name]);
  return read;
}

/**
 * Returns the content of the file of `file:/path`; returns any other text unchanged.
 * @param name of the setting, for error messages
 * @throws ConfigError
 */
export function readSecretFile(name: string, text: string): string {
  const [, file] = /^file:(.+)$/.exec(text.trim()) ?? [];
  if (file === undefined) return text;
  const path = expandHome(file);
  let content: string;
  try {
    content = readFileSync(path, "utf8");
  } catch (error) {
    const { code } = toError(error);
    throw new ConfigError(`${name}: couldn't read ${path} (${code}).`, {
      cause: error,
    });
  }
  if (content.trim() === "") throw new ConfigError(`${name}: ${path} is empty.`);
  return content;
}

/**
 * @param isRoot whether the service runs as root, which decides the default data folder
 * @throws ConfigError
 */
export function readConfig(environment: Environment, isRoot: boolean): Config {
  const text = (name: string) => environment[name]?.trim() || null;
  const dataFolder = resolve(
    text("QUARTERDECK_DATA") ?? (isRoot ? "/var/lib/quarterdeck" : "data"),
  );
  const token = text("QUARTERDECK_TOKEN");
  if (token !== null && token.length < shortestChosenToken)
    throw new ConfigError(
      `QUARTERDECK_TOKEN must have at least ${shortestChosenToken} characters.`,
    );
  const port = readInteger("PORT", text("PORT"), 4000, 65_535);
  const host = text("HOST") ?? "127.0.0.1";
  const databaseUrl = withPassword(text("DATABASE_URL"), environment["PGPASSWORD"]);
  return {
    port,
    host,
    dataFolder,
    inventoryFile: resolve(text("QUARTERDECK_INVENTORY") ?? `${dataFolder}/inventory.yaml`),
    isInventoryReadOnly: readSwitch(
      "QUARTERDECK_INVENTORY_READONLY",
      text("QUARTERDECK_INVENTORY_READONLY"),
    ),
    databaseUrl,
    token,
    rateLimit: readInteger("QUARTERDECK_RATE_LIMIT", text("QUARTERDECK_RATE_LIMIT"), 600, 1e9),
    workersOnStop: readWorkersOnStop(text("QUARTERDECK_WORKERS")),
    publicUrl: readUrl("QUARTERDECK_PUBLIC_URL", text("QUARTERDECK_PUBLIC_URL")),
    upstream: readUrl("QUARTERDECK_UPSTREAM", text("QUARTERDECK_UPSTREAM")),
    allow: readAllow(text("QUARTERDECK_ALLOW")),
    smtp: readSmtp(text("SMTP_URL")),
    keepDays: readInteger("QUARTERDECK_KEEP_DAYS", text("QUARTERDECK_KEEP_DAYS"), 90, 36_500, 1),
    selfBackupRecipients: readRecipients(text),
    selfBackup: readSelfBackup(text),
    role: readRole(text("QUARTERDECK_ROLE"), databaseUrl),
    logLevel: readLogLevel(text("LOG_LEVEL")),
    instance: {
      name: text("QUARTERDECK_INSTANCE") ?? hostname(),
      url:
        readUrl("QUARTERDECK_INSTANCE_URL", text("QUARTERDECK_INSTANCE_URL")) ??
        `http://${["0.0.0.0", "::"].includes(host) ? hostname() : hostInUrl(host)}:${port}`,
    },
  };
}

function readSelfBackup(text: (name: string) => string | null): SelfBackupSettings | null {
  const keep = text("QUARTERDECK_SELF_BACKUP_KEEP");
  const read = {
    providerId: readInteger(
      "QUARTERDECK_SELF_BACKUP",
      text("QUARTERDECK_SELF_BACKUP"),
      0,
      2 ** 31 - 1,
      1,
    ),
    keep: readInteger("QUARTERDECK_SELF_BACKUP_KEEP", keep, 7, 1000, 1),
    recipients: readRecipients(text),
  };
  return read.providerId === 0 ? null : read;
}

/** @throws ConfigError for separators alone: what is encrypted to nobody is lost */
function readRecipients(text: (name: string) => string | null): string | null {
  const name = "QUARTERDECK_SELF_BACKUP_RECIPIENT";
  const recipients = text(name);
  if (recipients !== null && /^[\s,]*$/.test(recipients))
    throw new ConfigError(`${name} names no public key of age: it is “${recipients}”.`);
  return recipients;
}

function readSwitch(name: string, text: string | null): boolean {
  if (text === null || text === "0") return false;
  if (text === "1") return true;
  throw new ConfigError(`${name} must be 1 or 0, not “${text}”.`);
}

function readInteger(
  name: string,
  text: string | null,
  otherwise: number,
  max: number,
  min = 0,
): number {
  if (text === null) return otherwise;
  const value = Number(text);
  if (!/^\d+$/.test(text) || value > max || value < min)
    throw new ConfigError(`${name} must be a whole number from ${min} to ${max}, not “${text}”.`);
  return value;
}

/**
 * Adds the password to a URL that has none, as PostgreSQL's own programs do. The driver would only read the service's own
 * environment, which contains no secrets.
 */
function withPassword(url: string | null, password: string | undefined): string | null {
  if (url === null || !password) return url;
  if (/^\w+:\/\/[^/?#@]*:[^/?#@]|[?&]password=/.test(url)) return url;
  return `${url}${url.includes("?") ? "&" : "?"}password=${encodeURIComponent(password)}`;
}

function readAllow(text: string | null): string | null {
  try {
    createAddressGuard(text);
    return text;
  } catch (error) {
    throw new ConfigError(`QUARTERDECK_ALLOW: ${toError(error).message}`, { cause: error });
  }
}

function readSmtp(text: string | null): SmtpSettings | null {
  try {
    return text === null ? null : readSmtpUrl(text);
  } catch (error) {
    throw new ConfigError(toError(error).message, { cause: error });
  }
}

function readWorkersOnStop(text: string | null): Config["workersOnStop"] {
  if (text === null) return "by signal";
  if (text === "keep" || text === "stop") return text;
  throw new ConfigError(`QUARTERDECK_WORKERS must be “keep” or “stop”, not “${text}”.`);
}

function readRole(text: string | null, databaseUrl: string | null): InstanceRole {
  if (text === null) return "all";
  const role = instanceRoles.find((known) => known === text);
  if (role === undefined)
    throw new ConfigError(`QUARTERDECK_ROLE must be “all”, “api” or “runner”, not “${text}”.`);
  if (role !== "all" && databaseUrl === null)
    throw new ConfigError(
      `QUARTERDECK_ROLE=${role} needs DATABASE_URL: only instances that share a PostgreSQL server divide the work.`,
    );
  return role;
}

function readLogLevel(text: string | null): LogLevel {
  if (text === null) return "info";
  const level = logLevels.find((known) => known === text);
  if (level === undefined)
    throw new ConfigError(`LOG_LEVEL must be “debug”, “info”, “warn” or “error”, not “${text}”.`);
  return level;
}

function readUrl(name: string, text: string | null): string | null {
  if (text === null) return null;
  const url = URL.parse(text);
  if (url === null || !/^https?:$/.test(url.protocol))
    throw new ConfigError(`${name} must be an http or https URL, not “${text}”.`);
  const { username, password, search, hash } = url;
  if (username + password + search + hash !== "")
    throw new ConfigError(
      `${name} must be a base URL such as https://ops.example.com, without a user name, a query or a fragment.`,
    );
  return text.replace(/\/+$/, "");
}

/** Returns a problem with the public URL, for the log; null = none. */
export const publicUrlProblem = (publicUrl: string | null): string | null =>
  publicUrl === null || new URL(publicUrl).pathname === "/"
    ? null
    : `the dashboard can't be opened below the path of QUARTERDECK_PUBLIC_URL, ${publicUrl}, which only the API can; give it a host name of its own`;
