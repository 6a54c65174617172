// Dependencies and settings of the service.
import type { Logger } from "pino";
import type pg from "pg";
import type { Clock } from "./clock.ts";
import type { TrustedTimes } from "./backups/sources/folder/state.ts";
import type { SelfBackupSettings } from "./config.ts";
import type { IsAllowedHost } from "./http/allowed-hosts.ts";
import type { Instance } from "./instances/life.ts";
import type { SmtpSettings } from "./notifications/channels/smtp-url.ts";

export type AppOptions = {
  /** Options to connect to PostgreSQL. */
  connection: pg.PoolConfig;
  /** This instance among several on a database; null = it is the only one. */
  instance: Instance | null;
  dataFolder: string;
  inventoryFile: string;
  /** Whether the operator has disabled changes through the interface. */
  isInventoryReadOnly: boolean;
  /** A token that the operator chose; null = none. */
  token: string | null;
  rateLimit: number;
  publicUrl: string | null;
  /** Whether the host of a request belongs to this service, see `createAllowedHosts`. */
  isAllowedHost: IsAllowedHost;
  /** Returns the base URL of the dashboard, without a trailing slash; null = not known yet. */
  address?: () => string | null;
  /** Private address ranges that webhooks may reach; null = none. */
  allow: string | null;
  /** The mail server; null = no mail can be sent. */
  smtp: SmtpSettings | null;
  /** How many days the timeline and sent messages are kept. */
  keepDays: number;
  /** The service's nightly backup of itself; null or absent = none. */
  selfBackup?: SelfBackupSettings | null;
  /** The built dashboard; null = none. */
  dashboardFolder: string | null;
  /** Variables for `env:NAME` in the inventory. */
  secrets: Record<string, string | undefined>;
  /** Uids of the service's other accounts, which no site may have. */
  reservedAccounts: readonly number[];
  /** Environment that workers inherit, without secrets. */
  workerEnvironment: Record<string, string>;
  invalidResponse: "fail" | "log";
  /** What happens when a query asks for a second connection inside a transaction: `log` allows it. */
  secondConnection: "fail" | "log";
  version: string;
  /** process.version */
  nodeVersion: string;
  /** The account of the service. Only root can run each site's code as another account. */
  account: { name: string; isRoot: boolean };
  clock: Clock;
  /** Whether the database's clock is used, because other instances share the database; default false. */
  goesByDatabase?: boolean;
  /** When modification times of a site's files are trusted; default: where they can be, see `trustedTimes`. */
  fileTimes?: TrustedTimes | undefined;
  log: Logger;
};
