import { expect, test } from "vitest";
import { workerStates } from "../../contract/workers/worker.ts";
import { refusal, workerActions } from "./actions.ts";

const inState = (status: string) => ({ status });

test("disables an action that the service would refuse, with the reason", () => {
  const refused = workerStates.filter((status) => refusal("stop", inState(status)) !== undefined);
  expect(refused).toEqual(["installing", "removing"]);
  expect(refusal("stop", inState("removing"))).toBe("Can't stop while the status is removing.");
});

test("allows the deletion of an installing worker", () => {
  expect(refusal("remove", inState("installing"))).toBeUndefined();
  expect(refusal("remove", inState("removing"))).toBeDefined();
});

test("refuses nothing in a state that only the service knows", () => {
  for (const action of ["start", "stop", "restart", "remove"] as const)
    expect(refusal(action, inState("hibernated"))).toBeUndefined();
});

test("every action moves the worker into a state that is polled", () => {
  for (const { becomes } of Object.values(workerActions)) expect(becomes).toMatch(/ing$/);
});
