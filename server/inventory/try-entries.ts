// Tests an entry that was typed into a form: stores nothing, and returns a message before the deadline.
import { setTimeout as wait } from "node:timers/promises";
import { isDeepStrictEqual } from "node:util";
import type { Logger } from "pino";
import type {
  FileEntries,
  InventoryKind,
  RequestEntries,
} from "../../contract/inventory/entries.ts";
import { type InventoryTest, testSeconds } from "../../contract/inventory/inventory.ts";
import { toError } from "../to-error.ts";
import type { EntryAccount } from "./one-account.ts";
import { withoutSecrets } from "./secret-files.ts";
import type { SecretReader } from "./secrets.ts";
import type { DatabaseRow, InventoryStore } from "./store.ts";

type Found = { message: string; details: string[] };

/**
 * Tests for each kind of entry, from the part of the service that uses it.
 * @throws an error that says why the test failed
 */
export type EntryTests = {
  /** @param keys the text of entered keys, by the references that replace them in the entry */
  server(
    entry: FileEntries["servers"],
    keys: ReadonlyMap<string, string>,
    signal: AbortSignal,
  ): Promise<Found>;
  database(row: DatabaseRow, secrets: SecretReader, signal: AbortSignal): Promise<Found>;
  storage(
    entry: FileEntries["storage_providers"],
    secrets: SecretReader,
    signal: AbortSignal,
  ): Promise<Found>;
  channel(
    entry: FileEntries["notification_channels"],
    secrets: SecretReader,
    signal: AbortSignal,
  ): Promise<Found>;
};

type EntryTrialsOptions = {
  tests: EntryTests;
  store: Pick<InventoryStore, "findServer">;
  /** Returns the account that reads a SQLite database. */
  accountOf(entry: FileEntries["databases"]): Promise<EntryAccount>;
  secrets: SecretReader;
  /** Aborted when the service is told to stop, which then waits for no test. */
  stopping: AbortSignal;
  log: Logger;
  /**
   * The only entries that may be tested; null = any. An entry names secrets, commands and accounts: where the inventory is
   * read-only, a token must not be able to choose them.
   */
  only: (() => Promise<{ [Kind in InventoryKind]: readonly object[] }>) | null;
};

/** Slightly shorter than the announced time, so that the response arrives within it. */
const deadlineMs = testSeconds * 1000 - 500;

/** Names of errors whose messages are for the operator. */
const told = new Set([
  "SourceError",
  "StorageError",
  "EncryptionError",
  "RefusedIdentity",
  "ChannelError",
  "ServerAway",
  "HostKeyUnconfirmed",
  "SecretMissing",
  "CommandMissing",
]);

