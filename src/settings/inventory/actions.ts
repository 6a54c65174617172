// Changes of inventory entries. Each names the version of the file that it is based on.
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

/** Operations of all kinds have the same shape, which their types do not express. */
const callAny = call as (
  name: OperationName,
  params: { id?: number },
  sent: { query?: object; body?: unknown; signal?: AbortSignal },
) => Promise<unknown>;

const versionOf = ({ version }: InventoryFile) => ({ query: version === null ? {} : { version } });

/** Queries that show entries. A deleted server or site is not queried again, because that would fail. */
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

/** Whether a query is about the deleted entry. */
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
  // Also updates other tabs.
  await invalidate("listServers");
  await queryClient.invalidateQueries({
    predicate: ({ queryKey }) =>
      shown.some((name) => name === queryKey[0]) && (gone === null || !asksFor(gone, queryKey)),
  });
  return inventory;
}

/**
 * Called without `useMutation`, whose cache would keep a secret for minutes.
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

/** @returns the current file */
export const reloadInventory = (): Promise<InventoryFile | null> =>
  queryClient.fetchQuery({ ...inventoryQuery(), staleTime: 0 });

/** @returns the details of a conflict; null for any other error */
export function conflictIn(error: unknown): InventoryConflict | null {
  if (!(error instanceof ApiError) || error.status !== 409) return null;
  const { data } = inventoryConflict.safeParse(error.body);
  return data?.code === "inventory_changed" || data?.code === "inventory_read_only" ? data : null;
}
