import { expect, onTestFinished, test } from "vitest";
import { subscribableEvents } from "../../contract/events.ts";
import { createTestService } from "../testing/service.ts";

test.each([
  [
    { name: "root", isRoot: true },
    { account: "root", isolates_sites: true },
  ],
  [
    { name: "deploy", isRoot: false },
    { account: "deploy", isolates_sites: false },
  ],
])("a service of %o reports whether sites are isolated from it", async (account, expected) => {
  const service = await createTestService({ account, version: "1.2.3" });
  onTestFinished(() => service.close());
  const made = await service.json<{ token: string }>("POST", "/api/tokens", {
    name: "reader",
    abilities: ["read"],
    server_ids: [1],
  });
  const response = await service.call("GET", "/api/installation", undefined, made.body.token);
  expect(response.status).toBe(200);
  expect(await response.json()).toEqual({
    version: "1.2.3",
    events: subscribableEvents,
    ...expected,
  });
});
