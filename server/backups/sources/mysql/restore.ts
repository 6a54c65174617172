// Restores a dump: loads it into a scratch database, then exchanges all tables in one RENAME, which is atomic. What RENAME cannot
// move is created again afterwards. Until that is done the old tables stay, so that each step can be undone.
import { Readable } from "node:stream";
import { quoteName } from "./client.ts";
import {
  addKeys,
  dropKeys,
  listForeignKeys,
  tellForeignReferences,
  type ForeignKey,
} from "./foreign-keys.ts";
import type { DumpOptions } from "./dump.ts";
import { codes, isNotAllowed, MysqlError } from "./errors.ts";
import { dropBoth, refuseHiddenReferences } from "./hidden-references.ts";
import { loadScratch, tryLocks } from "./load.ts";
import {
  dropsInTheWay,
  dropsOf,
  listBrokenViews,
  isSame,
  listObjects,
  listTables,
  readObjects,
  settableDefiners,
  toSql,
} from "./objects.ts";
import { markerPlace, move, renameAll, sequenceDefaults } from "./moves.ts";
import { loadPart } from "./part.ts";
import {
  markerTable,
  readPlan,
  removePlan,
  writePlan,
  type Names,
  type Part,
  type Plan,
  undone,
  type Undone,
} from "./plan.ts";
import { checkPrivileges } from "./privileges.ts";
import { dropSuspects, refuseProtected } from "./protected.ts";
import { cleanUndone, orderLimitMs, putInOrder } from "./put-in-order.ts";
import { grantAgain, readRoutineGrants, replacing } from "./routines.ts";
import { dropScratch, endSessions, leadOf, refuseHidden } from "./scratch.ts";
import type { Objects } from "./split.ts";
import { listNames } from "./list-names.ts";
import { SourceError, type Attempt, type Manifest, type Source } from "../source.ts";

type Telling = Pick<Attempt, "say" | "signal">;

