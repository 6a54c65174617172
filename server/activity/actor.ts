// Tells on whose behalf code runs: a request runs as its token; all other work names its actor.
import { AsyncLocalStorage } from "node:async_hooks";
import type { ActorType } from "../../contract/activity.ts";

export type Actor = { type: ActorType; name: string };

/** The service itself, for scheduled work and for work that it does by its own rules. */
export const theService: Actor = { type: "service", name: "Quarterdeck" };
export const theSchedule: Actor = { type: "schedule", name: "Schedule" };
export const theSupervisor: Actor = { type: "supervisor", name: "Supervisor" };

const current = new AsyncLocalStorage<Actor>();

/** Runs `work` on behalf of `actor`. Work that outlives a request must name its actor itself. */
export const actAs = <Result>(actor: Actor, work: () => Result): Result => current.run(actor, work);

export const currentActor = (): Actor => current.getStore() ?? theService;
