// Replaces the databases of a server by those of a backup: loads each into a scratch database, then exchanges the tables of all in one
// RENAME, which is atomic. What RENAME cannot move is created again afterwards. Until that is done the old tables stay, so that each
// step can be undone.
import type { Readable } from "node:stream";
import { text } from "node:stream/consumers";
import { toError } from "../../../to-error.ts";
import { clientOf, type MysqlClient } from "../mysql/client.ts";
import { dropKeys, listForeignKeys, tellForeignReferences } from "../mysql/foreign-keys.ts";
import { loadTables, tryLocks } from "../mysql/load.ts";
import { sequenceDefaults } from "../mysql/moves.ts";
import {
  listBrokenViews,
  listObjects,
  listTables,
  readObjects,
  settableDefiners,
} from "../mysql/objects.ts";
import { readPlan, removePlan, undone, writePlan, type Undone } from "../mysql/plan.ts";
import { mayRestore, readAccount } from "../mysql/privileges.ts";
import { dropSuspects, refuseProtected } from "../mysql/protected.ts";
import { cleanUndone, orderLimitMs, putInOrder } from "../mysql/put-in-order.ts";
import { readRoutineGrants } from "../mysql/routines.ts";
import { dropScratch, endSessions, leadOf, refuseHidden } from "../mysql/scratch.ts";
import { listNames } from "../mysql/list-names.ts";
import { SourceError, type Attempt, type Source } from "../source.ts";
import { readMembers } from "../whole-server/members.ts";
import {
  accountsPath,
  besideDatabases,
  dropAccounts,
  existingAccounts,
  grantsPath,
  missingAccounts,
  revokeFromEverybody,
} from "./accounts.ts";
import { listDatabases, makesAccounts } from "./databases.ts";
import { createExchange, listScratch } from "./exchange.ts";
import type { Member, ServerNames, ServerPlan } from "./plan.ts";

const nothingBefore = { header: "", code: "", events: "" };

