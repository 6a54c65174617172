// What an entry of the inventory says, for each kind: as the file has it, and as a request sends it. The two differ in
// their ids and their secrets only. Unknown keys are errors: in what people write, they are typos.
import * as z from "zod/mini";
import { givenName, line, ownId } from "../inputs.ts";
import { channelTypes } from "../notifications/notification.ts";
import {
  absolutePath,
  backupHooks,
  backupHooksAs,
  bucket,
  command,
  endpoint,
  keyReference,
  objectLock,
  oneDatabase,
  recipients,
  reference,
  remote,
  scope,
  sftpPath,
  timeZone,
  typedConfig,
  typedKey,
  typedSecret,
  user,
} from "./fields.ts";

const [slack, discord, email] = channelTypes;

type Schema = z.ZodMiniType;

function entriesWith<
  Id extends Schema,
  Secret extends Schema,
  Key extends Schema,
  Config extends Schema,
>(id: Id, secret: Secret, key: Key, config: Config) {
  /** Where a server listens for SSH, who logs in, and the one host key that it may have. */
  const hop = {
    host: z.string().check(
      z.regex(/^[A-Za-z0-9_:][A-Za-z0-9_.:-]{0,254}$/, {
        error: "A host is a name or an address, without a port.",
      }),
    ),
    /** By default 22. */
    port: z.optional(z.int().check(z.gte(1), z.lte(65_535))),
    user,
    key,
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
    server: z.union([z.literal("local"), ownId], {
      error: "A drill place is the id of a server, or “local” for this machine.",
    }),
    /** Whose account has the files of sites and SQLite databases there; by default the one that commands run as. */
    user: z.optional(user),
    /** Database servers, as that machine reaches them. */
    postgres: z.optional(secret),
    mysql: z.optional(secret),
  });

  /** What is stored is encrypted to the recipients; what drills decrypt it with is needed by nothing else. */
  const encryption = { recipients: z.optional(recipients), drill_identity: z.optional(secret) };

  return {
    servers: z.strictObject({
      id,
      name: givenName(100),
      time_zone: z.optional(timeZone),
      connection: z.union([z.literal("local"), z.strictObject({ ssh })], {
        error: "A connection is “local” for this machine, or “{ ssh: { host, user, key } }”.",
      }),
      /** What keeps the processes of its workers up: this service itself, or the supervisord of the server. */
      supervisor: z.optional(z.enum(["embedded", "supervisord"])),
      /** Of the supervisord that is on it, whoever keeps its workers up; by default the one that Debian's package brings. */
      supervisord_config: z.optional(absolutePath),
      drills: z.optional(drills),
    }),

    sites: z.strictObject({
      id,
      server: ownId,
      name: givenName(255),
      root: absolutePath,
      /** The account that everything of the site runs as; by default the owner of its folder. */
      user: z.optional(user),
      artisan: z.optional(command),
      backup_hooks: backupHooks,
      databases: z.optional(z.array(ownId)),
    }),

    databases: z.discriminatedUnion("engine", [
      z.strictObject({
        id,
        server: ownId,
        name: givenName(255),
        engine: z.literal("postgres"),
        url: secret,
        scope,
        backup_hooks: backupHooksAs,
      }),
      z.strictObject({
        id,
        server: ownId,
        name: givenName(255),
        engine: z.literal("mysql"),
        url: secret,
        scope,
        backup_hooks: backupHooksAs,
      }),
      z.strictObject({
        id,
        server: ownId,
        name: givenName(255),
        engine: z.literal("sqlite"),
        path: absolutePath,
        scope: oneDatabase,
        /** The account that works on the file; by default the one of the sites that name the database, or its owner. */
        user: z.optional(user),
        backup_hooks: backupHooks,
      }),
    ]),

    storage_providers: z.discriminatedUnion("type", [
      z.strictObject({
        id,
        name: givenName(100),
        type: z.literal("local"),
        path: absolutePath,
        /** Whose disk it is; by default this machine's. */
        server: z.optional(ownId),
        ...encryption,
      }),
      z.strictObject({
        id,
        name: givenName(100),
        type: z.literal("s3"),
        bucket,
        region: z.optional(line(100)),
        endpoint: z.optional(endpoint),
        access_key: secret,
        secret_key: secret,
        /** For how long the bucket is to refuse the deletion of each backup; left out: as it does by itself. */
        lock: z.optional(objectLock),
        ...encryption,
      }),
      z.strictObject({
        id,
        name: givenName(100),
        type: z.literal("rclone"),
        remote,
        /** By default the one of rclone's own account, which is Quarterdeck's. */
        config: z.optional(config),
        ...encryption,
      }),
      z.strictObject({
        id,
        name: givenName(100),
        type: z.literal("sftp"),
        /** A login that needs no shell, on a machine that is no server here. */
        ssh,
        /** As the login sees it. */
        path: sftpPath,
        ...encryption,
      }),
    ]),

    notification_channels: z.discriminatedUnion("type", [
      z.strictObject({ id, name: givenName(100), type: z.literal(slack), webhook: secret }),
      z.strictObject({ id, name: givenName(100), type: z.literal(discord), webhook: secret }),
      z.strictObject({ id, name: givenName(100), type: z.literal(email), email: z.email() }),
    ]),
  };
}

/** As the file has them. */
export const fileEntries = entriesWith(ownId, reference, keyReference, reference);

/** As a request has them: a secret may be typed, and the id is the service's to choose or stands in the path. */
export const requestEntries = entriesWith(
  z.optional(ownId),
  z.union([reference, typedSecret], {
    error: "A secret must be “env:NAME”, “file:PATH” or “{ secret: … }”.",
  }),
  z.union([keyReference, typedKey], {
    error: "A key must be “file:PATH” of a private key, “agent” or “{ secret: … }”.",
  }),
  z.union([reference, typedConfig], {
    error: "A config must be “file:PATH”, “env:NAME” or “{ secret: … }”.",
  }),
);

export const inventoryKinds = [
  "servers",
  "sites",
  "databases",
  "storage_providers",
  "notification_channels",
] as const;
export type InventoryKind = (typeof inventoryKinds)[number];

export type FileEntries = { [Kind in InventoryKind]: z.input<(typeof fileEntries)[Kind]> };
export type RequestEntries = { [Kind in InventoryKind]: z.input<(typeof requestEntries)[Kind]> };
