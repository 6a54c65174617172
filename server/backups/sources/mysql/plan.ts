// What a restore is about to do, on disk before the target is touched, so that it can be finished or undone after a kill.
import { createHash } from "node:crypto";
import { mkdir, open, readFile, rename, rm } from "node:fs/promises";
import { join } from "node:path";
import type { MysqlPlace } from "./client.ts";
import type { ForeignKey } from "./foreign-keys.ts";
import type { Objects } from "./split.ts";
import { toError } from "../../../to-error.ts";

/** What a restore of single tables has to know beside their names. */
export type Part = {
  /** Those of them that the target had. */
  existing: string[];
  /** Foreign keys that the tables get again. */
  own: ForeignKey[];
  /** Foreign keys of other tables to them, which are taken away for the exchange. */
  children: ForeignKey[];
};

export type Plan = {
  /** `done`: only scratch databases are left to be dropped. */
  state: "begun" | "done";
  /** Triggers, views, routines and events of the backup, and those that the target had. */
  restored: Objects;
  before: Objects;
  /** The backup's tables and sequences, or those of them that are restored. */
  tables: string[];
  /** Where only those are; absent: everything is restored. */
  part?: Part;
  /** Foreign keys to tables that are not there; absent in plans of earlier versions. */
  orphans?: ForeignKey[];
  /** What of it the target had, see `listObjects`; absent in plans of earlier versions. */
  present?: string[];
};

/** In the place of a plan while the target is as it was: only scratch databases are left to be dropped. */
export const undone = { state: "undone" } as const;
export type Undone = typeof undone;

/** Names of one restore or drill, on the server and on disk. */
/**
 * @param of the service: where plans are, and a few letters of the installation's id, since another one's backups have the same ids.
 *   Names of earlier versions have none
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
    /** A lock of the server, held by each session that changes something. */
    lock: `quarterdeck_${id}_${place}${own}`,
    planFile: join(scratchFolder, `mysql-${id}-${place}${own}.json`),
  };
}

export type NamesOf = { scratchFolder: string; installation?: string | undefined };
export type Names = ReturnType<typeof namesOf>;

/** Lies in the scratch database and goes over with the tables, so that its place says whether they did. */
export const markerTable = "quarterdeck_marker";

type PlanPlace = Pick<Names, "planFile">;

/** @param plan as JSON has it */
export async function writePlan({ planFile }: PlanPlace, plan: unknown): Promise<void> {
  const folder = join(planFile, "..");
  await mkdir(folder, { recursive: true, mode: 0o700 });
  const half = `${planFile}.half`;
  // Closed to others: a routine's text may hold a secret.
  const file = await open(half, "w", 0o600);
  try {
    await file.writeFile(JSON.stringify(plan));
    await file.sync();
  } finally {
    await file.close();
  }
  await rename(half, planFile);
  const directory = await open(folder, "r");
  try {
    await directory.sync();
  } finally {
    await directory.close();
  }
}

/** @returns null where there is none */
export async function readPlan<Kept = Plan>({ planFile }: PlanPlace): Promise<Kept | null> {
  try {
    // Written by `writePlan` alone, whole or not at all.
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
