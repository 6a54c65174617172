// The timeline: what was changed, run and delivered, when, and by whom.
import * as z from "zod/mini";
import { id, stateOf, timestamp } from "./values.ts";

export const activityKinds = [
  "backup",
  "worker",
  "webhook",
  "notification",
  "deployment",
  "token",
  "server",
  "inventory",
] as const;
export type ActivityKind = (typeof activityKinds)[number];

/** Types of actors: a user's token, a schedule, the supervisor of processes, or the service itself. */
const actorTypes = ["token", "schedule", "supervisor", "service"] as const;
export type ActorType = (typeof actorTypes)[number];

const actor = z.object({ type: stateOf(actorTypes), name: z.string() });

const activityEntry = z
  .object({
    id,
    at: timestamp,
    kind: stateOf(activityKinds),
    /** What was done, in the past tense, e.g. `created`, `finished`, `failed`. */
    action: z.string(),
    /** Whether the outcome is good or bad; null = neither. */
    outcome: z.nullable(z.enum(["good", "bad"])),
    actor,
    /** The object of the entry. Its id stays after the object is deleted. */
    object: z.object({ type: z.string(), id, name: z.string() }),
    server_id: z.nullable(id),
    site_id: z.nullable(id),
    /** Details in words, such as a reason, or where files were kept. */
    detail: z.nullable(z.string()),
  })
  .register(z.globalRegistry, { id: "ActivityEntry" });
export type ActivityEntry = z.infer<typeof activityEntry>;

export const activityPerPage = 50;

export const activity = z
  .object({
    data: z.array(activityEntry),
    /** Value of `before` for older entries; null = there are none. */
    next: z.nullable(id),
    /** All actors of the timeline, by name; sent with the newest entries. */
    actors: z.optional(z.array(actor)),
  })
  .register(z.globalRegistry, { id: "Activity" });
export type Activity = z.infer<typeof activity>;
