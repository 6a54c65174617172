// Schemas of the inventory's entries, by kind: as stored in the file, and as sent in a request. The two differ only in
// ids and secrets. Unknown keys are errors, because in files written by hand they are typos.
import * as z from "zod/mini";
import { givenName, ownId, pastedLine, pastedText } from "../inputs.ts";
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
  /** Address and port of an SSH server, the user that logs in, and the one host key to accept. */
  const hop = {
    host: pastedText().check(
      z.regex(/^[A-Za-z0-9_:][A-Za-z0-9_.:-]{0,254}$/, {
        error: "A host is a name or an address, without a port.",
      }),
    ),
    /** Default: 22. */
    port: z.optional(z.int().check(z.gte(1), z.lte(65_535))),
    user,
    key,
    host_key: z.optional(
      pastedText().check(
        z.regex(/^SHA256:[A-Za-z0-9+/]{43}$/, {
          error: "A host key is its fingerprint, “SHA256:…”, as “ssh-keygen -l” shows it.",
        }),
      ),
    ),
  };
  const ssh = z.strictObject({
    ...hop,
    /** An additional ssh_config that is read. */
    config: z.optional(absolutePath),
    jump: z.optional(z.strictObject(hop)),
  });

  /** Where restore drills of sources on a server run instead of on that server. */
  const drills = z.strictObject({
    server: z.union([z.literal("local"), ownId], {
      error: "A drill place is the id of a server, or “local” for this machine.",
    }),
    /** The account that owns the files of sites and SQLite databases there; default: the one that commands run as. */
    user: z.optional(user),
    /** URLs of database servers, as reachable from that machine. */
    postgres: z.optional(secret),
    mysql: z.optional(secret),
  });

  /** Backups are encrypted to the recipients. The identity is needed only for drills, to decrypt them. */
  const encryption = { recipients: z.optional(recipients), drill_identity: z.optional(secret) };

  return {
    servers: z.strictObject({
      id,
      name: givenName(100),
      time_zone: z.optional(timeZone),
      connection: z.union([z.literal("local"), z.strictObject({ ssh })], {
        error: "A connection is “local” for this machine, or “{ ssh: { host, user, key } }”.",
      }),
      /** What runs the processes of its workers: this service itself, or the supervisord of the server. */
      supervisor: z.optional(z.enum(["embedded", "supervisord"])),
      /**
       * The configuration of the server's supervisord, whatever runs its workers; default: the one of Debian's package.
       */
      supervisord_config: z.optional(absolutePath),
      drills: z.optional(drills),
    }),

    sites: z.strictObject({
      id,
      server: ownId,
      name: givenName(255),
      root: absolutePath,
      /** The account that everything of the site runs as; default: the owner of its folder. */
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
        /**
         * The account that accesses the file; default: the account of the sites that name the database, or else the
         * file's owner.
         */
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
        /** The server whose disk it is; default: this machine. */
        server: z.optional(ownId),
        ...encryption,
      }),
      z.strictObject({
        id,
        name: givenName(100),
        type: z.literal("s3"),
        bucket,
        region: z.optional(pastedLine(100)),
        endpoint: z.optional(endpoint),
        access_key: secret,
        secret_key: secret,
        /** How long the bucket must refuse to delete each backup; absent = the bucket's own default applies. */
        lock: z.optional(objectLock),
        ...encryption,
      }),
      z.strictObject({
        id,
        name: givenName(100),
        type: z.literal("rclone"),
        remote,
        /** Default: the one of rclone's own account, which is Quarterdeck's. */
        config: z.optional(config),
        ...encryption,
      }),
      z.strictObject({
        id,
        name: givenName(100),
        type: z.literal("sftp"),
        /** A login that needs no shell, on a machine that is not in the inventory. */
        ssh,
        /** The path as the login sees it. */
        path: sftpPath,
        ...encryption,
      }),
    ]),

    notification_channels: z.discriminatedUnion("type", [
      z.strictObject({ id, name: givenName(100), type: z.literal(slack), webhook: secret }),
      z.strictObject({ id, name: givenName(100), type: z.literal(discord), webhook: secret }),
      z.strictObject({
        id,
        name: givenName(100),
        type: z.literal(email),
        email: pastedText().check(z.email()),
      }),
    ]),
  };
}

/** The entries in the file. */
export const fileEntries = entriesWith(ownId, reference, keyReference, reference);

/** The entries in a request: secrets may be typed, and the id is either in the path or chosen by the service. */
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
