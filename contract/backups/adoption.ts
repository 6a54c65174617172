// The adoption of a storage: backups that its manifests describe and that the service does not list yet.
import * as z from "zod/mini";
import { id, timestamp } from "../values.ts";
import { backupableTypes } from "./backup.ts";
import { backupEngines } from "./engines.ts";

/** How many there are at most in a response; the counts beside them are of all. */
export const adoptionShown = { sources: 500, files: 5, leftOut: 100 } as const;

/** A frequency that never comes: an adopted configuration makes no backups until somebody gives it a schedule. */
export const neverFrequency = "0 0 31 2 *";

const count = z.int().check(z.gte(0));

const adoptableSource = z
  .object({
    // As the manifests call it.
    type: z.enum(backupableTypes),
    engine: z.enum(backupEngines),
    name: z.string(),
    server: z.string(),
    /** The inventory's entry that its backups are restored to; null = there is none, and nothing of it is adopted. */
    target: z.nullable(z.object({ id, name: z.string(), server_id: id, server: z.string() })),
    /** Without a target: what is missing, and what to do. */
    problem: z.nullable(z.string()),
    /** The configuration that its backups were added to; null before that. */
    configuration_id: z.nullable(id),
    /** How many can be adopted or, in the response to an adoption, were. */
    backups: count,
    /** Bytes as stored. */
    size: count,
    oldest_at: timestamp,
    newest_at: timestamp,
    /** The newest of them, newest first. */
    files: z.array(z.object({ path: z.string(), size: count, started_at: timestamp })),
  })
  .register(z.globalRegistry, { id: "AdoptableSource" });
export type AdoptableSource = z.infer<typeof adoptableSource>;

export const adoption = z
  .object({
    /** Where the storage is, in words. */
    place: z.string(),
    /** Those without a target first, then by name. */
    sources: z.array(adoptableSource),
    sources_total: count,
    /** Backups that were found and have a target, of all sources. */
    adoptable: count,
    /** How many of them were added; 0 before that. */
    adopted: count,
    /** Stored files that are listed already. */
    known: count,
    /** Backups that Quarterdeck made of itself; `restore-self` reads those. */
    self_backups: count,
    /** Stored files that were not looked at, for want of time or memory: adopting again goes on with them. */
    unread: count,
    left_out: z.array(z.object({ path: z.string(), reason: z.string() })),
    left_out_total: count,
  })
  .register(z.globalRegistry, { id: "Adoption" });
export type Adoption = z.infer<typeof adoption>;
