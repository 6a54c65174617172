// What the environment asks for, read once and checked.
import { readFileSync } from "node:fs";
import { resolve } from "node:path";
import type { Environment } from "./environment/handover.ts";
import { expandHome } from "./inventory/paths.ts";
import { createAddressGuard } from "./net/address-guard.ts";
import { readSmtpUrl, type SmtpSettings } from "./notifications/channels/smtp-url.ts";
import { shortestChosenToken } from "./tokens/service.ts";

export type Config = {
  port: number;
  host: string;
  /** Absolute path of the folder that holds everything the service keeps. */
  dataFolder: string;
  inventoryFile: string;
  /** Null: the embedded PostgreSQL. */
  databaseUrl: string | null;
  /** A token that the operator chose. */
  token: string | null;
  /** Requests a minute that one token may make; 0 = no limit. */
  rateLimit: number;
  /** What a stop does to workers: by the signal, or always the same. */
  workersOnStop: "by signal" | "keep" | "stop";
  /** Where the service is reached, without a slash at the end; null = as each request says. */
  publicUrl: string | null;
  /** Base address of another service to stand in front of, without a slash at the end; null = be the service. */
  upstream: string | null;
  /** Ranges of addresses that webhooks may reach although they are private; null = none. */
  allow: string | null;
  /** The mail server; null = no mail can be sent. */
  smtp: SmtpSettings | null;
  /** For how long the timeline and what was sent are kept. */
  keepDays: number;
};

/** The environment asks for something that cannot be. The message names the variable. */
export class ConfigError extends Error {
  override name = "ConfigError";
}

/** May be given as `file:/path` as well, so that they stand in no environment. */
const secretVariables = ["QUARTERDECK_TOKEN", "DATABASE_URL", "SMTP_URL"];

/** The environment, with the content of the files that secrets are named by. @throws ConfigError */
export function readSecretFiles(environment: Environment): Environment {
  const read = { ...environment };
  for (const name of secretVariables) {
    const [, file] = /^file:(.+)$/.exec(environment[name]?.trim() ?? "") ?? [];
    if (file === undefined) continue;
    const path = expandHome(file);
    try {
      read[name] = readFileSync(path, "utf8");
    } catch (error) {
      const { code } = error as NodeJS.ErrnoException;
      throw new ConfigError(`The file ${path} cannot be read (${code}); ${name} names it.`, {
        cause: error,
      });
    }
    if (read[name].trim() === "")
      throw new ConfigError(`The file ${path} is empty; ${name} names it.`);
  }
  return read;
}

/**
 * @param isRoot whether the service runs as root, which decides where its data goes
 * @throws ConfigError
 */
export function readConfig(environment: Environment, isRoot: boolean): Config {
  const text = (name: string) => environment[name]?.trim() || null;
  const dataFolder = resolve(
    text("QUARTERDECK_DATA") ?? (isRoot ? "/var/lib/quarterdeck" : "data"),
  );
  const token = text("QUARTERDECK_TOKEN");
  if (token !== null && token.length < shortestChosenToken)
    throw new ConfigError(`QUARTERDECK_TOKEN must have ${shortestChosenToken} characters or more.`);
  return {
    port: readInteger("PORT", text("PORT"), 4000, 65_535),
    host: text("HOST") ?? "127.0.0.1",
    dataFolder,
    inventoryFile: resolve(text("QUARTERDECK_INVENTORY") ?? `${dataFolder}/inventory.yaml`),
    databaseUrl: withPassword(text("DATABASE_URL"), environment["PGPASSWORD"]),
    token,
    rateLimit: readInteger("QUARTERDECK_RATE_LIMIT", text("QUARTERDECK_RATE_LIMIT"), 600, 1e9),
    workersOnStop: readWorkersOnStop(text("QUARTERDECK_WORKERS")),
    publicUrl: readUrl("QUARTERDECK_PUBLIC_URL", text("QUARTERDECK_PUBLIC_URL")),
    upstream: readUpstream(text("QUARTERDECK_UPSTREAM")),
    allow: readAllow(text("QUARTERDECK_ALLOW")),
    smtp: readSmtp(text("SMTP_URL")),
    keepDays: readInteger("QUARTERDECK_KEEP_DAYS", text("QUARTERDECK_KEEP_DAYS"), 90, 36_500, 1),
  };
}

function readInteger(
  name: string,
  text: string | null,
  otherwise: number,
  most: number,
  least = 0,
): number {
  if (text === null) return otherwise;
  const value = Number(text);
  if (!/^\d+$/.test(text) || value > most || value < least)
    throw new ConfigError(
      `${name} must be a whole number from ${least} to ${most}, not “${text}”.`,
    );
  return value;
}

/** As PostgreSQL's own programs read it. The driver looks into the service's own environment, which holds no secret. */
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
    throw new ConfigError(`QUARTERDECK_ALLOW: ${(error as Error).message}`, { cause: error });
  }
}

function readSmtp(text: string | null): SmtpSettings | null {
  try {
    return text === null ? null : readSmtpUrl(text);
  } catch (error) {
    throw new ConfigError((error as Error).message, { cause: error });
  }
}

function readWorkersOnStop(text: string | null): Config["workersOnStop"] {
  if (text === null) return "by signal";
  if (text === "keep" || text === "stop") return text;
  throw new ConfigError(`QUARTERDECK_WORKERS must be “keep” or “stop”, not “${text}”.`);
}

function readUrl(name: string, text: string | null): string | null {
  if (text === null) return null;
  const url = URL.parse(text);
  if (url === null || !/^https?:$/.test(url.protocol))
    throw new ConfigError(`${name} must be an http or https URL, not “${text}”.`);
  return text.replace(/\/+$/, "");
}

function readUpstream(text: string | null): string | null {
  const address = readUrl("QUARTERDECK_UPSTREAM", text);
  const {
    username = "",
    password = "",
    search = "",
    hash = "",
  } = address === null ? {} : new URL(address);
  if (username + password + search + hash !== "")
    throw new ConfigError(
      "QUARTERDECK_UPSTREAM must be a plain base address, such as https://ops.example.com: no account, no “?” and no “#”.",
    );
  return address;
}
