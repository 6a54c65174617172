// Schemas of the fields of inventory entries, apart from ids and names.
import * as z from "zod/mini";
import { hasRecipientSum, recipientForm } from "./age-recipient.ts";
import { line, pastedLine, pastedText, storableText } from "../inputs.ts";

export const absolutePath = line(1024).check(
  z.regex(/^[/~]/, { error: "A path must be absolute; it starts with “/” or “~/”." }),
);

/** The file never contains a secret, only a reference to it. */
export const reference = line(1024).check(
  z.regex(/^(?:env:[A-Za-z_]\w*|file:.+)$/, {
    error: "A secret must be “env:NAME” or “file:PATH”.",
  }),
);

export const keyReference = line(1024).check(
  z.regex(/^(?:agent|file:.+)$/, {
    error: "A key must be “file:PATH” of a private key, or “agent”.",
  }),
);

/** Names of the fields of entries, at any depth, that hold a `reference` or `keyReference`. */
export const secretFields: readonly string[] = [
  "url",
  "webhook",
  "access_key",
  "secret_key",
  "config",
  "drill_identity",
  "key",
  "postgres",
  "mysql",
];

const maxSecret = 16_384;

/** A secret that Quarterdeck stores in a separate file next to the inventory. */
export const typedSecret = z.strictObject({
  secret: storableText().check(
    z.minLength(1),
    z.maxLength(maxSecret),
    z.regex(/^[^\r\n]*$/, { error: "A secret is one line." }),
  ),
});

/** The text of a private key, which has several lines. */
export const typedKey = z.strictObject({
  secret: storableText().check(
    z.maxLength(maxSecret),
    z.regex(/^-----BEGIN [A-Z ]*PRIVATE KEY-----\s/, {
      error: "A private key starts with “-----BEGIN … PRIVATE KEY-----”.",
    }),
  ),
});

/** The text of a config file of rclone, which has several lines. */
export const typedConfig = z.strictObject({
  secret: storableText().check(
    z.maxLength(maxSecret),
    z.regex(/^\s*\[[^\]\r\n]+\]\s*\n/, {
      error: "A config file of rclone starts with “[name]” of a remote, on a line of its own.",
    }),
  ),
});

/** Connection strings (“:sftp,host=…:”) are refused, because they would put a password into an argument list. */
export const remote = line(1024).check(
  z.regex(/^[A-Za-z0-9_][A-Za-z0-9_.+@ -]*:/, {
    error: "A remote is a name of rclone's config file, a colon and a path: “box:backups”.",
  }),
);

export const sftpPath = line(1024).check(
  z.regex(/^[^~\s-]/, { error: "A path is absolute, or begins at the folder of the login." }),
);

/** The name of a bucket, or the ARN of an access point, which may contain slashes. */
export const bucket = pastedLine(255).check(
  z.regex(/^(?:arn:\S+|[^\s/]+)$/, {
    error: "A bucket is its name alone. Folders in it are the directories of backups.",
  }),
);

export const endpoint = pastedText().check(
  z.maxLength(2048),
  z.refine((text) => /^https?:$/.test(URL.parse(text)?.protocol ?? ""), {
    error: "An endpoint must be an http or https URL.",
  }),
  // The endpoint is shown in messages, so it must not contain credentials.
  z.refine(
    (text) => {
      const url = URL.parse(text);
      return url === null || (url.username === "" && url.password === "");
    },
    {
      error: "An endpoint has no login in it. Give the key as access_key and secret_key.",
    },
  ),
);

export const timeZone = pastedLine(64).check(
  z.refine((name) => isTimeZone(name), {
    error: "A time zone must be an IANA name such as “Europe/Berlin”.",
  }),
);

/** A name, or the number of an account without a name. */
export const user = pastedText().check(
  z.regex(/^[A-Za-z0-9_][A-Za-z0-9_.@-]{0,63}\$?$/, {
    error: "A user is an account's name on the server.",
  }),
);

/** Public keys of age, https://age-encryption.org/v1: backups are encrypted to all of them. */
export const recipients = z
  .array(
    pastedText().check(
      z.regex(recipientForm, {
        error: "A recipient is a public key of age: “age1” and 58 more characters.",
        abort: true,
      }),
      z.refine(hasRecipientSum, {
        error:
          "The checksum of this public key doesn't match. Copy the line that starts with “age1” again.",
      }),
    ),
  )
  .check(z.minLength(1), z.maxLength(20));

/** Object lock of S3, for at most the hundred years that buckets allow. */
export const objectLock = z.strictObject({
  mode: z.enum(["governance", "compliance"]),
  days: z.int().check(z.gte(1), z.lte(36_500)),
});

/** A string is split at its spaces; a list is used as it is. */
export const command = z.union([line(1024), z.array(line(1024)).check(z.minLength(1))]);

const hookFields = {
  before: z.optional(command),
  after: z.optional(command),
  /** Maximum seconds for each of them; default: 60. */
  timeout: z.optional(z.int().check(z.gte(1), z.lte(3600))),
};

/** Commands that run before and after each backup of a site or a file, as the account of its files. */
export const backupHooks = z.optional(z.strictObject(hookFields));

/** For a database behind a URL. By default they run as the account of the sites that name it. */
export const backupHooksAs = z.optional(z.strictObject({ ...hookFields, user: z.optional(user) }));

/**
 * `server`: the entry stands for all databases of its server, with its roles or accounts; default: only for the
 * database in its URL.
 */
export const scope = z.optional(z.enum(["database", "server"]));

/** For databases without a server. */
export const oneDatabase = z.optional(
  z.literal("database", {
    error: "A SQLite database is a file, and has no server. Add each one as an entry.",
  }),
);

function isTimeZone(name: string): boolean {
  try {
    return new Intl.DateTimeFormat("en", { timeZone: name }).resolvedOptions().timeZone !== "";
  } catch {
    return false;
  }
}
