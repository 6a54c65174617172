// Tests operations that read an unreadable storage or server: they answer 409 with a message, as the interface description
// says.
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { createJudge } from "../testing/fuzz/description.ts";
import { createTestService, type TestService } from "../testing/service.ts";

let service: TestService;
let judge: ReturnType<typeof createJudge>;
beforeAll(async () => {
  service = await createTestService({
    inventory: (folder) => `
servers:
  - id: 1
    name: away
    connection: { ssh: { host: 127.0.0.1, port: 1, user: deploy, key: agent, host_key: "SHA256:${"x".repeat(43)}" } }
storage_providers:
  - { id: 1, name: no folder, type: local, path: ${folder}/file/copies }
`,
  });
  await writeFile(join(service.folder, "file"), "");
  judge = createJudge(await (await service.call("GET", "/openapi.json")).json());
});
afterAll(() => service.close());

test.each([
  "/api/server/1/discovery",
  "/api/storage-providers/1/files",
  "/api/inventory/storage-providers/1/adoption",
])("GET %s", async (path) => {
  const response = await service.call("GET", path);
  const body = await response.text();
  expect({ status: response.status, body: JSON.parse(body) }).toEqual({
    status: 409,
    body: { message: expect.any(String) },
  });
  const { status } = response;
  const answered = { status, type: response.headers.get("content-type"), body };
  expect(judge.problemOf("GET", path, answered)).toBeNull();
});
