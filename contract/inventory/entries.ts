// What an entry of the inventory says, for each kind: as the file has it, and as a request sends it. The two differ in
// their ids and their secrets only. Unknown keys are errors: in what people write, they are typos.
import * as z from "zod/mini";
import { hasRecipientSum, recipientForm } from "./age-recipient.ts";
import { line, ownId, storableText } from "../inputs.ts";
import { channelTypes } from "../notifications/notification.ts";

const absolutePath = line(1024).check(
  z.regex(/^[/~]/, { error: "A path must be absolute; it starts with “/” or “~/”." }),
);

/** A secret never stands in the file, only where to find it. */
const reference = line(1024).check(
  z.regex(/^(?:env:[A-Za-z_]\w*|file:.+)$/, {
    error: "A secret must be “env:NAME” or “file:PATH”.",
  }),
);

const keyReference = line(1024).check(
  z.regex(/^(?:agent|file:.+)$/, {
    error: "A key must be “file:PATH” of a private key, or “agent”.",
  }),
);

const maxSecret = 16_384;

/** One that Quarterdeck stores in a file of its own beside the inventory. */
const typedSecret = z.strictObject({
  secret: storableText().check(
    z.minLength(1),
    z.maxLength(maxSecret),
    z.regex(/^[^\r\n]*$/, { error: "A secret is one line." }),
  ),
});

/** The text of a private key, which has many lines. */
const typedKey = z.strictObject({
  secret: storableText().check(
    z.maxLength(maxSecret),
    z.regex(/^-----BEGIN [A-Z ]*PRIVATE KEY-----\s/, {
      error: "A private key starts with “-----BEGIN … PRIVATE KEY-----”.",
    }),
  ),
});

/** The text of a config file of rclone, which has many lines. */
const typedConfig = z.strictObject({
  secret: storableText().check(
    z.maxLength(maxSecret),
    z.regex(/^\s*\[[^\]\r\n]+\]\s*\n/, {
      error: "A config file of rclone starts with “[name]” of a remote, on a line of its own.",
    }),
  ),
});

/** One that names everything itself (“:sftp,host=…:”) would be an argument with a password in it. */
const remote = line(1024).check(
  z.regex(/^[A-Za-z0-9_][A-Za-z0-9_.+@ -]*:/, {
    error: "A remote is a name of rclone's config file, a colon and a path: “box:backups”.",
  }),
);

const sftpPath = line(1024).check(
  z.regex(/^[^~\s-]/, { error: "A path is absolute, or begins at the folder of the login." }),
);

const endpoint = storableText().check(
  z.maxLength(2048),
  z.refine((text) => /^https?:$/.test(URL.parse(text)?.protocol ?? ""), {
    error: "An endpoint must be an http or https URL.",
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

/** Public keys of age, https://age-encryption.org/v1: what is stored is encrypted to all of them. */
const recipients = z
  .array(
    z.string().check(
      z.regex(recipientForm, {
        error: "A recipient is a public key of age: “age1” and 58 more characters.",
        abort: true,
      }),
      z.refine(hasRecipientSum, {
        error:
          "A character of this public key is wrong, as its checksum says. Copy the line that starts with “age1” again.",
      }),
    ),
  )
  .check(z.minLength(1), z.maxLength(20));

/** Object lock of S3. Buckets lock nothing for longer than a hundred years. */
const objectLock = z.strictObject({
  mode: z.enum(["governance", "compliance"]),
  days: z.int().check(z.gte(1), z.lte(36_500)),
});

/** A text is split at its spaces; a list is taken as it is. */
const command = z.union([line(1024), z.array(line(1024)).check(z.minLength(1))]);

const hookFields = {
  before: z.optional(command),
  after: z.optional(command),
  /** Seconds that each of them may take; by default 60. */
  timeout: z.optional(z.int().check(z.gte(1), z.lte(3600))),
};

/** What runs before and after each backup of what has files, as their account. */
const backupHooks = z.optional(z.strictObject(hookFields));

/** Of a database behind a URL. By default they run as the account of the sites that name it. */
const backupHooksAs = z.optional(z.strictObject({ ...hookFields, user: z.optional(user) }));

/** `server`: the entry stands for all databases of its server, and its roles or accounts; by default for the one in its url. */
const scope = z.optional(z.enum(["database", "server"]));

/** Of what has no server. */
const oneDatabase = z.optional(
  z.literal("database", {
    error: "A SQLite database is a file, and has no server. Add each one as an entry.",
  }),
);

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
      name: line(100),
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
      name: line(255),
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
        name: line(255),
        engine: z.literal("postgres"),
        url: secret,
        scope,
        backup_hooks: backupHooksAs,
      }),
      z.strictObject({
        id,
        server: ownId,
        name: line(255),
        engine: z.literal("mysql"),
        url: secret,
        scope,
        backup_hooks: backupHooksAs,
      }),
      z.strictObject({
        id,
        server: ownId,
        name: line(255),
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
        name: line(100),
        type: z.literal("local"),
        path: absolutePath,
        /** Whose disk it is; by default this machine's. */
        server: z.optional(ownId),
        ...encryption,
      }),
      z.strictObject({
        id,
        name: line(100),
        type: z.literal("s3"),
        bucket: line(255),
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
        name: line(100),
        type: z.literal("rclone"),
        remote,
        /** By default the one of rclone's own account, which is Quarterdeck's. */
        config: z.optional(config),
        ...encryption,
      }),
      z.strictObject({
        id,
        name: line(100),
        type: z.literal("sftp"),
        /** A login that needs no shell, on a machine that is no server here. */
        ssh,
        /** As the login sees it. */
        path: sftpPath,
        ...encryption,
      }),
    ]),

    notification_channels: z.discriminatedUnion("type", [
      z.strictObject({ id, name: line(100), type: z.literal(slack), webhook: secret }),
      z.strictObject({ id, name: line(100), type: z.literal(discord), webhook: secret }),
      z.strictObject({ id, name: line(100), type: z.literal(email), email: z.email() }),
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

function isTimeZone(name: string): boolean {
  try {
    return new Intl.DateTimeFormat("en", { timeZone: name }).resolvedOptions().timeZone !== "";
  } catch {
    return false;
  }
}
