// An entry of the inventory whatever its kind: what it is called, where it stands in the file, what may become of it.
import type { InventoryKind } from "../../contract/inventory/entries.ts";

export type Entry = { id: number; name: string } & Record<string, unknown>;

export type Change =
  | { kind: InventoryKind; action: "add"; entry: object }
  | { kind: InventoryKind; action: "replace"; id: number; entry: object }
  | { kind: InventoryKind; action: "remove"; id: number };

/** What a kind's entry is called in messages, and what it is on the timeline. */
export const words = {
  servers: { word: "server", type: "server" },
  sites: { word: "site", type: "site" },
  databases: { word: "database", type: "database" },
  storage_providers: { word: "storage provider", type: "storage-provider" },
  notification_channels: { word: "notification channel", type: "notification-channel" },
} as const satisfies Record<InventoryKind, { word: string; type: string }>;

const isRecord = (value: unknown): value is Record<string, unknown> =>
  typeof value === "object" && value !== null && !Array.isArray(value);

/** What the file has of a kind, in order. */
export const listOf = (content: unknown, kind: InventoryKind): Record<string, unknown>[] => {
  const list = isRecord(content) ? content[kind] : undefined;
  // What is no entry keeps its place, so that the others keep theirs.
  return Array.isArray(list) ? list.map((entry: unknown) => (isRecord(entry) ? entry : {})) : [];
};

export const textOf = (value: unknown): string => (typeof value === "string" ? value : "");
