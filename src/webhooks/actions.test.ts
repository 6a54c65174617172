import { expect, test } from "vitest";
import { deliveryStates } from "../../contract/webhooks/delivery.ts";
import { redeliverRefusal } from "./actions.ts";

const inState = (status: string) => ({ status });

test("a delivery that is about to be sent is not sent again, with the reason", () => {
  const refused = deliveryStates.filter((status) => redeliverRefusal(inState(status)));
  expect(refused).toEqual(["pending"]);
  expect(redeliverRefusal(inState("pending"))).toBe("Can't redeliver while the status is pending.");
});

test("a state that only the service knows refuses nothing", () => {
  expect(redeliverRefusal(inState("hibernated"))).toBeUndefined();
});
