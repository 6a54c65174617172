// Loads an archive into an empty database, in a transaction that the caller commits after everything was read and its checksums
// verified.
import { createHash } from "node:crypto";
import { finished } from "node:stream/promises";
import { from as copyFrom } from "pg-copy-streams";
import { jobsSchema } from "../store/schema-version.ts";
import { explainMoveError, MoveError } from "../store/move/move-error.ts";
import { claimSide, type Side } from "../store/move/side.ts";
import { findTables, makeTables, newestMigration, setSequences } from "../store/move/structure.ts";
import {
  archiveManifestSchema,
  names,
  nameOfPart,
  type ArchiveManifest,
} from "./archive-manifest.ts";
import { SelfBackupError } from "./self-backup-error.ts";
import { toError } from "../to-error.ts";
import { readTar, type Member } from "./tar.ts";

export type Loaded = {
  manifest: ArchiveManifest;
  /** Null where the archive has none. */
  inventory: Buffer | null;
  /** By their references in the inventory. */
  secrets: ReadonlyMap<string, Buffer>;
  /** Ids of webhooks that were paused, because their signing secrets are not in the archive. */
  pausedWebhooks: number[];
};

/**
 * @param side from `openSide`; its open transaction contains everything when this resolves
 * @throws SelfBackupError, MoveError
 */
export async function loadArchive(content: AsyncIterable<Uint8Array>, side: Side): Promise<Loaded> {
  try {
    return await load(content, side);
  } catch (error) {
    // Text that PostgreSQL rejects as a row was not written by PostgreSQL.
    const { code } = toError(error instanceof MoveError ? error.cause : error);
    if (/^2[23]/.test(code ?? "")) throw damaged(toError(error).message);
    throw error;
  }
}

async function load(content: AsyncIterable<Uint8Array>, side: Side): Promise<Loaded> {
  const members = checked(readTar(content));
  const first = await members.next();
  const manifest = readManifest(first.done === true ? null : first.value);
  refuseOther(manifest, side);
  await claimSide(side);
  if ((await findTables(side)).length > 0)
    throw new SelfBackupError(
      `Couldn't restore into ${side.place}: it is not empty. Nothing was changed. Restore into an empty one.`,
    );
  await side.query("begin");
  const { tables, complete } = await makeTables(side, manifest.schema);
  const expected = new Map(tables.map(({ name, columns }) => [name, columns]));
  const other = manifest.tables.filter(({ name, columns }) => expected.get(name) !== columns);
  if (other.length > 0 || manifest.tables.length !== tables.length)
    throw damaged(`its tables are not those of version ${manifest.quarterdeck}`);
  await side.query("delete from pgboss.version");

  let inventory: Buffer | null = null;
  const secrets = new Map<string, Buffer>();
  const references = new Map(manifest.secret_files.map(({ name, reference }) => [name, reference]));
  let member = await members.next();
  for (
    ;
    member.done !== true && !member.value.name.startsWith("tables/");
    member = await members.next()
  ) {
    const { name, content: bytes } = member.value;
    const reference = references.get(name);
    if (name === names.inventory) inventory = bytes;
    else if (reference !== undefined) secrets.set(reference, bytes);
    else throw damaged(`it has ${name}, which its manifest does not name`);
  }
  if (secrets.size !== references.size || (inventory !== null) !== manifest.has_inventory)
    throw damaged("files are missing");

  for (const table of manifest.tables) {
    const into = side.client.query(copyFrom(`copy ${table.name} (${table.columns}) from stdin`));
    // Awaited at once, so that a failure while nothing is written is not an unhandled rejection.
    const done = finished(into).then(
      () => null,
      (error: unknown) => error,
    );
    let part = 1;
    while (member.done !== true && member.value.name === nameOfPart(table.name, part)) {
      if (!into.write(member.value.content))
        await Promise.race([new Promise((resolve) => into.once("drain", resolve)), done]);
      part += 1;
      member = await members.next().catch((error: unknown) => {
        into.destroy();
        throw error;
      });
    }
    into.end();
    const failure = await done;
    if (failure !== null) throw explainMoveError(failure, side.place, "restore");
    if (into.rowCount !== table.rows)
      throw damaged(`${table.name} has ${into.rowCount} rows instead of ${table.rows}`);
  }
  if (member.done !== true) throw damaged(`${member.value.name} is not where it belongs`);
  await setSequences(side, manifest.sequences);
  await complete();
  const pausedWebhooks = await settle(side);
  for (const { name } of tables) await side.query(`analyze ${name}`);
  return { manifest, inventory, secrets, pausedWebhooks };
}

/** Passes on all members but the list of checksums, which has to be the last one, and to match each of them. */
async function* checked(members: AsyncIterable<Member>): AsyncGenerator<Member> {
  let sums = "";
  let told: string | null = null;
  for await (const member of members) {
    if (told !== null) throw damaged(`${member.name} is behind its end`);
    if (member.name === names.checksums) told = member.content.toString();
    else {
      sums += `${createHash("sha256").update(member.content).digest("hex")}  ${member.name}\n`;
      yield member;
    }
  }
  if (told !== sums) throw damaged("checksums do not match");
}

function readManifest(member: Member | null): ArchiveManifest {
  let content: unknown = null;
  try {
    if (member?.name === names.manifest) content = JSON.parse(member.content.toString());
  } catch {
    // The archive was not written by Quarterdeck.
  }
  const parsed = archiveManifestSchema.safeParse(content);
  if (!parsed.success)
    throw new SelfBackupError(
      "This is no backup of Quarterdeck itself, or one of a newer version, or a damaged one.",
    );
  return parsed.data;
}

const damaged = (why: string) =>
  new SelfBackupError(
    `The archive is damaged: ${why.replace(/\.$/, "")}. Nothing was restored. Use another one.`,
  );

/** @throws SelfBackupError when this version cannot create the archive's database */
function refuseOther(manifest: ArchiveManifest, side: Side): void {
  if (manifest.schema > newestMigration())
    throw new SelfBackupError(
      `Quarterdeck ${manifest.quarterdeck} made this archive, which is newer than this one. Restore it with that version or a newer one.`,
    );
  if (manifest.jobs_schema !== jobsSchema)
    throw new SelfBackupError(
      `The job engine of this version has another schema (${jobsSchema}) than the archive (${manifest.jobs_schema}). Restore it with Quarterdeck ${manifest.quarterdeck}, then upgrade. Nothing was changed in ${side.place}.`,
    );
}

/**
 * Removes what only applied to the old machine: live instances, leases of servers, rate limits, a move.
 * @returns ids of the webhooks that are paused now, because their signing secrets are unknown
 */
async function settle({ query }: Side): Promise<number[]> {
  await query("delete from instances");
  await query("delete from rate_limits");
  await query("update server_leases set instance_id = null, home = null");
  // `first_home`: the machine of the restore becomes the installation's first one.
  await query("delete from settings where key in ('move', 'first_home', 'restored')");
  const paused = await query<{ id: number }>(
    `update webhooks set paused_at = coalesce(paused_at, now()),
       secret = 'whsec_' || encode(uuid_send(gen_random_uuid()) || uuid_send(gen_random_uuid()), 'base64')
     where secret = '' returning id`,
  );
  return paused.map(({ id }) => id).sort((one, other) => one - other);
}
