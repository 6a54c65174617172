import { writeFile } from "node:fs/promises";
import { expect, onTestFinished, test } from "vitest";
import type { Diagnosis } from "../../contract/doctor.ts";
import { createTestService, oneSite } from "../testing/service.ts";

test("the service checks itself like the command, and continues as before", async () => {
  const service = await createTestService({
    inventory: (folder) =>
      `${oneSite(folder)}storage_providers:\n  - { id: 1, name: gone, type: local, path: ${folder}/gone/away }\nnotification_channels:\n  - { id: 1, name: ops, type: slack, webhook: "env:NOT_SET" }\n`,
  });
  onTestFinished(() => service.close());
  const check = () => service.json<{ results: Diagnosis[] }>("POST", "/api/installation/check");
  const stateOf = (results: Diagnosis[], name: string) =>
    results.find((one) => one.name === name)?.state;

  const [{ status, body }, again] = await Promise.all([check(), check()]);
  expect(status).toBe(200);
  expect(again.body).toEqual(body);
  expect(stateOf(body.results, "Database")).toBe("ok");
  expect(stateOf(body.results, "Inventory")).toBe("ok");

  // The service has the variables itself, so the advice names no command.
  const secrets = body.results.find(({ name }) => name === "Secrets");
  expect(secrets?.message).toMatch(/NOT_SET is not set.* Set it for the service/);
  expect(secrets?.cure).toBeNull();

  await writeFile(service.inventoryFile, "servers:\n  - { id: one }\n");
  const broken = await check();
  const inventory = broken.body.results.find(({ name }) => name === "Inventory");
  expect(inventory).toMatchObject({ state: "failed" });
  expect(inventory?.message).toContain("line 2");
  expect(inventory?.cure).toContain("Correct these lines");
  expect((await service.call("GET", "/api/site/1")).status).toBe(200);
});
