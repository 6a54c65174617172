// The mark that a move between databases leaves in each of them: a row of the settings, which is not moved along.
import type pg from "pg";
import { commandLine } from "../program-name.ts";

/** One end of a move. Both ends have the same id. */
export type MoveMark = {
  id: string;
  /**
   * `leaving`: everything was copied, and only the other database can say whether it was committed there. `left`: it was
   * committed, so nothing may be changed here any more. `arrived`: this is the target of the move.
   */
  state: "leaving" | "left" | "arrived";
  /** The other end, for messages, without a secret. */
  place: string;
  /** Whether the other end is an embedded database. */
  isEmbedded: boolean;
  /** Time of the mark in ISO 8601. */
  at: string;
};

const key = "move";

/** Quarterdeck was started on a database that was moved away. The message says where to, and what to do. */
export class DatabaseMoved extends Error {
  override name = "DatabaseMoved";
}

/** @returns null where no move was made, or where the database has no settings table */
export async function readMoveMark(client: pg.ClientBase): Promise<MoveMark | null> {
  const { rows: found } = await client.query<{ is_there: boolean }>(
    "select to_regclass('public.settings') is not null as is_there",
  );
  if (found[0]?.is_there !== true) return null;
  const { rows } = await client.query<{ value: string }>(
    "select value from public.settings where key = $1",
    [key],
  );
  if (rows[0] === undefined) return null;
  const mark: MoveMark = JSON.parse(rows[0].value);
  return mark;
}

/** Replaces the mark; null removes it. */
export async function writeMoveMark(client: pg.ClientBase, mark: MoveMark | null): Promise<void> {
  if (mark === null) await client.query("delete from public.settings where key = $1", [key]);
  else
    await client.query(
      "insert into public.settings (key, value) values ($1, $2) on conflict (key) do update set value = excluded.value",
      [key, JSON.stringify(mark)],
    );
}

const stay = `To use this database again without what has changed in the other one, run \`${commandLine("cancel-move")}\` and never start Quarterdeck on the other one.`;

/** @throws DatabaseMoved where the data was moved away, or may have been */
export async function refuseMoved(client: pg.ClientBase): Promise<void> {
  const mark = await readMoveMark(client);
  if (mark === null || mark.state === "arrived") return;
  const { state, place, isEmbedded, at } = mark;
  if (state === "leaving")
    throw new DatabaseMoved(
      `A move of this database to ${place} was interrupted at its end, at ${at}. Run the same move-database command again: it finishes the move. ${stay}`,
    );
  const start = isEmbedded ? "without DATABASE_URL" : "with DATABASE_URL set to that database";
  const back = isEmbedded
    ? `\`${commandLine("move-database")}\` with this database's URL and without DATABASE_URL`
    : `\`${commandLine("move-database embedded")}\` with DATABASE_URL set`;
  throw new DatabaseMoved(
    `The data of this database was moved to ${place} at ${at}. Start Quarterdeck ${start}. To move the data back, run ${back}. ${stay}`,
  );
}
