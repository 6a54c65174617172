// Writes the whole installation into one archive: rows of one snapshot as COPY text, the inventory, and secrets where they are
// allowed.
import { createHash } from "node:crypto";
import { readFile } from "node:fs/promises";
import { dirname } from "node:path";
import { to as copyTo } from "pg-copy-streams";
import { parseInventory } from "../inventory/file.ts";
import { pathOfReference } from "../inventory/paths.ts";
import { refuseMoved } from "../store/move-mark.ts";
import { explainMoveError } from "../store/move/move-error.ts";
import type { Side } from "../store/move/side.ts";
import {
  checkVersion,
  findTables,
  listOwnTables,
  readSequences,
  type Table,
} from "../store/move/structure.ts";
import { toError } from "../to-error.ts";
import { nameOfPart, names, type ArchiveManifest } from "./archive-manifest.ts";
import { secretReferences } from "./secret-references.ts";
import { SelfBackupError } from "./self-backup-error.ts";
import { partBytes, tarEnd, tarMember, type Member } from "./tar.ts";

type ArchiveOptions = {
  /** From `openSnapshot`. */
  side: Side;
  inventoryFile: string;
  /** Must only be true for an archive that is encrypted before it is stored. */
  withSecrets: boolean;
  madeAt: Date;
  version: string;
};

type Archive = {
  manifest: ArchiveManifest;
  /** Messages about what could not be included. */
  warnings: string[];
  content: AsyncGenerator<Buffer>;
};

/** Replacements of secrets that are left out, by table and column; a restore creates new ones. */
const blanks: Record<string, Record<string, string>> = {
  webhooks: {
    secret: "''",
    previous_secret: "null::text",
    previous_secret_until: "null::timestamptz",
  },
};

/** @throws SelfBackupError, MoveError, InventoryError, DatabaseMoved */
export async function openArchive(options: ArchiveOptions): Promise<Archive> {
  const { side, inventoryFile, withSecrets, madeAt, version } = options;
  if (!(await findTables(side)).includes("pgboss"))
    throw new SelfBackupError(`There is nothing to back up: ${side.place} has no data.`);
  await refuseMoved(side.client);
  const schema = await checkVersion(side, "Back it up");
  const tables = await listOwnTables(side);
  const counted: ArchiveManifest["tables"] = [];
  for (const { name, columns } of tables) {
    const [found] = await side.query<{ rows: string }>(`select count(*) as rows from ${name}`);
    counted.push({ name, columns, rows: Number(found?.rows) });
  }
  const [jobs] = await side.query<{ version: number }>("select version from pgboss.version");
  const files = await readFiles(inventoryFile, withSecrets);
  const manifest: ArchiveManifest = {
    format: "quarterdeck-archive",
    version: 1,
    quarterdeck: version,
    made_at: madeAt.toISOString(),
    schema,
    jobs_schema: Number(jobs?.version),
    tables: counted,
    sequences: await readSequences(side, tables),
    has_inventory: files.inventory !== null,
    has_secrets: withSecrets,
    secret_files: files.secrets.map(({ name, reference }) => ({ name, reference })),
    missing_files: files.missing,
  };
  return { manifest, warnings: files.warnings, content: write(options, manifest, files, tables) };
}

type SecretFile = Member & { reference: string };

type Files = {
  /** Null where there is none. */
  inventory: Buffer | null;
  secrets: SecretFile[];
  missing: string[];
  warnings: string[];
};

async function readFiles(inventoryFile: string, withSecrets: boolean): Promise<Files> {
  const files: Files = { inventory: null, secrets: [], missing: [], warnings: [] };
  try {
    files.inventory = await readFile(inventoryFile);
  } catch (error) {
    if (toError(error).code !== "ENOENT") throw error;
    files.warnings.push(`There is no inventory at ${inventoryFile}, so none is in the backup.`);
    return files;
  }
  let references: string[];
  try {
    const inventory = parseInventory(files.inventory.toString(), inventoryFile);
    references = secretReferences(inventory).files;
  } catch (error) {
    files.warnings.push(
      `The inventory has mistakes, so the files of secrets that it names are not in the backup. ${toError(error).message}`,
    );
    return files;
  }
  for (const [index, reference] of references.entries()) {
    if (!withSecrets) {
      files.missing.push(reference);
      continue;
    }
    const path = pathOfReference(dirname(inventoryFile), reference);
    try {
      const content = await readFile(path);
      files.secrets.push({ name: `secrets/${index + 1}`, reference, content });
    } catch (error) {
      files.missing.push(reference);
      files.warnings.push(
        `The inventory names ${path}, which can't be read (${toError(error).code}), so it is not in the backup.`,
      );
    }
  }
  return files;
}

async function* write(
  { side, madeAt, withSecrets }: ArchiveOptions,
  manifest: ArchiveManifest,
  files: Files,
  tables: readonly Table[],
): AsyncGenerator<Buffer> {
  const sums: string[] = [];
  const add = (member: Member): Buffer => {
    const sum = createHash("sha256").update(member.content).digest("hex");
    sums.push(`${sum}  ${member.name}\n`);
    return tarMember(member, madeAt);
  };
  const text = `${JSON.stringify(manifest, null, 2)}\n`;
  yield add({ name: names.manifest, content: Buffer.from(text) });
  if (files.inventory !== null) yield add({ name: names.inventory, content: files.inventory });
  for (const file of files.secrets) yield add(file);
  for (const table of tables) {
    let part = 1;
    for await (const content of inParts(readTable(side, table, withSecrets))) {
      yield add({ name: nameOfPart(table.name, part), content });
      part += 1;
    }
  }
  yield tarMember({ name: names.checksums, content: Buffer.from(sums.join("")) }, madeAt);
  yield tarEnd();
}

async function* readTable(
  { client, place }: Side,
  { name, columns }: Table,
  withSecrets: boolean,
): AsyncGenerator<Buffer> {
  const blank = withSecrets ? {} : (blanks[name] ?? {});
  const selected = columns
    .split(", ")
    .map((column) => (blank[column] === undefined ? column : `${blank[column]} as ${column}`));
  const statement = `copy (select ${selected.join(", ")} from ${name}) to stdout`;
  try {
    // A stream of bytes, although its types do not say so.
    for await (const chunk of client.query(copyTo(statement))) yield chunk as Buffer;
  } catch (error) {
    throw explainMoveError(error, place, "back up");
  }
}

/** Yields at least one part, so that each table has a file. */
async function* inParts(source: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
  let held: Buffer[] = [];
  let bytes = 0;
  let isFirst = true;
  for await (const chunk of source) {
    held.push(chunk);
    bytes += chunk.length;
    while (bytes >= partBytes) {
      const all = Buffer.concat(held);
      yield all.subarray(0, partBytes);
      isFirst = false;
      held = [all.subarray(partBytes)];
      bytes -= partBytes;
    }
  }
  if (bytes > 0 || isFirst) yield Buffer.concat(held);
}
