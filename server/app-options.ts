// What the service is made of: all that it does not find out by itself.
import type { Logger } from "pino";
import type pg from "pg";
import type { Clock } from "./clock.ts";
import type { TrustedTimes } from "./backups/sources/folder/state.ts";
import type { SelfBackupSettings } from "./config.ts";
import type { IsAllowedHost } from "./http/allowed-hosts.ts";
import type { Instance } from "./instances/life.ts";
import type { SmtpSettings } from "./notifications/channels/smtp-url.ts";

export type AppOptions = {
  /** Where PostgreSQL is. */
  connection: pg.PoolConfig;
  /** This one among others on the same database; null = it has the database for itself. */
  instance: Instance | null;
  dataFolder: string;
  inventoryFile: string;
  /** The operator wants nobody to change it through the interface. */
  isInventoryReadOnly: boolean;
  /** A token that the operator chose. */
  token: string | null;
  rateLimit: number;
  publicUrl: string | null;
  /** Whether a request for this host is one for this service, see `createAllowedHosts`. */
  isAllowedHost: IsAllowedHost;
  /** Where people open the dashboard, without a slash at the end; null = nobody knows yet. */
  address?: () => string | null;
  /** Ranges of addresses that webhooks may reach although they are private; null = none. */
  allow: string | null;
  /** The mail server; null = no mail can be sent. */
  smtp: SmtpSettings | null;
  /** For how long the timeline and what was sent are kept. */
  keepDays: number;
  /** The service's nightly backup of itself; null or absent = none. */
  selfBackup?: SelfBackupSettings | null;
  /** The built dashboard; null = none. */
  dashboardFolder: string | null;
  /** Where `env:NAME` in the inventory is looked up. */
  secrets: Record<string, string | undefined>;
  /** Uids of accounts that belong to the service and that no site may have. */
  reservedAccounts: readonly number[];
  /** What workers inherit; no secret is in it. */
  workerEnvironment: Record<string, string>;
  invalidResponse: "fail" | "log";
  /** What becomes of a query that asks for a second connection inside a transaction: `log` lets it have one. */
  secondConnection: "fail" | "log";
  version: string;
  /** As of process.version. */
  nodeVersion: string;
  /** Whom the service runs as. Root alone can give each site's code another account than its own. */
  account: { name: string; isRoot: boolean };
  clock: Clock;
  /** Whether what time it is is the database's to say, since other instances with other clocks share it; absent = no. */
  goesByDatabase?: boolean;
  /** When times of a site's files are trusted; absent = where they can be, see `trustedTimes`. */
  fileTimes?: TrustedTimes | undefined;
  log: Logger;
};
