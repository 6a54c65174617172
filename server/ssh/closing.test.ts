import { generateKeyPairSync } from "node:crypto";
import { writeFile } from "node:fs/promises";
import { createServer, type Socket } from "node:net";
import { once } from "node:events";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { createLocalHost } from "../hosts/local.ts";
import { portOf } from "../testing/port-of.ts";
import { makeFolder } from "../workers/supervisor/testing/supervisor.ts";
import { createServers } from "./servers.ts";
import { connectSeconds } from "./target.ts";
import { soon } from "../testing/soon.ts";

test("a stop waits for none of many servers that accept connections and send nothing", async () => {
  const reached = new Set<Socket>();
  const silent = createServer((socket) => void reached.add(socket.on("error", () => undefined)));
  silent.listen(0, "127.0.0.1");
  await once(silent, "listening");
  onTestFinished(() => {
    for (const socket of reached) socket.destroy();
    silent.close();
  });
  const key = join(makeFolder({ onTestFinished }), "key");
  const format = { type: "pkcs8", format: "pem" } as const;
  const { privateKey } = generateKeyPairSync("ed25519", {
    privateKeyEncoding: format,
    publicKeyEncoding: { type: "spki", format: "pem" },
  });
  await writeFile(key, privateKey, { mode: 0o600 });
  const { PATH = "" } = process.env;
  const environment = { PATH, HOME: "/" };
  const servers = createServers({
    local: createLocalHost(environment),
    environment,
    inventoryFolder: "/nowhere",
  });
  const ids = Array.from({ length: 60 }, (_, index) => index + 1);
  const ssh = {
    host: "127.0.0.1",
    port: portOf(silent),
    user: "deploy",
    key: `file:${key}`,
  } as const;
  await servers.follow(
    ids.map((id) => ({ id, name: `web-${id}`, connection: { ssh }, time_zone: "UTC" })),
  );
  const opened = Promise.allSettled(ids.map((id) => servers.open(id)));
  await soon(() => expect(reached.size).toBe(10));
  const startMs = performance.now();
  await servers.close();
  expect(performance.now() - startMs).toBeLessThan(connectSeconds * 1000);
  for (const one of await opened)
    expect(one).toMatchObject({ status: "rejected", reason: { kind: "lost" } });
  expect(reached.size).toBe(10);
});
