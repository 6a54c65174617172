import { once } from "node:events";
import { createServer } from "node:http";
import { mkdtemp, readdir, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, test } from "vitest";
import { startService } from "../testing/service-process.ts";
import { portOf } from "../testing/port-of.ts";

test("starts in front of another service without a database, a data folder or a token", async () => {
  const other = createServer((_request, response) => void response.end('{"from":"the other"}'));
  other.listen(0, "127.0.0.1");
  await once(other, "listening");
  const folder = await mkdtemp(join(tmpdir(), "quarterdeck-upstream-"));
  const dataFolder = join(folder, "data");
  const service = await startService(dataFolder, {
    QUARTERDECK_UPSTREAM: `http://127.0.0.1:${portOf(other)}`,
  });
  try {
    expect(await (await service.call("GET", "/api/servers")).json()).toEqual({ from: "the other" });
    expect(await readdir(folder)).toEqual([]);
    expect(service.output()).toContain(`Quarterdeck is ready: ${service.url}/`);
    expect(service.output()).not.toContain("#code=");
  } finally {
    await service.end("SIGTERM");
    other.close();
    await rm(folder, { recursive: true });
  }
  expect(service.child.exitCode).toBe(0);
});
