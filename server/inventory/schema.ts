// Schema of the inventory file.
import * as z from "zod/mini";
import { fileEntries, type InventoryKind } from "../../contract/inventory/entries.ts";
import { keysOf } from "../../contract/keys-of.ts";

const listOf = <Entry extends z.ZodMiniType>(entry: Entry) => z._default(z.array(entry), []);

export const inventorySchema = z.strictObject(
  {
    servers: listOf(fileEntries.servers),
    sites: listOf(fileEntries.sites),
    databases: listOf(fileEntries.databases),
    storage_providers: listOf(fileEntries.storage_providers),
    notification_channels: listOf(fileEntries.notification_channels),
  },
  {
    error: ({ code }) =>
      code === "invalid_type"
        ? "An inventory is made of lists, such as “servers:” and “sites:”."
        : undefined,
  },
);

export type Inventory = z.infer<typeof inventorySchema>;

/** Returns the process manager of a server's workers: over SSH always the server's supervisord. */
export const processManagerOf = ({
  supervisor,
  connection,
}: Pick<Inventory["servers"][number], "supervisor" | "connection">) =>
  supervisor ?? (connection === "local" ? "embedded" : "supervisord");

/** A mistake, with the path of the value that it is about. */
export type Complaint = {
  path: (string | number)[];
  message: string;
  /** Offset in the text, where the text could not be parsed. */
  at?: number;
};

/** Checks across entries: duplicate ids, and references to missing entries. */
export function crossCheck(inventory: Inventory): Complaint[] {
  const complaints: Complaint[] = [];
  const ids = (kind: InventoryKind) => new Set(inventory[kind].map((entry) => entry.id));

  for (const kind of keysOf(inventory)) {
    const seen = new Set<number>();
    inventory[kind].forEach((entry, index) => {
      if (seen.has(entry.id))
        complaints.push({
          path: [kind, index, "id"],
          message: `The id ${entry.id} is used twice.`,
        });
      seen.add(entry.id);
    });
  }
  const refer = (path: Complaint["path"], known: Set<number>, what: string, wanted: number) => {
    if (!known.has(wanted)) complaints.push({ path, message: `There is no ${what} ${wanted}.` });
  };
  const serverIds = ids("servers");
  const databaseIds = ids("databases");
  inventory.sites.forEach((entry, index) => {
    refer(["sites", index, "server"], serverIds, "server", entry.server);
    entry.databases?.forEach((wanted, place) =>
      refer(["sites", index, "databases", place], databaseIds, "database", wanted),
    );
  });
  inventory.servers.forEach((entry, index) => {
    const place = entry.drills?.server;
    if (typeof place === "number")
      refer(["servers", index, "drills", "server"], serverIds, "server", place);
    const { connection, supervisor } = entry;
    if (connection !== "local" && supervisor === "embedded")
      complaints.push({
        path: ["servers", index, "supervisor"],
        message:
          "On a server over SSH, workers are kept up by its supervisord. Write “supervisor: supervisord”, or leave it out.",
      });
  });
  const remote = new Set(
    inventory.servers.flatMap(({ id, connection }) => (connection === "local" ? [] : [id])),
  );
  // `~` is the home of the service's account, which other machines do not have.
  const noHome = (path: Complaint["path"], serverId: number, text: string) => {
    if (remote.has(serverId) && !text.startsWith("/"))
      complaints.push({ path, message: "A path on a server over SSH must start with “/”." });
  };
  inventory.servers.forEach(({ id, supervisord_config: config }, index) => {
    if (config !== undefined) noHome(["servers", index, "supervisord_config"], id, config);
  });
  inventory.sites.forEach(({ server, root }, index) =>
    noHome(["sites", index, "root"], server, root),
  );
  inventory.databases.forEach((entry, index) => {
    if (entry.engine === "sqlite") noHome(["databases", index, "path"], entry.server, entry.path);
  });
  inventory.databases.forEach((entry, index) =>
    refer(["databases", index, "server"], serverIds, "server", entry.server),
  );
  inventory.storage_providers.forEach((entry, index) => {
    if (entry.type !== "local" || entry.server === undefined) return;
    refer(["storage_providers", index, "server"], serverIds, "server", entry.server);
    noHome(["storage_providers", index, "path"], entry.server, entry.path);
  });
  return complaints;
}

/** Returns the JSON Schema of the file, for editors. */
export const inventoryJsonSchema = () => ({
  title: "Quarterdeck inventory",
  ...z.toJSONSchema(inventorySchema, { io: "input", unrepresentable: "any" }),
});
