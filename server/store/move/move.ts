// Moves everything from one database to another, completely or not at all.
import { randomUUID } from "node:crypto";
import { toError } from "../../to-error.ts";
import { readMoveMark, writeMoveMark, type MoveMark } from "../move-mark.ts";
import { copyTable, summarize } from "./copy.ts";
import { explainMoveError, MoveError } from "./move-error.ts";
import { claimSide, isSameDatabase, openSide, type Side, type SideOptions } from "./side.ts";
import {
  checkVersion,
  compareTables,
  dropTables,
  findTables,
  makeTables,
  readSequences,
  setSequences,
  type Table,
} from "./structure.ts";

export type Progress = {
  /** Called when both ends are ready. */
  onStart(source: string, target: string): void;
  /** Called with the number of bytes of a table that were copied so far. */
  onBytes(table: string, bytes: number): void;
  onTable(table: string, rows: number, bytes: number, ms: number): void;
  /** Called when all rows are copied; the checks that follow take time too. */
  onCheck(tables: number): void;
};

/** Whether this run moved everything, or found that an earlier one had. */
type Outcome = "moved" | "finished";

/**
 * Copies tables, rows and keys in one transaction of the target. The source is marked as `leaving` just before its commit, and as
 * `left` right after it, so that Quarterdeck can never start on both databases. Running the move again completes one that was
 * killed at any point.
 * @throws MoveError
 */
export async function moveDatabase(
  from: SideOptions,
  to: SideOptions,
  progress: Progress,
): Promise<Outcome> {
  const source = await openSide(from);
  try {
    const target = await openSide(to);
    try {
      if (await isSameDatabase(source, target))
        throw new MoveError(
          `Source and target are the same: ${source.place}. DATABASE_URL names the database to move from; without it, that is the embedded one.`,
        );
      await claimSide(source);
      await claimSide(target);
      return await moveBetween(source, target, progress).catch((error: unknown) => {
        throw explainMoveError(error, `${source.place} or ${target.place}`);
      });
    } finally {
      await target.close();
    }
  } finally {
    await source.close();
  }
}

async function moveBetween(source: Side, target: Side, progress: Progress): Promise<Outcome> {
  if ((await findTables(source)).length === 0)
    throw new MoveError(`There is nothing to move: ${source.place} has no data of Quarterdeck.`);
  const marks = {
    source: await readMoveMark(source.client),
    target: await readMoveMark(target.client),
  };
  if (hasArrived(marks)) {
    await leave(source, target, marks.source.id);
    return "finished";
  }
  refuseLeft(source, target, marks.source);
  await checkVersion(source);
  const isReplaced = await mayReplace(source, target, marks);

  progress.onStart(source.place, target.place);
  await source.query("begin isolation level repeatable read");
  await target.query("begin");
  if (isReplaced) await dropTables(target);
  const { tables, complete } = await makeTables(target);
  await compareTables(source, target, tables);
  // Creating the tables stored one row, which the source's row replaces.
  await target.query("delete from pgboss.version");
  for (const table of tables) {
    const startMs = performance.now();
    const { rows, bytes } = await copyTable(source, target, table, (bytes) =>
      progress.onBytes(table.name, bytes),
    );
    progress.onTable(table.name, rows, bytes, performance.now() - startMs);
  }
  await setSequences(target, await readSequences(source, tables));
  progress.onCheck(tables.length);
  await complete();
  for (const table of tables) await compareRows(source, target, table);
  await target.query("set constraints all immediate");
  for (const { name } of tables) await target.query(`analyze ${name}`);

  const id = randomUUID();
  await writeMoveMark(target.client, mark(id, "arrived", source));
  await writeMoveMark(source.client, mark(id, "leaving", target));
  await source.query("commit");
  await commitTarget(target);
  await leave(source, target, id);
  return "moved";
}

type Marks = { source: MoveMark | null; target: MoveMark | null };

const mark = (id: string, state: MoveMark["state"], { place, isEmbedded }: Side): MoveMark => ({
  id,
  state,
  place,
  isEmbedded,
  at: new Date().toISOString(),
});

