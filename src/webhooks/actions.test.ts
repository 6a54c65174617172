import { expect, test } from "vitest";
import { deliveryStates } from "../../contract/webhooks/delivery.ts";
import { redeliverRefusal } from "./actions.ts";

const inState = (status: string) => ({ status });

test("disables the redelivery of a pending delivery, with the reason", () => {
  const refused = deliveryStates.filter((status) => redeliverRefusal(inState(status)));
  expect(refused).toEqual(["pending"]);
  expect(redeliverRefusal(inState("pending"))).toBe("Can't redeliver while the status is pending.");
});

test("refuses nothing in a state that only the service knows", () => {
  expect(redeliverRefusal(inState("hibernated"))).toBeUndefined();
});
