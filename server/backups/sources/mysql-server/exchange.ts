// The steps that exchange the databases of a server for those of a backup. Each step can be repeated after a kill.
import { Readable } from "node:stream";
import { clientOf, quoteName, type MysqlClient } from "../mysql/client.ts";
import { isNotAllowed, MysqlError, unreachableCodes } from "../mysql/errors.ts";
import { addKeys, listForeignKeys } from "../mysql/foreign-keys.ts";
import { markerPlace, move, renameAll } from "../mysql/moves.ts";
import {
  dropsInTheWay,
  dropsOf,
  isSame,
  listObjects,
  listTables,
  toSql,
} from "../mysql/objects.ts";
import { markerTable } from "../mysql/plan.ts";
import { grantAgain, replacing } from "../mysql/routines.ts";
import { leadOf } from "../mysql/scratch.ts";
import { definersOf, inDatabase, withoutDefiners, type Objects } from "../mysql/split.ts";
import { separateViews } from "../mysql/view-order.ts";
import type { Attempt } from "../source.ts";
import type { Member, ServerNames, ServerPlan } from "./plan.ts";

/** Returns the qualifier of objects in a database, as a dump has it. */
const prefixOf = (database: string): string => `${quoteName(database)}.`;

/** Lists the scratch databases of a restore that exist. */
export async function listScratch(
  client: MysqlClient,
  { scratchOf }: ServerNames,
  signal: AbortSignal,
): Promise<string[]> {
  const { fresh, old } = scratchOf(0);
  const beginnings = [fresh, old].map((name) => name.slice(0, -1));
  const rows = await client.query(
    "SELECT SCHEMA_NAME FROM information_schema.SCHEMATA WHERE SCHEMA_NAME LIKE 'quarterdeck\\_%'",
    { signal },
  );
  return rows
    .map(([name = ""]) => name)
    .filter((name) =>
      beginnings.some(
        (beginning) => name.startsWith(beginning) && /^[0-9]+$/.test(name.slice(beginning.length)),
      ),
    );
}

