// What a restore of a whole server is about to do, on disk before the server is touched, so that it can be finished or undone
// after a kill.
import { createHash } from "node:crypto";
import { join } from "node:path";
import type { MysqlPlace } from "../mysql/client.ts";
import type { NamesOf } from "../mysql/plan.ts";
import type { ForeignKey } from "../mysql/foreign-keys.ts";
import type { Objects } from "../mysql/split.ts";

/** A database of the backup. */
export type Member = {
  name: string;
  /** Scratch databases: of the backup's tables, and of those that the server had. */
  fresh: string;
  old: string;
  /** The restore makes it. */
  isNew: boolean;
  /** Triggers, views, routines and events of the backup, and those that the server had. */
  restored: Objects;
  before: Objects;
  /** What of it the server had, see `listObjects`; absent in plans of earlier versions. */
  present?: string[];
  /** The backup's tables and sequences. */
  tables: string[];
  /** Foreign keys to other databases, which the tables get again once all are in place. */
  keys: ForeignKey[];
};

export type ServerPlan = {
  /** `building`: nothing but accounts and scratch databases was made; `done`: only scratch databases are left to be dropped. */
  state: "building" | "begun" | "done";
  /** Those that the restore makes, as SQL names them, and what they may do. */
  accounts: string[];
  grants: string[];
  members: Member[];
};

/** Names of one restore or drill, on the server and on disk. */
export function serverNamesOf(
  { connection }: MysqlPlace,
  { scratchFolder, installation }: NamesOf,
  id: number,
) {
  const place = createHash("sha256").update(JSON.stringify(connection)).digest("hex").slice(0, 12);
  const own = installation === undefined ? "" : `_${installation}`;
  return {
    drill: `quarterdeck_drill_${id}${own}`,
    /** A lock of the server, held by each session that changes something. */
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