export function createServerRestore(client: MysqlClient, names: ServerNames) {
  const exchange = createExchange(client, names);
  /** @throws SourceError where the account lacks privileges for a restore */
  async function refuseWithoutRights(signal: AbortSignal): Promise<void> {
    const account = await readAccount(client, signal);
    const { names: there } = await listDatabases(client, signal);
    const isAllowed =
      makesAccounts(account) &&
      [names.scratchOf(1).fresh, ...there].every((database) => mayRestore(account, database));
    if (!isAllowed) throw new SourceError(`Nothing was changed. ${tellRights(account.shown)}`);
  }

  /** Loads one database into a scratch database. */
  async function load(
    name: string,
    number: number,
    content: Readable,
    attempt: Attempt,
  ): Promise<Member> {
    const scratch = names.scratchOf(number);
    const { fresh } = scratch;
    try {
      const one = { client: clientOf(client, name) };
      const loaded = await loadTables(one, names, fresh, content, attempt);
      const { objects, tables, orphans } = loaded;
      // Views that also read another database name their own one.
      const restored = { ...objects, source: Buffer.from(name).toString("latin1") };
      const keys = (await listForeignKeys(client, fresh, attempt.signal)).filter(
        ({ database }) => database !== fresh,
      );
      // These foreign keys would refer to tables of the other live databases, which are moved away.
      const drops = dropKeys(keys, keys, fresh);
      if (drops !== "") await exchange.run(drops, fresh, attempt.signal);
      attempt.say(`Loaded ${name} beside the current one.`);
      const kept = { restored, before: nothingBefore, tables, keys: [...keys, ...orphans] };
      return { name, ...scratch, isNew: true, ...kept };
    } catch (error) {
      attempt.signal.throwIfAborted();
      throw error instanceof SourceError
        ? new SourceError(`Database ${name}: ${error.message}`, { cause: error })
        : error;
    }
  }

  /** Adds what the server has of the database now. @param lost receives sentences about what an undo could not restore */
  async function lookAtCurrent(
    member: Member,
    together: readonly string[],
    { attempt, lost }: { attempt: Attempt; lost: string[] },
  ): Promise<Member> {
    const { name, fresh } = member;
    const { signal } = attempt;
    const one = clientOf(client, name);
    const reason = await tellForeignReferences(one, name, signal, null, together);
    if (reason !== null) throw new SourceError(`Nothing was changed: ${reason}`);
    await refuseProtected(client, [name], signal);
    await tryLocks(one, { ...names, fresh }, await listTables(one, name, signal), signal);
    const broken = await listBrokenViews(one, name, signal);
    if (broken.length > 0)
      lost.push(
        `Views of ${name} that referred to something that was not there before the restore could not be created again: ${listNames(broken)}.`,
      );
    const before = await settableDefiners(
      one,
      fresh,
      await readObjects({ client: one }, broken, signal),
      // Reported only if the restore is undone.
      { say: (line) => void lost.push(line), signal },
    );
    const present = await listObjects(one, name, signal);
    const routineGrants = await readRoutineGrants(one, member.restored, attempt, lost);
    return { ...member, isNew: false, before, present, routineGrants };
  }

  /** Creates the missing accounts, before the views and routines that run as them. */
  async function makeAccounts(
    files: { accounts: string; grants: string },
    { say, signal }: Attempt,
  ): Promise<ServerPlan> {
    const missing = missingAccounts(files, await existingAccounts(client, signal));
    const plan: ServerPlan = {
      state: "building",
      accounts: missing.names,
      grants: missing.grants,
      members: [],
    };
    if (missing.leftOut.length > 0)
      say(
        `Not granted, because PUBLIC keeps the privileges that it has on this server: ${missing.leftOut.join("; ")}.`,
      );
    if (missing.names.length === 0) return plan;
    await writePlan(names, plan);
    try {
      await exchange.run(missing.statements.map((line) => `${line};\n`).join(""), null, signal);
    } catch (error) {
      signal.throwIfAborted();
      // The server's message quotes a part of the statement, which may contain a password's hash.
      const said = toError(error).message.replace(/ near '[\s\S]*|\*[0-9A-F]{16,}|0x\w+/g, " …");
      throw new SourceError(
        `Nothing was changed: the accounts that are missing here couldn't be made: ${said}`,
      );
    }
    say(`Created the accounts ${missing.names.join(", ")}.`);
    return plan;
  }

  async function readArchive(from: Readable, attempt: Attempt) {
    const files = { accounts: "", grants: "" };
    let plan: ServerPlan | null = null;
    const members: Member[] = [];
    for await (const { path, database, content } of readMembers(from)) {
      const refusePart = besideDatabases.files[path];
      if (refusePart !== undefined) {
        const found = await text(content);
        refusePart(found);
        if (path === accountsPath) files.accounts = found;
        if (path === grantsPath) {
          files.grants = found;
          plan = await makeAccounts(files, attempt);
        }
      } else if (database === null)
        throw new SourceError(`The backup contains ${path}, which is not a database.`);
      else members.push(await load(database, members.length + 1, content, attempt));
    }
    if (plan === null) throw new SourceError("Nothing was changed: the backup holds no accounts.");
    return { plan, members };
  }

  async function undo(
    plan: ServerPlan | Undone | null,
    { say, signal }: Omit<Attempt, "id">,
  ): Promise<void> {
    if (plan?.state === "undone") return clean(signal);
    await exchange.putBack(plan?.members ?? [], { say, signal });
    if (plan !== null) {
      const revoke = await revokeFromEverybody(client, plan.grants, signal);
      const sql = revoke + dropAccounts(plan.accounts);
      if (sql !== "") await exchange.run(sql, null, signal);
    }
    await cleanUndone(names, plan, () => clean(signal));
  }

  async function clean(signal: AbortSignal): Promise<void> {
    await dropScratch(client, await listScratch(client, names, signal), signal);
    await removePlan(names);
  }

  async function finish(plan: ServerPlan, { say, signal }: Omit<Attempt, "id">): Promise<void> {
    await exchange.complete(plan, { say, signal });
    await writePlan(names, { ...plan, state: "done" });
    await clean(signal);
  }

  const settle: Source["settle"] = async ({ say }) => {
    const signal = AbortSignal.timeout(orderLimitMs);
    await endSessions(client, names, signal);
    await dropScratch(client, [names.drill], signal);
    const plan = await readPlan<ServerPlan | Undone>(names);
    if (plan !== null) await refuseHidden(client, names.scratchOf(1).fresh, signal);
    if (plan?.state === "done" || plan?.state === "undone") {
      await clean(signal);
      return plan.state === "done" ? "restored" : "as it was";
    }
    const isExchanged = plan !== null && (await exchange.isDone(plan.members, signal));
    if (isExchanged)
      try {
        await finish(plan, { say, signal });
        return "restored";
      } catch (error) {
        if (!(error instanceof SourceError)) throw error;
        say(`The restore could not be finished, so it is undone: ${error.message}`);
        await endSessions(client, names, signal);
      }
    const left = await listScratch(client, names, signal);
    await undo(plan, { say, signal });
    return plan === null && left.length === 0 ? "unknown" : "as it was";
  };

  return {
    settle,
    refuseWithoutRights,

    async restore(from: Readable, attempt: Attempt): Promise<void> {
      const { say, signal } = attempt;
      const lost: string[] = [];
      // Outside of the `try`: after a failure, the plan of an earlier, completed restore would be taken for this one's.
      await refuseWithoutRights(signal);
      await client.patiently(() => settle({ ...attempt, say: () => undefined }), signal);
      try {
        // Until there is a plan, an interrupted restore leaves only scratch databases.
        await writePlan(names, undone);
        const { plan, members: loaded } = await readArchive(from, attempt);
        await exchange.rehearse(loaded, signal);
        const { names: there } = await listDatabases(client, signal);
        const together = loaded.map(({ name }) => name);
        const members: Member[] = [];
        for (const one of loaded) {
          const { name, fresh, restored } = one;
          // Added only after the rehearsal in the scratch databases.
          const defaults = await sequenceDefaults(client, { fresh, target: name }, signal);
          const member = { ...one, restored: { ...restored, code: defaults + restored.code } };
          members.push(
            there.includes(name)
              ? await lookAtCurrent(member, together, { attempt, lost })
              : member,
          );
        }
        const begun: ServerPlan = { ...plan, state: "begun", members };
        await writePlan(names, begun);
        if (members.length > 0)
          say(
            "Exchanging all tables in one step. Views, routines, triggers and events follow; until then applications don't find all of them.",
          );
        const replaced = members.filter(({ isNew }) => !isNew).map(({ name }) => name);
        const lead = leadOf(names, members[0]?.fresh ?? null);
        await dropSuspects(client, replaced, lead, () => writePlan(names, plan), signal);
        await exchange.swap(members, signal);
        await finish(begun, attempt);
        const left = there.filter((name) => !together.includes(name));
        if (left.length > 0)
          say(`Left as they are, because the backup doesn't hold them: ${listNames(left)}.`);
      } catch (error) {
        from.destroy();
        await putInOrder<ServerPlan | Undone>(
          { client, names, shown: client.place.shown, undo, clean, lost },
          say,
          error,
        );
      }
    },
  };
}

/** Describes the privileges for a restore of the whole server. @param account quoted for SQL */
export const tellRights = (account: string): string =>
  `A restore of the whole server is refused, because ${account} has not all rights. Allow it with: GRANT ALL PRIVILEGES ON *.* TO ${account} WITH GRANT OPTION; or restore its databases one by one.`;
