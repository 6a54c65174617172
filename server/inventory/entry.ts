// An entry of the inventory, regardless of its kind: its name in messages, its place in the file, its possible changes.
import type { InventoryKind } from "../../contract/inventory/entries.ts";

export type Entry = { id: number; name: string } & Record<string, unknown>;

export type Change =
  | { kind: InventoryKind; action: "add"; entry: object }
  | { kind: InventoryKind; action: "replace"; id: number; entry: object }
  | { kind: InventoryKind; action: "remove"; id: number };

/** The kind in messages, and the type of object on the timeline. */
export const words = {
  servers: { word: "server", type: "server" },
  sites: { word: "site", type: "site" },
  databases: { word: "database", type: "database" },
  storage_providers: { word: "storage provider", type: "storage-provider" },
  notification_channels: { word: "notification channel", type: "notification-channel" },
} as const satisfies Record<InventoryKind, { word: string; type: string }>;

const isRecord = (value: unknown): value is Record<string, unknown> =>
  typeof value === "object" && value !== null && !Array.isArray(value);

/** Returns the file's entries of a kind, in order. */
export const listOf = (content: unknown, kind: InventoryKind): Record<string, unknown>[] => {
  const list = isRecord(content) ? content[kind] : undefined;
  // Invalid entries are replaced by empty ones, so that all indexes stay the same.
  return Array.isArray(list) ? list.map((entry: unknown) => (isRecord(entry) ? entry : {})) : [];
};

export const textOf = (value: unknown): string => (typeof value === "string" ? value : "");