export function createEntryTrials(options: EntryTrialsOptions) {
  const { tests, store, accountOf, secrets, stopping, log, only } = options;

  const mayTry = async (kind: InventoryKind, given: object): Promise<boolean> =>
    only === null ||
    (await only())[kind].some((entry) =>
      // The id is ignored, because a test has none; JSON drops undefined fields.
      isDeepStrictEqual({ ...entry, id: 0 }, JSON.parse(JSON.stringify({ ...given, id: 0 }))),
    );

  /** @param typed secrets that no result may contain */
  async function attempt(
    client: AbortSignal,
    typed: ReadonlyMap<string, string>,
    work: (signal: AbortSignal) => Promise<Found>,
  ): Promise<InventoryTest> {
    const ended = new AbortController();
    const canceled = AbortSignal.any([client, stopping]);
    const signal = AbortSignal.any([canceled, ended.signal]);
    const over = AbortSignal.any([canceled, ended.signal]);
    const expired = wait(deadlineMs, "expired" as const, { signal: over, ref: false }).catch(
      () => "gone" as const,
    );
    const working = work(signal);
    // Handles the rejection of work that was abandoned.
    working.catch(() => undefined);
    try {
      const first = await Promise.race([working, expired]);
      if (first === "gone") return wasCanceled;
      if (first === "expired")
        return failed(
          `No result within ${testSeconds} s. Check the address, and that no firewall stands in the way.`,
        );
      return {
        ok: true,
        message: withoutTyped(first.message, typed),
        details: first.details.map((line) => withoutTyped(line, typed)),
        host_keys: [],
      };
    } catch (error) {
      // Work that a cancellation ends fails with any error.
      return canceled.aborted ? wasCanceled : explain(error, typed);
    } finally {
      // Ends whatever still runs, even after a success.
      ended.abort(new Error("The test is over."));
    }
  }

  function explain(error: unknown, typed: ReadonlyMap<string, string>): InventoryTest {
    const { name, message } = toError(error);
    if (!told.has(name)) {
      // Not logged with its message, which may contain entered secrets.
      log.error({ kind: name }, "a test of an inventory entry failed unexpectedly");
      return failed("The test failed unexpectedly. See the service's log.");
    }
    return { ...failed(withoutTyped(message, typed)), host_keys: offeredIn(error) };
  }

  function read<Kind extends keyof FileEntries>(given: RequestEntries[Kind]) {
    const typed = new Map<string, string>();
    const referring = withoutSecrets({ id: 0, ...given }, ({ path, secret }) => {
      const reference = `typed:${path.join(".")}`;
      typed.set(reference, secret);
      return reference;
    });
    const reader: SecretReader = {
      read: async (reference, purpose) =>
        typed.get(reference) ?? (await secrets.read(reference, purpose)),
      fileOf: (reference) => (typed.has(reference) ? null : secrets.fileOf(reference)),
    };
    // All secrets are references now, so this has the type of an entry of the file.
    return { typed, reader, entry: referring as FileEntries[Kind] };
  }

  return {
    async server(given: RequestEntries["servers"], client: AbortSignal) {
      if (!(await mayTry("servers", given))) return untried;
      const { typed, entry } = read<"servers">(given);
      return attempt(client, typed, (signal) => tests.server(entry, typed, signal));
    },

    async database(given: RequestEntries["databases"], client: AbortSignal) {
      if (!(await mayTry("databases", given))) return untried;
      const { typed, reader, entry } = read<"databases">(given);
      if ((await store.findServer(entry.server)) === null)
        return failed(`There is no server ${entry.server}.`);
      return attempt(client, typed, async (signal) => {
        const row: DatabaseRow = {
          id: entry.id,
          serverId: entry.server,
          createdAt: new Date(0),
          entry,
          account: await accountOf(entry),
        };
        return tests.database(row, reader, signal);
      });
    },

    async storage(given: RequestEntries["storage_providers"], client: AbortSignal) {
      if (!(await mayTry("storage_providers", given))) return untried;
      const { typed, reader, entry } = read<"storage_providers">(given);
      return attempt(client, typed, (signal) => tests.storage(entry, reader, signal));
    },

    async channel(given: RequestEntries["notification_channels"], client: AbortSignal) {
      if (!(await mayTry("notification_channels", given))) return untried;
      const { typed, reader, entry } = read<"notification_channels">(given);
      return attempt(client, typed, (signal) => tests.channel(entry, reader, signal));
    },
  };
}

export type EntryTrials = ReturnType<typeof createEntryTrials>;

const failed = (message: string): InventoryTest => ({
  ok: false,
  message,
  details: [],
  host_keys: [],
});

const wasCanceled = failed("The test was canceled.");

const untried = failed(
  "Nothing was tried: QUARTERDECK_INVENTORY_READONLY is set, so only entries of the inventory are tried, as they stand there.",
);

/** Returns the offered keys of a server whose key is not confirmed yet. */
function offeredIn(error: unknown): InventoryTest["host_keys"] {
  // A storage's error has the error of its login as the cause.
  if (error instanceof Error && error.cause !== undefined) return offeredIn(error.cause);
  if (!(error instanceof Error) || !("offered" in error) || !Array.isArray(error.offered))
    return [];
  return error.offered.map((key: { type: string; fingerprint: string }) => ({
    type: key.type,
    fingerprint: key.fingerprint,
  }));
}

/** Removes entered secrets from a message, because a tool may quote its input. */
const withoutTyped = (text: string, typed: ReadonlyMap<string, string>): string =>
  [...typed.values()]
    .flatMap((secret) => [secret, passwordIn(secret), ...valuesIn(secret)])
    .filter((secret) => secret !== null && secret.length > 3)
    .reduce<string>((rest, secret) => rest.replaceAll(secret ?? "", "…"), text);

/** Fields of a service's address, which the operator needs to see. */
const shownFields = /^(?:type|host|user|url|provider|vendor|endpoint|region)$/;

/** Returns the values in a text of several lines, such as a config file. */
const valuesIn = (secret: string): string[] =>
  [...secret.matchAll(/^[ \t]*(\w+)[ \t]*=[ \t]*(.+?)[ \t]*$/gm)].flatMap(([, name, value]) =>
    value === undefined || shownFields.test(name ?? "") ? [] : [value],
  );

const passwordIn = (secret: string): string | null => {
  const { password = "" } = URL.parse(secret) ?? {};
  try {
    return decodeURIComponent(password);
  } catch {
    return password;
  }
};
