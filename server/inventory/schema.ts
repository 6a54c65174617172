// What the inventory file may say. Unknown keys are errors: in a file that people write, they are typos.
import * as z from "zod/mini";
import { channelTypes } from "../../contract/notifications/notification.ts";
import { line, ownId as id } from "../../contract/inputs.ts";
import { keysOf } from "../../contract/keys-of.ts";

const absolutePath = line(1024).check(
  z.regex(/^[/~]/, { error: "A path must be absolute; it starts with “/” or “~/”." }),
);

/** A secret never stands in the file, only where to find it. */
const secret = line(1024).check(
  z.regex(/^(?:env:[A-Za-z_]\w*|file:.+)$/, {
    error: "A secret must be “env:NAME” or “file:PATH”.",
  }),
);

const timeZone = line(64).check(
  z.refine((name) => isTimeZone(name), {
    error: "A time zone must be an IANA name such as “Europe/Berlin”.",
  }),
);

/** A name, or the number of an account that has none. */
const user = z.string().check(
  z.regex(/^[A-Za-z0-9_][A-Za-z0-9_.@-]{0,63}\$?$/, {
    error: "A user is an account's name on the server.",
  }),
);

/** Where a server listens for SSH, who logs in, and the one host key that it may have. */
const hop = {
  host: z.string().check(
    z.regex(/^[A-Za-z0-9_:][A-Za-z0-9_.:-]{0,254}$/, {
      error: "A host is a name or an address, without a port.",
    }),
  ),
  port: z._default(z.int().check(z.gte(1), z.lte(65_535)), 22),
  user,
  key: z.string().check(
    z.regex(/^(?:agent|file:[~/].*)$/, {
      error: "A key must be “file:PATH” of a private key, or “agent”.",
    }),
  ),
  host_key: z.optional(
    z.string().check(
      z.regex(/^SHA256:[A-Za-z0-9+/]{43}$/, {
        error: "A host key is its fingerprint, “SHA256:…”, as “ssh-keygen -l” shows it.",
      }),
    ),
  ),
};

const ssh = z.strictObject({
  ...hop,
  /** An ssh_config that is read as well. */
  config: z.optional(absolutePath),
  jump: z.optional(z.strictObject(hop)),
});

/** Where the drills of what is on a server run, in place of that server. */
const drills = z.strictObject({
  server: z.union([z.literal("local"), id], {
    error: "A drill place is the id of a server, or “local” for this machine.",
  }),
  /** Whose account has the files of sites and SQLite databases there; by default the one that commands run as. */
  user: z.optional(user),
  /** Database servers, as that machine reaches them. */
  postgres: z.optional(secret),
  mysql: z.optional(secret),
});

const server = z.strictObject({
  id,
  name: line(100),
  time_zone: z.optional(timeZone),
  connection: z.union([z.literal("local"), z.strictObject({ ssh })], {
    error: "A connection is “local” for this machine, or “{ ssh: { host, user, key } }”.",
  }),
  /** Who keeps the processes of its workers up: this service itself, or the supervisord of the server; see `keeperOf`. */
  supervisor: z.optional(z.enum(["embedded", "supervisord"])),
  /** By default the one that Debian's package brings. */
  supervisord_config: z.optional(absolutePath),
  drills: z.optional(drills),
});

const site = z.strictObject({
  id,
  server: id,
  name: line(255),
  root: absolutePath,
  /** The account that everything of the site runs as; by default the owner of its folder. */
  user: z.optional(user),
  /** A text is split at its spaces; a list is taken as it is. */
  artisan: z.optional(z.union([line(1024), z.array(line(1024)).check(z.minLength(1))])),
  databases: z.optional(z.array(id)),
});

const database = z.discriminatedUnion("engine", [
  z.strictObject({ id, server: id, name: line(255), engine: z.literal("postgres"), url: secret }),
  z.strictObject({ id, server: id, name: line(255), engine: z.literal("mysql"), url: secret }),
  z.strictObject({
    id,
    server: id,
    name: line(255),
    engine: z.literal("sqlite"),
    path: absolutePath,
    /** The account that works on the file; by default the one of the sites that name the database, or its owner. */
    user: z.optional(user),
  }),
]);

const storageProvider = z.discriminatedUnion("type", [
  z.strictObject({
    id,
    name: line(100),
    type: z.literal("local"),
    path: absolutePath,
    /** Whose disk it is; by default this machine's. */
    server: z.optional(id),
  }),
  z.strictObject({
    id,
    name: line(100),
    type: z.literal("s3"),
    bucket: line(255),
    region: z.optional(line(100)),
    endpoint: z.optional(z.url()),
    access_key: secret,
    secret_key: secret,
  }),
]);

const [slack, discord, email] = channelTypes;
const notificationChannel = z.discriminatedUnion("type", [
  z.strictObject({ id, name: line(100), type: z.literal(slack), webhook: secret }),
  z.strictObject({ id, name: line(100), type: z.literal(discord), webhook: secret }),
  z.strictObject({ id, name: line(100), type: z.literal(email), email: z.email() }),
]);

const listOf = <Entry extends z.ZodMiniType>(entry: Entry) => z._default(z.array(entry), []);

export const inventorySchema = z.strictObject({
  servers: listOf(server),
  sites: listOf(site),
  databases: listOf(database),
  storage_providers: listOf(storageProvider),
  notification_channels: listOf(notificationChannel),
});

export type Inventory = z.infer<typeof inventorySchema>;
export type InventoryKind = keyof Inventory;

/** Who keeps the processes of a server's workers up: over SSH always its supervisord. */
export const keeperOf = ({
  supervisor,
  connection,
}: Pick<Inventory["servers"][number], "supervisor" | "connection">) =>
  supervisor ?? (connection === "local" ? "embedded" : "supervisord");

/** One complaint, with the path of what it is about. */
export type Complaint = { path: (string | number)[]; message: string };

/** What no single entry can know: ids that repeat, and references that lead nowhere. */
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
    const { connection, supervisor, supervisord_config: config } = entry;
    if (connection !== "local" && supervisor === "embedded")
      complaints.push({
        path: ["servers", index, "supervisor"],
        message:
          "On a server over SSH, workers are kept up by its supervisord. Write “supervisor: supervisord”, or leave it out.",
      });
    else if (config !== undefined && keeperOf(entry) !== "supervisord")
      complaints.push({
        path: ["servers", index, "supervisord_config"],
        message: "A supervisord_config is of use with “supervisor: supervisord” only.",
      });
  });
  const remote = new Set(
    inventory.servers.flatMap(({ id, connection }) => (connection === "local" ? [] : [id])),
  );
  // The service's own home is none of theirs.
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

/** The JSON Schema of the file, for editors that complete and check it. */
export const inventoryJsonSchema = () => ({
  title: "Quarterdeck inventory",
  ...z.toJSONSchema(inventorySchema, { io: "input", unrepresentable: "any" }),
});

function isTimeZone(name: string): boolean {
  try {
    return new Intl.DateTimeFormat("en", { timeZone: name }).resolvedOptions().timeZone !== "";
  } catch {
    return false;
  }
}
