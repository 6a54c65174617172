// Replaces the content of a database by an archive, in one transaction that drops the content and runs the archive's SQL.
import type { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import type { Host } from "../../../hosts/host.ts";
import { openArchive } from "./archive.ts";
import { tellMember } from "./extension-members.ts";
import { leavesPublic, listFor, readRights } from "./rights.ts";
import { serverVersion, withClient, type Target } from "./connection.ts";
import { prologue, ownSearchPath } from "./prologue.ts";
import { tellNames } from "./privileges.ts";
import { givingProperties } from "./properties.ts";
import { howToMakeTemplate } from "./restorable.ts";
import { type Backup, runScript } from "./run-script.ts";
import { subscriptionsIn } from "./subscriptions.ts";
import { findTools, type Installations } from "./tools.ts";
import { carryingLevel } from "../compress-there.ts";
import { compressHere } from "../../pipeline/packing.ts";
import { SourceError, type Attempt } from "../source.ts";

/** How long a restore waits by default for the locks of a session that uses the database. */
export const defaultLockWaitMs = 30_000;

type RestoreArchiveOptions = {
  lockWaitMs?: number;
  /**
   * Restores the archive without its rows first, so that the prologue has to drop the same objects as in the original database:
   * an object that it leaves makes the second restore fail.
   */
  isRehearsal?: boolean;
  /** Leaves out owners and privileges, because the server may lack the roles that the archive names. */
  isWithoutRoles?: boolean;
  /** Statements for a database that was created for the restore, see `readProperties`. */
  properties?: readonly string[];
};

type Opening = {
  /** The machine that runs the tools. */
  host: Host;
  /** Whether the archive is compressed by zstd. */
  isPacked: boolean;
  /** Whether the caller reads the archive's stream, too, so that it must not be compressed for the transfer. */
  isReadHere?: boolean;
};

/**
 * @param installations of the machine that runs the tools; absent = they are looked up
 * @throws SourceError where the machine lacks the tools or `from` is not an archive; or the error of `from`
 */
export async function openBackup(
  { host, isPacked, isReadHere = false }: Opening,
  from: Readable,
  signal: AbortSignal,
  installations?: Installations,
): Promise<Backup> {
  // The newest reads the archives of all others.
  const found = installations ?? (await findTools(host, signal));
  const [tools] = found.tools;
  const isSqlPacked = host.isRemote && found.hasZstd;
  const isPackedHere = isSqlPacked && !isPacked && !isReadHere;
  const content = isPackedHere ? packed(from) : from;
  const running = { host, isPacked: isPacked || isPackedHere, isSqlPacked };
  return { tools, archive: await openArchive(running, tools, content, signal) };
}

/** How to restore by hand where rows of a backup violate the backup's own constraints, by PostgreSQL's message. */
const byHand: readonly (readonly [RegExp, string])[] = [
  [
    / violates foreign key constraint |could not create (?:unique index|exclusion constraint) /,
    "pg_restore leaves out the constraint and restores the rest",
  ],
  [
    / violates check constraint /,
    "pg_restore --section=pre-data makes the tables; once the constraint is dropped, --section=data and --section=post-data restore the rest",
  ],
];

/**
 * @param applicationName names the session, so that it can be found and ended
 * @throws SourceError, `from`'s error, or the signal's reason; the database is as it was, unless an abort came after the commit
 */
export async function restoreArchive(
  host: Host,
  target: Target,
  applicationName: string,
  backup: Backup,
  attempt: Attempt,
  {
    lockWaitMs = defaultLockWaitMs,
    isRehearsal = false,
    isWithoutRoles = false,
    properties = [],
  }: RestoreArchiveOptions = {},
): Promise<void> {
  const { archive } = backup;
  const { signal } = attempt;
  let left: readonly string[] = [];
  try {
    const server = await withClient(target, { applicationName, signal }, async (client) => {
      const rights = await readRights(client, archive);
      return { rights, version: await serverVersion(client) };
    });
    const { beyond } = server.rights;
    left = beyond;
    if (beyond.length > 0)
      attempt.say(
        `Warning: left out, because only a superuser may create it: the extension ${tellNames(beyond)}.`,
      );
    const members = server.rights.members
      .filter(({ kind }) => !isWithoutRoles || kind !== "ACL")
      .map(tellMember);
    if (members.length > 0)
      attempt.say(
        `Warning: left out, because they are part of an extension that the account may not change: ${tellNames(members)}.`,
      );
    if (!isWithoutRoles && leavesPublic(archive.contents, server.rights, server.version))
      attempt.say(
        "Warning: left as they are, because the account may not change them: the owner and privileges of the schema public.",
      );
    const subscriptions = subscriptionsIn(archive.contents);
    if (subscriptions.length > 0 && !isRehearsal)
      attempt.say(
        `Left out, because it would begin to replicate: the subscription ${tellNames(subscriptions)}.`,
      );
    const start =
      prologue(archive.dumpMajor < 15, lockWaitMs) +
      givingProperties(properties) +
      `select ${ownSearchPath(properties.length > 0)};\n`;
    const list = listFor(archive.contents, server.rights);
    const without = isWithoutRoles ? ["--no-owner", "--no-privileges"] : [];
    const restore = (input: Readable, say: Attempt["say"], more: string[] = []) =>
      runScript(
        { host, backup, target, applicationName, lockWaitMs, isRehearsal },
        { start, input, list, more: [...without, ...more], serverMajor: server.version.major },
        { say, signal },
      );
    // Without messages, because the same ones come again with the rows.
    if (isRehearsal) await restore(archive.openHead(), () => undefined, ["--schema-only"]);
    await restore(archive.stream, attempt.say);
  } catch (error) {
    signal.throwIfAborted();
    if (!(error instanceof SourceError)) throw error;
    const cure = byHand.find(([said]) => said.test(error.message))?.[1];
    if (cure !== undefined)
      throw new SourceError(
        `${error.message} The rows were so when the backup was made. Download it, and restore by hand: ${cure}.`,
        { cause: error },
      );
    if (left.length > 0 && isRehearsal)
      throw new SourceError(
        `${error.message} The extension ${tellNames(left)} was left out, because only a superuser may create it. ${howToMakeTemplate(left)}`,
        { cause: error },
      );
    throw error;
  }
}

/** Compresses content for the transfer to another machine. */
function packed(content: Readable): Readable {
  const { into, out } = compressHere(carryingLevel);
  // The reader of the stream gets the error.
  pipeline(content, into).catch(() => undefined);
  return out.once("close", () => into.destroy());
}
