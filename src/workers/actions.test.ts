import { expect, test } from "vitest";
import { workerStates } from "../../contract/workers/worker.ts";
import { refusal, workerActions } from "./actions.ts";

const inState = (status: string) => ({ status });

test("an action that the service would refuse is refused here, with the reason", () => {
  const refused = workerStates.filter((status) => refusal("stop", inState(status)) !== undefined);
  expect(refused).toEqual(["installing", "removing"]);
  expect(refusal("stop", inState("removing"))).toBe("Can't stop while the status is removing.");
});

test("a worker that is being installed can be deleted", () => {
  expect(refusal("remove", inState("installing"))).toBeUndefined();
  expect(refusal("remove", inState("removing"))).toBeDefined();
});

test("a state that only the service knows refuses nothing", () => {
  for (const action of ["start", "stop", "restart", "remove"] as const)
    expect(refusal(action, inState("hibernated"))).toBeUndefined();
});

test("every action moves the worker into a state that is polled", () => {
  for (const { becomes } of Object.values(workerActions)) expect(becomes).toMatch(/ing$/);
});
