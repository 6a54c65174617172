// The kinds of entries: names, URLs, and operations.
import {
  type FileEntries,
  type InventoryKind,
  inventoryKinds,
} from "../../../contract/inventory/entries.ts";
import type { OperationName } from "../../../contract/operations.ts";

type Kind = {
  /** Part of URLs. */
  slug: string;
  title: string;
  /** The name inside a sentence. */
  noun: string;
  create: OperationName;
  update: OperationName;
  remove: OperationName;
  /** Null for a kind that cannot be tested. */
  test: { operation: OperationName; label: string; busy: string } | null;
};

export const kinds = {
  servers: {
    slug: "servers",
    title: "Servers",
    noun: "server",
    create: "createServerEntry",
    update: "updateServerEntry",
    remove: "deleteServerEntry",
    test: { operation: "testServerEntry", label: "Test connection", busy: "Testing connection…" },
  },
  sites: {
    slug: "sites",
    title: "Sites",
    noun: "site",
    create: "createSiteEntry",
    update: "updateSiteEntry",
    remove: "deleteSiteEntry",
    test: null,
  },
  databases: {
    slug: "databases",
    title: "Databases",
    noun: "database",
    create: "createDatabaseEntry",
    update: "updateDatabaseEntry",
    remove: "deleteDatabaseEntry",
    test: { operation: "testDatabaseEntry", label: "Test connection", busy: "Testing connection…" },
  },
  storage_providers: {
    slug: "storage-providers",
    title: "Storage providers",
    noun: "storage provider",
    create: "createStorageEntry",
    update: "updateStorageEntry",
    remove: "deleteStorageEntry",
    test: { operation: "testStorageEntry", label: "Test storage", busy: "Testing storage…" },
  },
  notification_channels: {
    slug: "notification-channels",
    title: "Notification channels",
    noun: "notification channel",
    create: "createChannelEntry",
    update: "updateChannelEntry",
    remove: "deleteChannelEntry",
    test: {
      operation: "testChannelEntry",
      label: "Send test message",
      busy: "Sending test message…",
    },
  },
} as const satisfies Record<InventoryKind, Kind>;

export type AnyEntry = FileEntries[InventoryKind];

export const kindOfSlug = (slug: string | undefined): InventoryKind | null =>
  inventoryKinds.find((kind) => kinds[kind].slug === slug) ?? null;

export const engineWords = {
  postgres: "PostgreSQL",
  "postgres-server": "PostgreSQL, whole server",
  mysql: "MySQL or MariaDB",
  "mysql-server": "MySQL or MariaDB, whole server",
  sqlite: "SQLite",
} as const;

/** Describes the place of a secret. */
export function secretWords(reference: string): string {
  if (reference === "agent") return "SSH agent";
  if (reference.startsWith("file:secrets/")) return "Stored in a file";
  return reference.startsWith("env:")
    ? `Variable ${reference.slice(4)}`
    : `File ${reference.slice(5)}`;
}
