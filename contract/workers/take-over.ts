// A worker that takes the place of a program of supervisord: how far that has come.
import * as z from "zod/mini";
import { stateOf, timestamp } from "../values.ts";

/** `waiting` for the worker to be up, then `stopping` the program. */
export const takeOverStates = ["waiting", "stopping", "finished", "failed"] as const;
export type TakeOverState = (typeof takeOverStates)[number];

export const takeOver = z
  .object({
    /** Its name in supervisord's configuration. */
    program: z.string(),
    /** The configuration file that it stands in. */
    file: z.string(),
    status: stateOf(takeOverStates),
    /** Since when the status is what it is. */
    since: timestamp,
    /** Why it failed, or what it waits for; null = nothing is in its way. */
    reason: z.nullable(z.string()),
    /**
     * Once it has finished, and until that is done: what to run on the server so that the program does not come back with
     * supervisord's next start.
     */
    commands: z.array(z.string()),
  })
  .register(z.globalRegistry, { id: "TakeOver" });
export type TakeOver = z.infer<typeof takeOver>;
