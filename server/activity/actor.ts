// Who does what is being done: a request runs as its token, everything else says who it is.
import { AsyncLocalStorage } from "node:async_hooks";
import type { ActorType } from "../../contract/activity.ts";

export type Actor = { type: ActorType; name: string };

/** The service by itself, after somebody asked or by a rule of its own. */
export const theService: Actor = { type: "service", name: "Quarterdeck" };
export const theSchedule: Actor = { type: "schedule", name: "Schedule" };
export const theSupervisor: Actor = { type: "supervisor", name: "Supervisor" };

const current = new AsyncLocalStorage<Actor>();

/** Does work in the name of `actor`. Work that outlives a request names its actor itself. */
export const actAs = <Result>(actor: Actor, work: () => Result): Result => current.run(actor, work);

export const currentActor = (): Actor => current.getStore() ?? theService;
