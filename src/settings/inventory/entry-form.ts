// The values of an entry's form: initial values, and conversion to the request.
import * as z from "zod/mini";
import {
  type FileEntries,
  type InventoryKind,
  type RequestEntries,
  requestEntries,
} from "../../../contract/inventory/entries.ts";
import type { InventoryFile } from "../../../contract/inventory/inventory.ts";

/** Values by field name; a form may have fields of every type of an entry. */
export type EntryValues = Record<string, unknown>;

const loginNames = (login: string): string[] => [
  ...[login, `${login}.jump`].flatMap((hop) =>
    ["host", "port", "user", "key", "key.secret", "host_key"].map((name) => `${hop}.${name}`),
  ),
  `${login}.config`,
];

const hookNames = ["before", "after", "timeout"].map((name) => `backup_hooks.${name}`);

/** All fields of the forms, to assign the service's errors. */
export const fieldNames: Record<InventoryKind, readonly string[]> = {
  servers: [
    "name",
    "time_zone",
    ...loginNames("connection.ssh"),
    "supervisor",
    "supervisord_config",
    ...["server", "user", "postgres", "postgres.secret", "mysql", "mysql.secret"].map(
      (name) => `drills.${name}`,
    ),
  ],
  sites: ["name", "server", "root", "user", "artisan", "databases", ...hookNames],
  databases: [
    "name",
    "server",
    "engine",
    "scope",
    "url",
    "url.secret",
    "path",
    "user",
    ...hookNames,
    "backup_hooks.user",
  ],
  storage_providers: [
    "name",
    "type",
    "path",
    "server",
    "bucket",
    "region",
    "endpoint",
    "access_key",
    "access_key.secret",
    "secret_key",
    "secret_key.secret",
    "lock.mode",
    "lock.days",
    "remote",
    "config",
    "config.secret",
    ...loginNames("ssh"),
    "recipients",
    "drill_identity",
    "drill_identity.secret",
  ],
  notification_channels: ["name", "type", "webhook", "webhook.secret", "email"],
};

const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === "object" && value !== null && !Array.isArray(value);

const pick = (values: EntryValues, ...names: string[]): EntryValues =>
  Object.fromEntries(
    names.flatMap((name) => (values[name] === undefined ? [] : [[name, values[name]]])),
  );

const withoutEmpty = (values: EntryValues): EntryValues =>
  Object.fromEntries(Object.entries(values).filter(([, value]) => value != null && value !== ""));

const objectIn = (values: EntryValues, name: string): EntryValues => {
  const value = values[name];
  return isObject(value) ? withoutEmpty(value) : {};
};

/** Splits a list that is typed line by line. */
const wordsOf = (text: unknown): string[] =>
  typeof text === "string" ? text.split(/[\s,]+/).filter((word) => word !== "") : [];

/** Returns a command as one line; a list whose items have no spaces is the same when split again. */
const commandText = (artisan: FileEntries["sites"]["artisan"]): string =>
  typeof artisan === "string" ? artisan : (artisan ?? []).join(" ");

/** Fields by type of storage. */
const storageFields: Record<string, readonly string[]> = {
  local: ["path", "server"],
  s3: ["bucket", "region", "endpoint", "access_key", "secret_key"],
  rclone: ["remote", "config"],
  sftp: ["path"],
};

/** Without a mode nothing is locked, even if a number of days was entered. */
function lockOf(values: EntryValues): EntryValues {
  const lock = objectIn(values, "lock");
  return values["type"] === "s3" && lock["mode"] !== undefined ? { lock } : {};
}

/** An unchanged list stays a list, as for `artisan`; without a command, the other fields are dropped. */
function hooksOf(values: EntryValues, ...others: string[]): EntryValues {
  const typed = objectIn(values, "backup_hooks");
  const written = objectIn(values, "writtenHooks");
  const commands = Object.entries(pick(typed, "before", "after")).map(([name, text]) => {
    const list = written[name];
    return [name, Array.isArray(list) && list.join(" ") === text ? list : text] as const;
  });
  if (commands.length === 0) return {};
  return {
    backup_hooks: { ...Object.fromEntries(commands), ...pick(typed, ...others, "timeout") },
  };
}

const hookValues = ({ backup_hooks: hooks }: FileEntries["sites" | "databases"]): EntryValues => ({
  backup_hooks: {
    ...hooks,
    before: commandText(hooks?.before),
    after: commandText(hooks?.after),
  },
  writtenHooks: hooks,
});