export function createExchange(client: MysqlClient, names: ServerNames) {
  /** @param marked the scratch database whose marker has to exist, or the script fails; null = none */
  async function run(
    sql: string | readonly Buffer[],
    marked: string | null,
    signal: AbortSignal,
    { database, isForced = false }: { database?: string; isForced?: boolean } = {},
  ): Promise<void> {
    const pieces = typeof sql === "string" ? [Buffer.from(sql)] : sql;
    const script = Buffer.concat([Buffer.from(leadOf(names, marked)), ...pieces]);
    await client.feed(Readable.from([script]), {
      signal,
      isForced,
      ...(database !== undefined && { database }),
    });
  }

  /**
   * Replaces the objects of databases by the given ones. Views are created last, once all databases have what they may read.
   * @param all `marked`: the database whose marker has to exist; null = none
   * @param options `beforeViews`: runs before the views, because no view can be created over one whose definer lacks privileges;
   *   `isForced`: skips statements that the server refuses
   */
  async function putObjects(
    all: readonly { database: string; objects: Objects; marked: string | null }[],
    signal: AbortSignal,
    {
      beforeViews = async () => undefined,
      isForced = false,
    }: { beforeViews?: () => Promise<void>; isForced?: boolean } = {},
  ): Promise<void> {
    for (const { database, objects, marked } of all) {
      const code = separateViews(objects.code).before;
      const made = await replacing(client, { ...objects, code, events: "" }, signal);
      const kinds = ["TRIGGER", "EVENT", "VIEW", "ROUTINE"] as const;
      const drops = await dropsOf(client, database, kinds, signal, { kept: made.replaced });
      const sql = [Buffer.from(drops), toSql(made.objects, database)];
      await run(sql, marked, signal, { database, isForced });
    }
    await beforeViews();
    for (const { database, objects, marked } of all) {
      const { views } = separateViews(objects.code);
      if (views === "" && objects.events === "") continue;
      const sql = toSql({ ...objects, code: views }, database);
      await run([sql], marked, signal, { database, isForced });
    }
  }

  /** Whether the tables were exchanged. */
  async function isDone([first]: readonly Member[], signal: AbortSignal): Promise<boolean> {
    return first !== undefined && (await markerPlace(client, first, signal)) === first.old;
  }

  /** Grants privileges to the created accounts, and reports those that could not be granted. */
  async function grant(
    grants: readonly string[],
    { say, signal }: Pick<Attempt, "say" | "signal">,
  ): Promise<void> {
    const isRefused = (error: unknown): error is MysqlError =>
      error instanceof MysqlError && error.code !== null && !unreachableCodes.has(error.code);
    try {
      if (grants.length > 0) await run(grants.map((one) => `${one};\n`).join(""), null, signal);
    } catch (error) {
      if (!isRefused(error)) throw error;
      for (const one of grants)
        await run(`${one};\n`, null, signal).catch((refusal: unknown) => {
          if (!isRefused(refusal)) throw refusal;
          say(`Not restored: ${one}. ${refusal.message}`);
        });
    }
  }

  return {
    run,
    isDone,

    /** Creates the objects of all databases in the scratch databases, to find errors before the live databases are changed. */
    async rehearse(members: readonly Member[], signal: AbortSignal): Promise<void> {
      const rehearsed = members.map(({ fresh, ...member }) => {
        // Definers have no privileges there.
        const restored = withoutDefiners(member.restored, definersOf(member.restored));
        // Views may read the other databases of the backup, which are loaded into scratch databases, too.
        const code = members.reduce((sql, other) => {
          const source = Buffer.from(other.name).toString("latin1");
          return other.fresh === fresh || !sql.includes(prefixOf(source))
            ? sql
            : inDatabase({ ...restored, code: sql, source }, other.fresh);
        }, restored.code);
        // Events must not run there.
        return { database: fresh, marked: fresh, objects: { ...restored, code, events: "" } };
      });
      await putObjects(rehearsed, signal);
      for (const { fresh } of members) {
        // A table with triggers cannot be renamed.
        const drops = await dropsOf(client, fresh, ["TRIGGER"], signal);
        if (drops !== "") await run(drops, fresh, signal);
      }
    },

    async swap(members: readonly Member[], signal: AbortSignal): Promise<void> {
      const [first] = members;
      if (first === undefined) return;
      const makes: string[] = [];
      const moves: string[] = [];
      for (const { name, fresh, old, isNew, tables } of members) {
        makes.push(`CREATE DATABASE ${quoteName(old)};\n`);
        if (isNew) makes.push(`CREATE DATABASE ${quoteName(name)};\n`);
        else {
          makes.push(await dropsOf(client, name, ["TRIGGER", "EVENT"], signal));
          // A view with the name of a restored table would make the RENAME fail. The other views stay until that is done.
          makes.push(await dropsInTheWay(client, name, tables, signal));
          moves.push(...(await listTables(client, name, signal)).map(move(name, old)));
        }
        moves.push(...tables.map(move(fresh, name)), move(fresh, old)(markerTable));
      }
      await run(makes.join("") + renameAll(moves), first.fresh, signal);
    },

    /** Creates what the exchange did not move: objects, privileges and foreign keys. */
    async complete(
      { members, grants }: Pick<ServerPlan, "members" | "grants">,
      { say, signal }: Pick<Attempt, "say" | "signal">,
    ): Promise<void> {
      await putObjects(
        members.map(({ name, old, restored }) => ({
          database: name,
          objects: restored,
          marked: old,
        })),
        signal,
        { beforeViews: () => grant(grants, { say, signal }) },
      );
      for (const { name, routineGrants } of members)
        await grantAgain(clientOf(client, name), routineGrants, { say, signal });
      for (const { name, keys, old } of members) {
        if (keys.length === 0) continue;
        const sql = addKeys(keys, await listForeignKeys(client, name, signal), name);
        // Without checking rows, as when a dump is loaded, because each database has a snapshot of its own.
        if (sql !== "") await run(sql, old, signal);
      }
    },

    /** Undoes the exchange, however far it got. */
    async putBack(
      members: readonly Member[],
      { say, signal }: Pick<Attempt, "say" | "signal">,
    ): Promise<void> {
      if (await isDone(members, signal)) {
        for (const { name, old } of members) {
          const events = await dropsOf(client, name, ["EVENT"], signal);
          // An event that the account may not drop existed before.
          await run(events, old, signal).catch((error: unknown) => {
            if (!isNotAllowed(error)) throw error;
          });
        }
        const drops: string[] = [];
        const moves: string[] = [];
        for (const { name, fresh, old, tables } of members) {
          const came = new Set(tables);
          const present = await listTables(client, name, signal);
          const kept = await listTables(client, old, signal);
          drops.push(
            await dropsOf(client, name, ["TRIGGER"], signal),
            await dropsInTheWay(client, name, kept, signal),
          );
          moves.push(
            ...present.filter((table) => came.has(table)).map(move(name, fresh)),
            ...kept.filter((table) => table !== markerTable).map(move(old, name)),
            move(old, fresh)(markerTable),
          );
        }
        await run(drops.join("") + renameAll(moves), members[0]?.old ?? null, signal);
      }
      const had = members.filter(({ isNew }) => !isNew);
      const all = had.map(({ name, before }) => ({
        database: name,
        objects: before,
        marked: null,
      }));
      try {
        await putObjects(all, signal);
      } catch (error) {
        if (!isNotAllowed(error)) throw error;
        // Objects that the account may not drop still exist, so the server may refuse to replace them.
        await putObjects(all, signal, { isForced: true });
        for (const { name, present } of had)
          if (!isSame(present, await listObjects(client, name, signal))) throw error;
      }
      for (const { name, routineGrants } of had)
        await grantAgain(clientOf(client, name), routineGrants, { say, signal });
      for (const { name, isNew } of members)
        // A database with tables of others stays.
        if (isNew && (await listTables(client, name, signal)).length === 0)
          await run(`DROP DATABASE IF EXISTS ${quoteName(name)};\n`, null, signal);
    },
  };
}
