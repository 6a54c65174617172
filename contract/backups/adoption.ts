// The adoption of a storage: backups that its manifests describe and that the service does not list yet.
import * as z from "zod/mini";
import { id, timestamp } from "../values.ts";
import { backupableTypes } from "./backup.ts";
import { backupEngines } from "./engines.ts";

/** Maximum number of items in a response; the counts next to them include all items. */
export const adoptionShown = { sources: 500, files: 5, leftOut: 100 } as const;

/** A date that does not exist: an adopted configuration runs no backups until an operator sets a schedule. */
export const neverFrequency = "0 0 31 2 *";

const count = z.int().check(z.gte(0));

const adoptableSource = z
  .object({
    // These four fields are copied from the manifests.
    type: z.enum(backupableTypes),
    engine: z.enum(backupEngines),
    name: z.string(),
    server: z.string(),
    /**
     * The entry of the inventory that its backups are restored to; null = there is none, and nothing of it is adopted.
     */
    target: z.nullable(z.object({ id, name: z.string(), server_id: id, server: z.string() })),
    /** Without a target: what is missing, and what to do. */
    problem: z.nullable(z.string()),
    /** The configuration that its backups were added to; null before the adoption. */
    configuration_id: z.nullable(id),
    /** Number of backups that can be adopted or, in the response to an adoption, were adopted. */
    backups: count,
    /** Total size in bytes as stored. */
    size: count,
    oldest_at: timestamp,
    newest_at: timestamp,
    /** The newest files, newest first. */
    files: z.array(z.object({ path: z.string(), size: count, started_at: timestamp })),
  })
  .register(z.globalRegistry, { id: "AdoptableSource" });
export type AdoptableSource = z.infer<typeof adoptableSource>;

export const adoption = z
  .object({
    /** Human-readable location of the storage. */
    place: z.string(),
    /** Sources without a target first, then sorted by name. */
    sources: z.array(adoptableSource),
    sources_total: count,
    /** Number of backups found that have a target, over all sources. */
    adoptable: count,
    /** Number of backups that were added; 0 before the adoption. */
    adopted: count,
    /** Number of stored files that are listed already. */
    known: count,
    /** Number of backups that Quarterdeck made of itself; `restore-self` reads those. */
    self_backups: count,
    /** Number of files that were skipped for lack of time or memory; adopting again continues with them. */
    unread: count,
    left_out: z.array(z.object({ path: z.string(), reason: z.string() })),
    left_out_total: count,
  })
  .register(z.globalRegistry, { id: "Adoption" });
export type Adoption = z.infer<typeof adoption>;
