// Actions on the inventory's entries. Every change sends the version of the file that it is based on.
import type { InventoryKind, RequestEntries } from "../../../contract/inventory/entries.ts";
import { inventoryConflict, type InventoryConflict } from "../../../contract/inventory/conflict.ts";
import {
  changedInventory,
  type InventoryFile,
  inventoryTest,
  type InventoryTest,
} from "../../../contract/inventory/inventory.ts";
import type { OperationName } from "../../../contract/operations.ts";
import { ApiError } from "../../api/api-error.ts";
import { call } from "../../api/client.ts";
import { invalidate, queryClient } from "../../api/query.ts";
import { kinds } from "./kinds.ts";
import { inventoryQuery } from "./queries.ts";

/** The operations of all kinds are alike, which their separate types do not express. */
const callAny = call as (
  name: OperationName,
  params: { id?: number },
  sent: { query?: object; body?: unknown; signal?: AbortSignal },
) => Promise<unknown>;

const versionOf = ({ version }: InventoryFile) => ({ query: version === null ? {} : { version } });

/** Queries that show entries. Those of a deleted server or site are not refetched, because they would fail. */
const shown = [
  "listServers",
  "listSites",
  "listDatabases",
  "listStorageProviders",
  "listNotificationChannels",
  "showServer",
  "showSite",
  "showOverview",
  "listActivity",
] as const satisfies readonly OperationName[];

const ofOne: Partial<Record<InventoryKind, readonly string[]>> = {
  servers: ["showServer", "listSites", "listDatabases"],
  sites: ["showSite"],
};

type Gone = { kind: InventoryKind; id: number };

/** Whether a query is for a deleted object. */
const asksFor = ({ kind, id }: Gone, [name, params]: readonly unknown[]): boolean =>
  typeof name === "string" &&
  ofOne[kind]?.includes(name) === true &&
  typeof params === "object" &&
  params !== null &&
  "id" in params &&
  params.id === id;

async function keep(answer: unknown, gone: Gone | null = null): Promise<InventoryFile> {
  const { id: _, ...inventory } = changedInventory.parse(answer);
  queryClient.setQueryData(inventoryQuery().queryKey, inventory);
  // Also notifies other tabs.
  await invalidate("listServers");
  await queryClient.invalidateQueries({
    predicate: ({ queryKey }) =>
      shown.some((name) => name === queryKey[0]) && (gone === null || !asksFor(gone, queryKey)),
  });
  return inventory;
}

/**
 * Saves an entry. Without `useMutation`, whose cache would keep a secret for minutes.
 * @param id null for a new entry
 */
export async function saveEntry<Kind extends InventoryKind>(
  kind: Kind,
  id: number | null,
  body: RequestEntries[Kind],
  seen: InventoryFile,
): Promise<InventoryFile> {
  const { create, update } = kinds[kind];
  const sent = { ...versionOf(seen), body };
  return keep(await (id === null ? callAny(create, {}, sent) : callAny(update, { id }, sent)));
}

export const removeEntry = async (kind: InventoryKind, id: number, seen: InventoryFile) =>
  keep(await callAny(kinds[kind].remove, { id }, versionOf(seen)), { kind, id });

export async function testEntry<Kind extends InventoryKind>(
  kind: Kind,
  body: RequestEntries[Kind],
  signal: AbortSignal,
): Promise<InventoryTest> {
  const { test } = kinds[kind];
  if (test === null) throw new Error(`A ${kinds[kind].noun} cannot be tested.`);
  return inventoryTest.parse(await callAny(test.operation, {}, { body, signal }));
}

/** Refetches the file. */
export const reloadInventory = (): Promise<InventoryFile | null> =>
  queryClient.fetchQuery({ ...inventoryQuery(), staleTime: 0 });

/** Returns the details of a refused change; null for other errors. */
export function conflictIn(error: unknown): InventoryConflict | null {
  if (!(error instanceof ApiError) || error.status !== 409) return null;
  const { data } = inventoryConflict.safeParse(error.body);
  return data?.code === "inventory_changed" || data?.code === "inventory_read_only" ? data : null;
}
