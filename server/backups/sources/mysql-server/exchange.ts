// The steps by which the databases of a backup take the places of those of a server. Each can be done again after a kill.
import { Readable } from "node:stream";
import { quoteName, type MysqlClient } from "../mysql/client.ts";
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
import { leadOf } from "../mysql/scratch.ts";
import { definersOf, inDatabase, withoutDefiners, type Objects } from "../mysql/split.ts";
import { separateViews } from "../mysql/view-order.ts";
import type { Attempt } from "../source.ts";
import type { Member, ServerNames, ServerPlan } from "./plan.ts";

/** Before what lies in a database, as a dump has it. */
const prefixOf = (database: string): string => `${quoteName(database)}.`;

/** Scratch databases of a restore that are there. */
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
  /** @param marked the scratch database without which nothing is to be done any more; null = there is none to ask for */
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

  const allDrops = (database: string, signal: AbortSignal) =>
    dropsOf(client, database, ["TRIGGER", "EVENT", "VIEW", "ROUTINE"], signal);

  /**
   * Gives databases these objects and no others. Views come once all databases have what these may read.
   * @param options `beforeViews`: what is done then, because over a view of an account without rights no other one can be made;
   * `isForced`: what the server refuses is passed over
   * @param marked of which database the marker has to be there
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
      const { before } = separateViews(objects.code);
      const drops = Buffer.from(await allDrops(database, signal));
      const sql = toSql({ ...objects, code: before, events: "" }, database);
      await run([drops, sql], marked, signal, { database, isForced });
    }
    await beforeViews();
    for (const { database, objects, marked } of all) {
      const { views } = separateViews(objects.code);
      if (views === "" && objects.events === "") continue;
      const sql = toSql({ ...objects, code: views }, database);
      await run([sql], marked, signal, { database, isForced });
    }
  }

  /** Whether the tables are in place. */
  async function isDone([first]: readonly Member[], signal: AbortSignal): Promise<boolean> {
    return first !== undefined && (await markerPlace(client, first, signal)) === first.old;
  }

  /** Gives rights to the accounts that were made, and says which could not be given. */
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

    /** Makes the objects of all databases where they are loaded, so that what is wrong with them shows before the server is touched. */
    async rehearse(members: readonly Member[], signal: AbortSignal): Promise<void> {
      const rehearsed = members.map(({ fresh, ...member }) => {
        // The accounts that they run as have no rights there.
        const restored = withoutDefiners(member.restored, definersOf(member.restored));
        // Views read the databases that are loaded beside, too.
        const code = members.reduce((sql, other) => {
          const source = Buffer.from(other.name).toString("latin1");
          return other.fresh === fresh || !sql.includes(prefixOf(source))
            ? sql
            : inDatabase({ ...restored, code: sql, source }, other.fresh);
        }, restored.code);
        // Events must not begin to run.
        return { database: fresh, marked: fresh, objects: { ...restored, code, events: "" } };
      });
      await putObjects(rehearsed, signal);
      for (const { fresh } of members) {
        // With triggers no table can be renamed.
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
          // A view in the place of a table that comes would stop the RENAME; the others stay until it is done.
          makes.push(await dropsInTheWay(client, name, tables, signal));
          moves.push(...(await listTables(client, name, signal)).map(move(name, old)));
        }
        moves.push(...tables.map(move(fresh, name)), move(fresh, old)(markerTable));
      }
      await run(makes.join("") + renameAll(moves), first.fresh, signal);
    },

    /** After the exchange: what it did not carry over. */
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
      for (const { name, keys, old } of members) {
        if (keys.length === 0) continue;
        const sql = addKeys(keys, await listForeignKeys(client, name, signal), name);
        // As a dump is loaded, without a look at the rows: each database is of a moment of its own.
        if (sql !== "") await run(sql, old, signal);
      }
    },

    /** Undoes whatever was done of the exchange. */
    async putBack(members: readonly Member[], signal: AbortSignal): Promise<void> {
      if (await isDone(members, signal)) {
        for (const { name, old } of members) {
          const events = await dropsOf(client, name, ["EVENT"], signal);
          // One that the account may not drop was there before.
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
        // What the account may not drop is still there, so the server may refuse to replace it.
        await putObjects(all, signal, { isForced: true });
        for (const { name, present } of had)
          if (!isSame(present, await listObjects(client, name, signal))) throw error;
      }
      for (const { name, isNew } of members)
        // Somebody else's tables stay.
        if (isNew && (await listTables(client, name, signal)).length === 0)
          await run(`DROP DATABASE IF EXISTS ${quoteName(name)};\n`, null, signal);
    },
  };
}
