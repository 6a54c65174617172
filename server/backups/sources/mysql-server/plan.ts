// The plan of a restore of a whole server, which is stored before the server is changed, so that the restore can be completed or undone
// after a kill.
import { createHash } from "node:crypto";
import { join } from "node:path";
import type { MysqlPlace } from "../mysql/client.ts";
import type { NamesOf } from "../mysql/plan.ts";
import type { ForeignKey } from "../mysql/foreign-keys.ts";
import type { RoutineGrant } from "../mysql/routines.ts";
import type { Objects } from "../mysql/split.ts";

/** A database of the backup. */
export type Member = {
  name: string;
  /** Scratch databases: for the backup's tables, and for the server's own. */
  fresh: string;
  old: string;
  /** Whether the restore creates the database. */
  isNew: boolean;
  /** Triggers, views, routines and events of the backup, and those that the server had. */
  restored: Objects;
  before: Objects;
  /** The objects that the server had, see `listObjects`; absent in plans of earlier versions. */
  present?: string[];
  /** Privileges on the routines that the server had; null = could not be read, absent in plans of earlier versions. */
  routineGrants?: RoutineGrant[] | null;
  /** The backup's tables and sequences. */
  tables: string[];
  /** Foreign keys to other databases, which are added again after the exchange. */
  keys: ForeignKey[];
};

export type ServerPlan = {
  /** `building`: only accounts and scratch databases were created; `done`: only scratch databases remain to be dropped. */
  state: "building" | "begun" | "done";
  /** Accounts that the restore creates, quoted for SQL, and the statements for their privileges and those of PUBLIC. */
  accounts: string[];
  grants: string[];
  members: Member[];
};

/** Returns the names of one restore or drill, on the server and on disk. */
export function serverNamesOf(
  { connection }: MysqlPlace,
  { scratchFolder, installation }: NamesOf,
  id: number,
) {
  const place = createHash("sha256").update(JSON.stringify(connection)).digest("hex").slice(0, 12);
  const own = installation === undefined ? "" : `_${installation}`;
  return {
    drill: `quarterdeck_drill_${id}${own}`,
    /** A named lock of the server, held by each session that changes something. */
    lock: `quarterdeck_${id}_server_${place}${own}`,
    planFile: join(scratchFolder, `mysql-server-${id}-${place}${own}.json`),
    /** @param number of the database in the backup */
    scratchOf: (number: number) => ({
      fresh: `quarterdeck_new_${id}${own}_${number}`,
      old: `quarterdeck_old_${id}${own}_${number}`,
    }),
  };
}

export type ServerNames = ReturnType<typeof serverNamesOf>;