function loginIn(values: EntryValues, hasJump: unknown): EntryValues {
  const { jump: _, ...direct } = objectIn(values, "ssh");
  return hasJump === true ? { ...direct, jump: objectIn(objectIn(values, "ssh"), "jump") } : direct;
}

const toBody: Record<InventoryKind, (values: EntryValues) => EntryValues> = {
  servers(values) {
    const ssh = loginIn(objectIn(values, "connection"), values["hasJump"]);
    const isSsh = values["place"] === "ssh";
    return {
      ...pick(values, "name", "time_zone", "supervisord_config"),
      ...(values["hasDrills"] === true && { drills: objectIn(values, "drills") }),
      // The field is shown for this machine only.
      ...(isSsh && values["supervisor"] !== "supervisord" ? {} : pick(values, "supervisor")),
      connection: isSsh ? { ssh } : "local",
    };
  },
  sites(values) {
    const { artisan, writtenArtisan: written } = values;
    const databases = Array.isArray(values["databases"]) ? values["databases"] : [];
    // An unchanged list stays a list.
    const isSame = Array.isArray(written) && written.join(" ") === artisan;
    return {
      ...pick(values, "server", "name", "root", "user"),
      ...(isSame ? { artisan: written } : pick(values, "artisan")),
      ...hooksOf(values),
      ...(databases.length > 0 && { databases }),
    };
  },
  databases: (values) =>
    values["engine"] === "sqlite"
      ? { ...pick(values, "server", "name", "engine", "path", "user"), ...hooksOf(values) }
      : // The default scope is not written.
        {
          ...pick(values, "server", "name", "engine", "url"),
          ...(values["scope"] === "server" && { scope: "server" }),
          ...hooksOf(values, "user"),
        },
  storage_providers(values) {
    const recipients = wordsOf(values["recipients"]);
    return {
      ...pick(values, "name", "type", ...(storageFields[String(values["type"])] ?? [])),
      ...lockOf(values),
      ...(values["type"] === "sftp" && { ssh: loginIn(values, values["hasJump"]) }),
      ...(recipients.length > 0 && { recipients, ...pick(values, "drill_identity") }),
    };
  },
  notification_channels: (values) =>
    values["type"] === "email"
      ? pick(values, "name", "type", "email")
      : pick(values, "name", "type", "webhook"),
};

/** Returns the schema that converts the form's values to an entry in a request. */
export const schemaOf = <Kind extends InventoryKind>(kind: Kind) =>
  z.pipe(
    z.transform((values: EntryValues) => withoutEmpty(toBody[kind](values))),
    requestEntries[kind],
    // The result of the pipe is that of the kind's own schema.
  ) as unknown as z.ZodMiniType<RequestEntries[Kind], EntryValues>;

const onlyServer = ({ servers }: InventoryFile): number | undefined =>
  servers.length === 1 ? servers[0]?.id : undefined;

/** Returns the initial values of a new entry, with preselection where there is only one choice. */
export function newValues(kind: InventoryKind, inventory: InventoryFile): EntryValues {
  const server = onlyServer(inventory);
  switch (kind) {
    case "servers":
      return { name: "", place: "ssh", hasJump: false, hasDrills: false, connection: { ssh: {} } };
    case "sites":
      return { name: "", server, root: "", databases: [] };
    case "databases":
      return { name: "", server, engine: "postgres" };
    case "storage_providers":
      return { name: "", type: "local", hasJump: false, ssh: {} };
    case "notification_channels":
      return { name: "", type: "slack" };
  }
}

export function valuesOf(entry: FileEntries[InventoryKind]): EntryValues {
  if ("connection" in entry) {
    const { connection, ...rest } = entry;
    const others = { ...rest, hasDrills: rest.drills !== undefined };
    if (connection === "local")
      return { ...others, place: "local", hasJump: false, connection: { ssh: {} } };
    const { ssh } = connection;
    const hasJump = ssh.jump !== undefined;
    return { ...others, place: "ssh", hasJump, connection: { ssh: { ...ssh } } };
  }
  if ("root" in entry)
    return {
      ...entry,
      artisan: commandText(entry.artisan),
      writtenArtisan: entry.artisan,
      ...hookValues(entry),
    };
  if ("engine" in entry) return { ...entry, ...hookValues(entry) };
  if ("type" in entry && entry.type !== "email" && !("webhook" in entry))
    return {
      ssh: {},
      ...entry,
      hasJump: entry.type === "sftp" && entry.ssh.jump !== undefined,
      recipients: entry.recipients?.join("\n"),
    };
  return { ...entry };
}
