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

/** Who did it: somebody with a token, a schedule, the supervisor of processes, or the service by itself. */
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
    /** Whether it went well; null = it is neither good nor bad. */
    outcome: z.nullable(z.enum(["good", "bad"])),
    actor,
    /** What it is about; its id stays although the thing itself may be gone. */
    object: z.object({ type: z.string(), id, name: z.string() }),
    server_id: z.nullable(id),
    site_id: z.nullable(id),
    /** More in words: a reason, what was kept and where. */
    detail: z.nullable(z.string()),
  })
  .register(z.globalRegistry, { id: "ActivityEntry" });
export type ActivityEntry = z.infer<typeof activityEntry>;

export const activityPerPage = 50;

export const activity = z
  .object({
    data: z.array(activityEntry),
    /** Ask with `before` this for what is older; null = that was all. */
    next: z.nullable(id),
    /** With the newest entries: everybody that the timeline names, in the order of their names. */
    actors: z.optional(z.array(actor)),
  })
  .register(z.globalRegistry, { id: "Activity" });
export type Activity = z.infer<typeof activity>;