/** Commits. A commit whose response is lost may have succeeded. */
async function commitTarget({ query, place }: Side): Promise<void> {
  try {
    await query("commit");
  } catch (error) {
    throw new MoveError(
      `${toError(error).message} Whether ${place} has everything is not known yet. Run the same command again before you start Quarterdeck: it finds out, and finishes the move or makes it again.`,
      { cause: error },
    );
  }
}

async function leave(source: Side, target: Side, id: string): Promise<void> {
  try {
    await writeMoveMark(source.client, mark(id, "left", target));
  } catch (error) {
    throw new MoveError(
      `Everything is in ${target.place}, but ${source.place} could not be told: ${toError(error).message}. Run the same command again.`,
      { cause: error },
    );
  }
}

/** Whether the target has committed the data that the source was leaving, so that at most the source's mark is outdated. */
const hasArrived = (marks: Marks): marks is { source: MoveMark; target: MoveMark } =>
  marks.source !== null &&
  marks.source.state !== "arrived" &&
  marks.target?.state === "arrived" &&
  marks.target.id === marks.source.id;

function refuseLeft(source: Side, target: Side, mark: MoveMark | null): void {
  if (mark?.state === "left")
    throw new MoveError(
      `The data of ${source.place} was moved to ${mark.place} at ${mark.at}. Move it from there: ${mark.isEmbedded ? "unset DATABASE_URL" : "set DATABASE_URL to that database"}. To use this database again without what has changed in the other one, run cancel-move first.`,
    );
  if (mark?.state === "leaving" && mark.place !== target.place)
    throw new MoveError(
      `A move of ${source.place} to ${mark.place} was interrupted at its end. Run that one again: it finishes the move. To move elsewhere, run cancel-move first, and never start Quarterdeck on ${mark.place}.`,
    );
}

/**
 * Whether the target holds data that was moved away from it, which the move may replace.
 * @throws MoveError it holds anything else
 */
async function mayReplace(source: Side, target: Side, marks: Marks): Promise<boolean> {
  const found = await findTables(target);
  if (found.length === 0) return false;
  const installations = await Promise.all(
    [source, target].map(async ({ query }) =>
      found.includes("public.settings")
        ? await query("select value from public.settings where key = 'installation'")
        : [],
    ),
  );
  const isOwn =
    installations[0]?.[0] !== undefined &&
    JSON.stringify(installations[0]) === JSON.stringify(installations[1]);
  const isLeft =
    marks.target?.state === "left" ||
    (marks.target?.state === "leaving" && marks.target.id === marks.source?.id);
  if (isOwn && isLeft) return true;
  const cure = target.isEmbedded
    ? "Move that folder away"
    : "Move to an empty database, or drop this one and create it again";
  throw new MoveError(
    `Couldn't move to ${target.place}: it is not empty, but has ${found.slice(0, 3).join(", ")}${found.length > 3 ? ` and ${found.length - 3} more tables` : ""} of another Quarterdeck or another program. Nothing was changed. ${cure}.`,
  );
}

async function compareRows(source: Side, target: Side, table: Table): Promise<void> {
  const [stored, moved] = await Promise.all([summarize(source, table), summarize(target, table)]);
  if (JSON.stringify(stored) !== JSON.stringify(moved))
    throw new MoveError(
      `Table ${table.name} is not the same in both databases: ${stored?.rows} rows with checksum ${stored?.checksum} in ${source.place}, ${moved?.rows} with ${moved?.checksum} in ${target.place}. The move was undone. Run the same command again; if that happens again, check the source's disk.`,
    );
}

/**
 * Lets Quarterdeck start again on a database that was moved away.
 * @returns its name and that of the other database; `other` is null where it was not moved away
 * @throws MoveError
 */
export async function cancelMove(
  on: SideOptions,
): Promise<{ place: string; other: string | null }> {
  const side = await openSide(on);
  try {
    await claimSide(side);
    const mark = await readMoveMark(side.client);
    if (mark === null || mark.state === "arrived") return { place: side.place, other: null };
    await writeMoveMark(side.client, null);
    return { place: side.place, other: mark.place };
  } finally {
    await side.close();
  }
}
