// The state of a take-over: a worker replaces a program of supervisord.
import * as z from "zod/mini";
import { stateOf, timestamp } from "../values.ts";

/** `waiting` for the worker to be up, then `stopping` the program. */
export const takeOverStates = ["waiting", "stopping", "finished", "failed"] as const;
export type TakeOverState = (typeof takeOverStates)[number];

export const takeOver = z
  .object({
    /** Its name in supervisord's configuration. */
    program: z.string(),
    /** The configuration file that defines it. */
    file: z.string(),
    status: stateOf(takeOverStates),
    /** Since when the status is what it is. */
    since: timestamp,
    /** Why it failed, or what it is waiting for; null = neither. */
    reason: z.nullable(z.string()),
    /**
     * Commands to run on the server once the take-over has finished, so that the next start of supervisord does not
     * start the program again. Empty once that is done.
     */
    commands: z.array(z.string()),
  })
  .register(z.globalRegistry, { id: "TakeOver" });
export type TakeOver = z.infer<typeof takeOver>;