/** @param wanted the only tables to restore; null = everything */
export function createMysqlRestore(
  options: DumpOptions,
  names: Names,
  wanted: readonly string[] | null = null,
) {
  const { client } = options;
  const target = client.place.database;
  const { fresh, old } = names;
  /** Replaces the target's objects or, for single tables, their triggers, by the given ones. Can be repeated. */
  async function putObjects(
    objects: Objects,
    { tables, part }: Pick<Plan, "tables" | "part">,
    marked: string | null,
    signal: AbortSignal,
    { isForced = false } = {},
  ) {
    const { objects: made, replaced: kept } = await replacing(client, objects, signal);
    const drops =
      part === undefined
        ? // Triggers last: MySQL may refuse to drop the others where they run as an administrator, and no trigger must be lost then.
          await dropsOf(client, target, ["EVENT", "VIEW", "ROUTINE", "TRIGGER"], signal, { kept })
        : await dropsOf(client, target, ["TRIGGER"], signal, { tables });
    const sql = [Buffer.from(leadOf(names, marked) + drops), toSql(made, target)];
    await client.feed(Readable.from([Buffer.concat(sql)]), { database: target, signal, isForced });
  }

  /** Restores the target's own objects. Ignores refusals where all objects are the same as before, because they were never dropped. */
  async function putBack(plan: Plan, signal: AbortSignal): Promise<void> {
    try {
      await putObjects(plan.before, plan, null, signal);
    } catch (error) {
      if (!isNotAllowed(error)) throw error;
      await putObjects(plan.before, plan, null, signal, { isForced: true });
      if (!isSame(plan.present, await listObjects(client, target, signal))) throw error;
    }
  }

  async function refuseForeignReferences(signal: AbortSignal): Promise<void> {
    const reason = await tellForeignReferences(client, target, signal);
    if (reason !== null) throw new SourceError(reason);
    await refuseHiddenReferences(client, await listTables(client, target, signal), signal);
  }

  async function swap(plan: Plan, signal: AbortSignal): Promise<void> {
    const { part } = plan;
    const present = part?.existing ?? (await listTables(client, target, signal));
    // The other views stay until the tables are exchanged.
    const inTheWay =
      part === undefined ? await dropsInTheWay(client, target, plan.tables, signal) : "";
    const drops =
      part === undefined
        ? await dropsOf(client, target, ["EVENT", "TRIGGER"], signal)
        : dropKeys(part.children, part.children, target) +
          (await dropsOf(client, target, ["TRIGGER"], signal, { tables: plan.tables }));
    const moves = [
      ...present.map(move(target, old)),
      ...plan.tables.map(move(fresh, target)),
      move(fresh, old)(markerTable),
    ];
    const script = `${leadOf(names, fresh)}CREATE DATABASE ${quoteName(old)};\n${inTheWay}${drops}${renameAll(moves)}`;
    await client.feed(Readable.from([Buffer.from(script)]), { signal });
  }

  /** Adds the foreign keys of single tables, and checks the rows against each. Can be repeated. */
  async function putKeys({ own, children }: Part, signal: AbortSignal): Promise<void> {
    const there = await listForeignKeys(client, target, signal);
    const sql = addKeys([...own, ...children], there, target);
    if (sql === "") return;
    const script = `${leadOf(names, old)}SET SESSION foreign_key_checks=1;\n${sql}`;
    try {
      await client.feed(Readable.from([Buffer.from(script)]), { signal });
    } catch (error) {
      if (!(error instanceof MysqlError) || error.code !== codes.noSuchParent) throw error;
      throw new SourceError(
        `The restore is undone, because rows would refer to rows that are not there: ${error.message} Restore the tables that belong together.`,
        { cause: error },
      );
    }
  }

  /** Adds foreign keys to tables that do not exist, without checking rows. */
  async function putOrphans(orphans: readonly ForeignKey[], signal: AbortSignal): Promise<void> {
    if (orphans.length === 0) return;
    const there = await listForeignKeys(client, target, signal);
    const script = `${leadOf(names, old)}${addKeys(orphans, there, target)}`;
    await client.feed(Readable.from([Buffer.from(script)]), { signal });
  }

  async function finish(plan: Plan, { say, signal }: Telling): Promise<void> {
    await putObjects(plan.restored, plan, old, signal);
    await grantAgain(client, plan.routineGrants, { say, signal });
    if (plan.part !== undefined) await putKeys(plan.part, signal);
    await putOrphans(plan.orphans ?? [], signal);
    await writePlan(names, { ...plan, state: "done" });
    await clean(signal);
  }

  async function clean(signal: AbortSignal): Promise<void> {
    // The marker's database is the last one, and the plan comes after it, because they tell the state of the restore.
    await dropBoth(client, names, signal);
    await removePlan(names);
  }

  async function undo(plan: Plan | Undone | null, { say, signal }: Telling): Promise<void> {
    if (plan?.state === "undone") return clean(signal);
    const marked = await markerPlace(client, names, signal);
    if (marked === old) {
      if (plan === null)
        throw new SourceError(
          `The tables of ${target} are those of the backup, its old ones are in ${old}, and the plan of the restore, ${names.planFile}, is gone. Drop ${old} and ${fresh} if all is well.`,
        );
      const came = new Set(plan.tables);
      const present = await listTables(client, target, signal);
      const kept = (await listTables(client, old, signal)).filter((table) => table !== markerTable);
      if (plan.part === undefined) {
        const events = leadOf(names, old) + (await dropsOf(client, target, ["EVENT"], signal));
        // An event that the account may not drop existed before.
        await client.query(`${events}DO 0`, { signal }).catch((error: unknown) => {
          if (!isNotAllowed(error)) throw error;
        });
      }
      const drops =
        plan.part === undefined
          ? (await dropsInTheWay(client, target, kept, signal)) +
            (await dropsOf(client, target, ["TRIGGER"], signal))
          : // These foreign keys would follow the tables that are moved away.
            dropKeys(plan.part.children, await listForeignKeys(client, target, signal), target) +
            (await dropsOf(client, target, ["TRIGGER"], signal, { tables: plan.tables }));
      const moves = [
        ...present.filter((table) => came.has(table)).map(move(target, fresh)),
        ...kept.map(move(old, target)),
        move(old, fresh)(markerTable),
      ];
      const script = leadOf(names, old) + drops + renameAll(moves);
      await client.feed(Readable.from([Buffer.from(script)]), { signal });
    }
    if (plan !== null) await putBack(plan, signal);
    await grantAgain(client, plan?.routineGrants, { say, signal });
    if (plan?.part !== undefined) {
      const there = await listForeignKeys(client, target, signal);
      const sql = `${leadOf(names, null)}${addKeys(plan.part.children, there, target)}`;
      await client.feed(Readable.from([Buffer.from(sql)]), { signal });
    }
    await cleanUndone(names, plan, () => clean(signal));
  }

  const settle: Source["settle"] = async ({ say }) => {
    const signal = AbortSignal.timeout(orderLimitMs);
    await endSessions(client, names, signal);
    await dropScratch(client, [names.drill], signal);
    const plan = await readPlan<Plan | Undone>(names);
    if (plan !== null) await refuseHidden(client, fresh, signal);
    if (plan?.state === "done" || plan?.state === "undone") {
      await clean(signal);
      return plan.state === "done" ? "restored" : "as it was";
    }
    const marked = await markerPlace(client, names, signal);
    if (plan !== null && marked === old) {
      try {
        await finish(plan, { say, signal });
        return "restored";
      } catch (error) {
        if (!(error instanceof SourceError)) throw error;
        say(`The restore could not be finished, so it is undone: ${error.message}`);
        await endSessions(client, names, signal);
      }
    }
    await undo(plan, { say, signal });
    return plan === null && marked === null ? "unknown" : "as it was";
  };

  return {
    settle,

    async restore(
      from: Readable,
      attempt: Attempt,
      manifest: Manifest | null = null,
    ): Promise<void> {
      const { say, signal } = attempt;
      const lost: string[] = [];
      // Outside of the `try`: after a failure, the plan of an earlier, completed restore would be taken for this one's.
      await client.patiently(() => settle({ ...attempt, say: () => undefined }), signal);
      try {
        // Until there is a plan, an interrupted restore leaves only scratch databases.
        await writePlan(names, undone);
        await client
          .query(`CREATE DATABASE IF NOT EXISTS ${quoteName(target)}`, { signal })
          .catch((error: unknown) => {
            // An account that may not create databases may still restore into an existing one, as the next query shows.
            if (!(error instanceof MysqlError) || error.code !== codes.noRightsToDatabase)
              throw error;
          });
        // Objects that the account does not see would neither be replaced nor recovered after a failure.
        // Broken views are in the target, not in the backup, so they do not stop the restore.
        const broken = await listBrokenViews(client, target, signal);
        await checkPrivileges(client, broken, signal);
        if (wanted === null) await refuseProtected(client, [target], signal);
        if (wanted !== null) {
          const plan = await loadPart(options, names, { tables: wanted, from, manifest }, attempt);
          await writePlan(names, plan);
          await swap(plan, signal);
          return await finish(plan, attempt);
        }
        await refuseForeignReferences(signal);
        const loaded = await loadScratch(options, names, fresh, from, attempt);
        const { objects, tables, orphans } = loaded;
        await tryLocks(client, names, await listTables(client, target, signal), signal);
        if (broken.length > 0)
          lost.push(
            `Views of ${target} that referred to something that was not there before the restore could not be created again: ${listNames(broken)}.`,
          );
        const before = await settableDefiners(
          client,
          fresh,
          await readObjects(options, broken, signal),
          // Reported only if the restore is undone.
          { ...attempt, say: (line) => void lost.push(line) },
        );
        const code = (await sequenceDefaults(client, { fresh, target }, signal)) + objects.code;
        const present = await listObjects(client, target, signal);
        const routineGrants = await readRoutineGrants(client, objects, attempt, lost);
        const plan: Plan = {
          state: "begun",
          restored: { ...objects, code },
          before,
          tables,
          orphans,
          present,
          routineGrants,
        };
        await writePlan(names, plan);
        const unchanged = () => writePlan(names, undone);
        await dropSuspects(client, [target], leadOf(names, fresh), unchanged, signal);
        await swap(plan, signal);
        await finish(plan, attempt);
      } catch (error) {
        from.destroy();
        await putInOrder<Plan | Undone>(
          { client, names, shown: target, undo, clean, lost },
          say,
          error,
        );
      }
    },
  };
}
