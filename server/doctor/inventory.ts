// Checks the inventory file: its mistakes by line, the accounts that it names, and its references to secrets.
import { existsSync } from "node:fs";
import { countOf } from "../../contract/count-text.ts";
import type { Diagnosis } from "../../contract/doctor.ts";
import { decideAccounts, type EntryAccounts } from "../inventory/accounts.ts";
import type { AccountSource } from "../inventory/one-account.ts";
import { inspect, InventoryError, readText } from "../inventory/file.ts";
import type { Inventory } from "../inventory/schema.ts";
import type { SecretReader } from "../inventory/secrets.ts";
import type { Servers } from "../ssh/servers.ts";
import { toError } from "../to-error.ts";
import { failed, ok, warning } from "./finding.ts";

const name = "Inventory";

type Found = {
  diagnoses: Diagnosis[];
  /** Null where it cannot be used. */
  inventory: Inventory | null;
};

type InventoryOptions = {
  file: string;
  accounts: AccountSource;
  /** Accounts that are stored in the database. */
  stored: EntryAccounts;
  servers: Pick<Servers, "follow" | "accounts">;
  secrets: SecretReader;
  /** Whether `secrets` uses the environment of the service. */
  isOfService: boolean;
};

export async function checkInventory(options: InventoryOptions): Promise<Found> {
  const { file, accounts, stored, servers } = options;
  if (!existsSync(file)) {
    const cure =
      "The first start of the service writes a sample. Later, put the file back, or set QUARTERDECK_INVENTORY to where it is.";
    return { diagnoses: [warning(name, `${file} is not there.`, cure)], inventory: null };
  }
  try {
    const { inventory, complaints, tell } = inspect(await readText(file));
    if (inventory === null) throw new InventoryError(file, complaints.map(tell));
    await servers.follow(inventory.servers);
    const decided = await decideAccounts(inventory, stored, accounts, servers.accounts);
    if (decided.complaints.length > 0) throw new InventoryError(file, decided.complaints.map(tell));
    const without = Object.values(decided.accounts).flatMap((entries) =>
      [...entries.values()].flatMap(({ problem }) => (problem === null ? [] : [problem])),
    );
    const diagnoses = [
      ok(name, `${file} can be used: ${sizeOf(inventory)}.`),
      ...without.map((problem) => warning(name, problem, null)),
      ...(await checkSecrets(inventory, options)),
    ];
    return { diagnoses, inventory };
  } catch (error) {
    const cure = "Correct these lines. Until then the service goes by the file as it was before.";
    return { diagnoses: [failed(name, toError(error).message, cure)], inventory: null };
  }
}

const kinds = {
  servers: "server",
  sites: "site",
  databases: "database",
  storage_providers: "storage provider",
  notification_channels: "notification channel",
} as const satisfies Record<keyof Inventory, string>;

const sizeOf = (inventory: Inventory): string =>
  Object.entries(kinds)
    // The keys of a literal are exactly its own.
    .map(([kind, word]) => [inventory[kind as keyof Inventory].length, word] as const)
    .map(([count, word]) => countOf(count, word))
    .join(", ");

/** Yields the reference of each secret, with its purpose. */
function* secretsOf(inventory: Inventory): Generator<[reference: string, purpose: string]> {
  for (const { id, name, ...entry } of inventory.databases)
    if ("url" in entry) yield [entry.url, `the url of database ${id} (${name})`];
  for (const { id, name, ...entry } of inventory.storage_providers) {
    const of = `of storage provider ${id} (${name})`;
    if (entry.type === "rclone" && entry.config !== undefined)
      yield [entry.config, `the config ${of}`];
    if (entry.type === "s3") {
      yield [entry.access_key, `the access_key ${of}`];
      yield [entry.secret_key, `the secret_key ${of}`];
    }
    if (entry.drill_identity !== undefined)
      yield [entry.drill_identity, `the drill_identity ${of}`];
  }
  for (const { id, name, ...entry } of inventory.notification_channels)
    if ("webhook" in entry)
      yield [entry.webhook, `the webhook of notification channel ${id} (${name})`];
  for (const { drills, name } of inventory.servers)
    for (const reference of [drills?.postgres, drills?.mysql])
      if (reference !== undefined) yield [reference, `a database server for drills of ${name}`];
}

async function checkSecrets(
  inventory: Inventory,
  { secrets, isOfService }: Pick<InventoryOptions, "secrets" | "isOfService">,
): Promise<Diagnosis[]> {
  const found: Diagnosis[] = [];
  for (const [reference, purpose] of secretsOf(inventory))
    try {
      await secrets.read(reference, purpose);
    } catch (error) {
      found.push(
        reference.startsWith("env:")
          ? warning(
              "Secrets",
              toError(error).message,
              isOfService
                ? null
                : "If the service has the variable, run this command with the service's environment.",
            )
          : failed("Secrets", toError(error).message, null),
      );
    }
  return found;
}
