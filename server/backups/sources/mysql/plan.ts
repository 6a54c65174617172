// Stores the plan of a restore on disk before the target is changed, so that it can be completed or undone after a kill.
import { createHash } from "node:crypto";
import { mkdir, open, readFile, rename, rm } from "node:fs/promises";
import { join } from "node:path";
import type { MysqlPlace } from "./client.ts";
import type { ForeignKey } from "./foreign-keys.ts";
import type { RoutineGrant } from "./routines.ts";
import type { Objects } from "./split.ts";
import { toError } from "../../../to-error.ts";
import { syncFolder } from "../../../sync-folder.ts";

/** What a restore of single tables needs besides their names. */
export type Part = {
  /** Tables that the target had. */
  existing: string[];
  /** Foreign keys of the tables, to add again. */
  own: ForeignKey[];
  /** Foreign keys of other tables to these, which are dropped for the exchange. */
  children: ForeignKey[];
};

export type Plan = {
  /** `done`: only scratch databases remain to be dropped. */
  state: "begun" | "done";
  /** Triggers, views, routines and events of the backup, and those that the target had. */
  restored: Objects;
  before: Objects;
  /** The tables and sequences that are restored. */
  tables: string[];
  /** For a restore of single tables; absent = everything is restored. */
  part?: Part;
  /** Foreign keys to tables that do not exist; absent in plans of earlier versions. */
  orphans?: ForeignKey[];
  /** The objects that the target had, see `listObjects`; absent in plans of earlier versions. */
  present?: string[];
  /** Privileges on the target's routines; null = could not be read, absent in plans of earlier versions. */
  routineGrants?: RoutineGrant[] | null;
};

/** Stored instead of a plan while the target is unchanged: only scratch databases remain to be dropped. */
export const undone = { state: "undone" } as const;
export type Undone = typeof undone;

/**
 * Returns the names of one restore or drill, on the server and on disk. Its second parameter has the folder of the plans, and a
 * short form of the installation's id, because another installation's backups have the same ids; earlier versions had none.
 */
export function namesOf(
  { connection, database }: MysqlPlace,
  { scratchFolder, installation }: NamesOf,
  id: number,
) {
  const place = createHash("sha256")
    .update(JSON.stringify([connection, database]))
    .digest("hex")
    .slice(0, 12);
  const own = installation === undefined ? "" : `_${installation}`;
  return {
    fresh: `quarterdeck_new_${id}${own}`,
    old: `quarterdeck_old_${id}${own}`,
    drill: `quarterdeck_drill_${id}${own}`,
    /** A named lock of the server, held by each session that changes something. */
    lock: `quarterdeck_${id}_${place}${own}`,
    planFile: join(scratchFolder, `mysql-${id}-${place}${own}.json`),
  };
}

export type NamesOf = { scratchFolder: string; installation?: string | undefined };
export type Names = ReturnType<typeof namesOf>;

/** A table that is renamed together with the others, so that its database shows whether they were exchanged. */
export const markerTable = "quarterdeck_marker";

type PlanPlace = Pick<Names, "planFile">;

/** @param plan serializable as JSON */
export async function writePlan({ planFile }: PlanPlace, plan: unknown): Promise<void> {
  const folder = join(planFile, "..");
  await mkdir(folder, { recursive: true, mode: 0o700 });
  const half = `${planFile}.half`;
  // Not readable by others, because the text of a routine may contain a secret.
  const file = await open(half, "w", 0o600);
  try {
    await file.writeFile(JSON.stringify(plan));
    await file.sync();
  } finally {
    await file.close();
  }
  await rename(half, planFile);
  await syncFolder(folder);
}

/** @returns null where there is no plan */
export async function readPlan<Kept = Plan>({ planFile }: PlanPlace): Promise<Kept | null> {
  try {
    // Only `writePlan` writes it, completely or not at all.
    return JSON.parse(await readFile(planFile, "utf8")) as Kept;
  } catch (error) {
    if (toError(error).code === "ENOENT") return null;
    throw error;
  }
}

export async function removePlan({ planFile }: PlanPlace): Promise<void> {
  await rm(planFile, { force: true });
  await rm(`${planFile}.half`, { force: true });
}
