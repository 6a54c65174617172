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

/** What caused an entry: the holder of a token, a schedule, the supervisor of processes, or the service itself. */
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
    /** Whether it succeeded; null = neither good nor bad. */
    outcome: z.nullable(z.enum(["good", "bad"])),
    actor,
    /** The object of the action. Its id is kept after the object is deleted. */
    object: z.object({ type: z.string(), id, name: z.string() }),
    server_id: z.nullable(id),
    site_id: z.nullable(id),
    /** Further text: a reason, or what was kept and where. */
    detail: z.nullable(z.string()),
  })
  .register(z.globalRegistry, { id: "ActivityEntry" });
export type ActivityEntry = z.infer<typeof activityEntry>;

export const activityPerPage = 50;

export const activity = z
  .object({
    data: z.array(activityEntry),
    /** Send it as `before` to get older entries; null = there are none. */
    next: z.nullable(id),
    /** With the newest entries only: every actor in the timeline, sorted by name. */
    actors: z.optional(z.array(actor)),
  })
  .register(z.globalRegistry, { id: "Activity" });
export type Activity = z.infer<typeof activity>;
