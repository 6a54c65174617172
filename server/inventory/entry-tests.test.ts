// Tests of entries before they are saved: against real servers, over real HTTP, and with clients that abort.
import { once } from "node:events";
import { mkdir, readdir, readFile, writeFile } from "node:fs/promises";
import { createServer as createHttpServer } from "node:http";
import { createServer, type Server, type Socket } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from "vitest";
import type { InventoryTest } from "../../contract/inventory/inventory.ts";
import { createAllowedHosts } from "../http/allowed-hosts.ts";
import { listen } from "../http/listen.ts";
import { createLog } from "../log.ts";
import { startFakeSlack } from "../notifications/channels/testing/fake-slack.ts";
import { createRemoteServer } from "../ssh/testing/remote-server.ts";
import { portOf } from "../testing/port-of.ts";
import { hasPostgresServer, startPostgresServer } from "../backups/testing/postgres-server.ts";
import { ownUser } from "../testing/own-user.ts";
import { createTestService, oneSite, type TestService } from "../testing/service.ts";
import { soon } from "../testing/soon.ts";

const password = "planted-test-password";

let service: TestService;
let log = "";
beforeAll(async () => {
  service = await createTestService({
    inventory: oneSite,
    log: createLog("debug", { write: (line) => void (log += line) }),
    isAllowedHost: createAllowedHosts({ listensOn: "127.0.0.1", publicUrl: null, machineName: "" }),
  });
});
afterAll(() => service.close());

const ask = async (kind: string, entry: object): Promise<Response> =>
  service.app.fetch(
    new Request(`http://127.0.0.1/api/inventory/${kind}/test`, {
      method: "POST",
      headers: { Authorization: `Bearer ${service.token}`, "Content-Type": "application/json" },
      body: JSON.stringify(entry),
    }),
  );

async function tries(kind: string, entry: object): Promise<InventoryTest> {
  const response = await ask(kind, entry);
  const text = await response.text();
  expect(text).not.toContain(password);
  expect([response.status, text]).toEqual([200, text]);
  return JSON.parse(text);
}

/** Starts a server that accepts connections and sends nothing. */
async function startSilent() {
  const sockets = new Set<Socket>();
  const server: Server = createServer((socket) => {
    sockets.add(socket);
    socket.on("error", () => undefined).on("close", () => sockets.delete(socket));
    socket.resume();
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  onTestFinished(() => {
    for (const socket of sockets) socket.destroy();
    server.close();
  });
  return { port: portOf(server), sockets };
}

describe("a database", () => {
  const database = (url: string) => ({
    server: 1,
    name: "shop",
    engine: "postgres",
    url: { secret: url },
  });

  test.skipIf(!hasPostgresServer)(
    "is queried for its version, and the tools for theirs",
    async () => {
      const server = await startPostgresServer();
      onTestFinished(() => server.stop());
      await server.createDatabase("shop");
      expect(await tries("databases", database(server.url("shop")))).toMatchObject({
        ok: true,
        message: expect.stringMatching(/^PostgreSQL \d+\.\d+ answers; pg_dump \d+\.\d+\./),
      });
      const wrong = server.url("shop", { user: "postgres", password });
      expect(await tries("databases", database(wrong))).toMatchObject({
        ok: false,
        message: expect.stringContaining("refuses the password of postgres"),
      });
    },
  );

  test.each([
    ["nothing listens", `postgres://u:${password}@127.0.0.1:1/d`, "Nothing answers at 127.0.0.1:1"],
    ["what was typed is no URL", password, ""],
  ])("reports why it does not work if %s", async (_what, url, message) => {
    expect(await tries("databases", database(url))).toMatchObject({
      ok: false,
      message: expect.stringContaining(message),
    });
  });

  test("that is a file is opened as the account that it would have", async () => {
    const path = `${service.folder}/orders.sqlite`;
    const orders = new DatabaseSync(path);
    orders.exec("create table orders (id integer primary key)");
    orders.close();
    const entry = { server: 1, name: "orders", engine: "sqlite", path, user: ownUser };
    expect(await tries("databases", entry)).toMatchObject({ ok: true });
    expect(await tries("databases", { ...entry, path: `${path}.gone` })).toMatchObject({
      ok: false,
    });
    expect(await tries("databases", { ...entry, user: "no-such-user" })).toMatchObject({
      ok: false,
      message: "This machine has no user “no-such-user”.",
    });
  });

  test("on a missing server is refused", async () => {
    expect(await tries("databases", { ...database("postgres://a"), server: 9 })).toMatchObject({
      ok: false,
      message: "There is no server 9.",
    });
  });
});

describe("a storage provider", () => {
  test("stores, reads and deletes a file", async () => {
    const path = `${service.folder}/copies`;
    await mkdir(path);
    expect(await tries("storage-providers", { name: "disk", type: "local", path })).toMatchObject({
      ok: true,
      message: `A test file was written to ${path}, read back and deleted.`,
      details: [expect.stringMatching(/ free$/)],
    });
    const left = await readdir(path, { recursive: true, withFileTypes: true });
    expect(left.filter((one) => one.isFile())).toEqual([]);
  });

  test("reports what is missing", async () => {
    const path = `${service.folder}/nowhere`;
    const result = await tries("storage-providers", { name: "disk", type: "local", path });
    expect(result).toMatchObject({ ok: false, message: expect.stringContaining(path) });
    const bucket = {
      name: "offsite",
      type: "s3",
      bucket: "b",
      endpoint: "http://127.0.0.1:1",
      access_key: { secret: "key" },
      secret_key: { secret: password },
    };
    expect(await tries("storage-providers", bucket)).toMatchObject({ ok: false });
    expect(
      await tries("storage-providers", { ...bucket, access_key: "env:NOT_SET" }),
    ).toMatchObject({
      ok: false,
      message: expect.stringContaining("The environment variable NOT_SET is not set"),
    });
  });

  test("tests a remote of rclone with an entered config, and repeats no line of it", async () => {
    const path = join(service.folder, "boxed");
    await mkdir(path);
    const secret = `[box]\ntype = local\ncomment = ${password}\n`;
    const box = { name: "box", type: "rclone", remote: `box:${path}`, config: { secret } };
    expect(await tries("storage-providers", box)).toMatchObject({
      ok: true,
      message: `A test file was written to rclone remote box:${path}, read back and deleted.`,
    });
    expect(await readdir(path)).toEqual([]);
    const broken = { ...box, config: { secret: `[box]\ntype = sftp\nport = ${password}\n` } };
    expect(await tries("storage-providers", broken)).toMatchObject({
      ok: false,
      message: expect.stringMatching(/rclone remote .* can't be used/),
    });
    expect(await tries("storage-providers", { ...box, remote: "other:" })).toMatchObject({
      ok: false,
      message: expect.stringMatching(/is not in rclone's config file/),
    });
    const refused = await ask("storage-providers", {
      ...box,
      remote: `:sftp,pass=${password}:`,
      config: { secret: password },
    });
    expect(refused.status).toBe(422);
    expect(Object.keys((await refused.json()).errors)).toEqual(["remote", "config.secret"]);
  });
});

test("a channel gets a test message", async () => {
  const slack = await startFakeSlack();
  onTestFinished(() => slack.close());
  const entry = { name: "ops", type: "slack", webhook: { secret: slack.webhook } };
  expect(await tries("notification-channels", entry)).toMatchObject({
    ok: true,
    message: "A test message was sent: 200 ok.",
  });
  expect(slack.accepted).toHaveLength(1);
  expect(
    await tries("notification-channels", { ...entry, webhook: { secret: password } }),
  ).toMatchObject({ ok: false, message: expect.stringContaining("not a Slack URL") });
  const mail = { name: "mail", type: "email", email: "a@example.com" };
  expect(await tries("notification-channels", mail)).toMatchObject({
    ok: false,
    message: expect.stringContaining("SMTP_URL is not set"),
  });
});

describe("a server", () => {
  const remote = createRemoteServer();
  const triesLeft = async () =>
    (await readdir(tmpdir())).filter((name) => name.startsWith("qd-try-"));

  test("is logged in to with an entered key, of which nothing is left", async () => {
    const sshd = await remote.sshd();
    const key = { secret: await readFile(sshd.keyFile, "utf8") };
    const ssh = { host: "127.0.0.1", port: sshd.port, user: ownUser, key };
    const unknown = await tries("servers", { name: "web", connection: { ssh } });
    expect(unknown).toMatchObject({
      ok: false,
      message: expect.stringContaining("No host key is pinned"),
    });
    const [offered] = unknown.host_keys;
    expect(offered?.fingerprint).toBe(sshd.fingerprint);
    const known = { ...ssh, host_key: offered?.fingerprint };
    expect(await tries("servers", { name: "web", connection: { ssh: known } })).toMatchObject({
      ok: true,
      message: `127.0.0.1:${sshd.port} accepted the key; commands run as ${ownUser}.`,
      details: expect.arrayContaining([expect.stringMatching(/^tar: /)]),
    });
    expect(
      await tries("servers", {
        name: "web",
        connection: { ssh: { ...known, user: "nobody-here" } },
      }),
    ).toMatchObject({ ok: false, message: expect.stringContaining("did not accept the key") });
    await soon(async () => expect(await triesLeft()).toEqual([]));
  });

  test("that is this machine reports what is on it", async () => {
    expect(await tries("servers", { name: "here", connection: "local" })).toMatchObject({
      ok: true,
      details: expect.arrayContaining([expect.stringMatching(/^tar: /)]),
    });
  });
});

describe("an unresponsive service", () => {
  const entries = (port: number) => ({
    databases: {
      server: 1,
      name: "d",
      engine: "postgres",
      url: { secret: `postgres://u:${password}@127.0.0.1:${port}/d` },
    },
    "storage-providers": {
      name: "s",
      type: "s3",
      bucket: "b",
      endpoint: `http://127.0.0.1:${port}`,
      access_key: { secret: "key" },
      secret_key: { secret: password },
    },
    "notification-channels": {
      name: "c",
      type: "slack",
      webhook: { secret: `http://127.0.0.1:${port}/${password}` },
    },
    servers: {
      name: "w",
      connection: { ssh: { host: "127.0.0.1", port, user: "u", key: "agent" } },
    },
  });

  test("is given up after ten seconds", async () => {
    const { port } = await startSilent();
    const startMs = performance.now();
    const results = await Promise.all(
      Object.entries(entries(port)).map(([kind, entry]) => tries(kind, entry)),
    );
    // Well before any program would time out by itself, even on a busy machine.
    expect(performance.now() - startMs).toBeLessThan(20_000);
    for (const { ok, message } of results)
      expect([ok, message]).toEqual([
        false,
        expect.stringMatching(/within 10 s|did not respond|timed out/),
      ]);
  });

  test("is given up when the client disconnects", async () => {
    const server = await listen(service.app.fetch, 0, "127.0.0.1");
    onTestFinished(() => void server.close());
    for (const [kind, entry] of Object.entries(entries(0))) {
      // What was stored before the abort is still removed there.
      if (kind === "storage-providers") continue;
      const { port, sockets } = await startSilent();
      const leave = new AbortController();
      const asking = fetch(`http://127.0.0.1:${portOf(server)}/api/inventory/${kind}/test`, {
        method: "POST",
        headers: { Authorization: `Bearer ${service.token}`, "Content-Type": "application/json" },
        body: JSON.stringify(entry)
          .replaceAll("127.0.0.1:0", `127.0.0.1:${port}`)
          .replace('"port":0', `"port":${port}`),
        signal: leave.signal,
      }).catch((error: Error) => error.name);
      await soon(() => expect([kind, sockets.size]).toEqual([kind, 1]));
      leave.abort();
      expect(await asking).toBe("AbortError");
      await soon(() => expect([kind, sockets.size]).toEqual([kind, 0]));
    }
  });
});

test("no log line contains what was entered", () => {
  expect(log).not.toContain(password);
});

test("in a read-only inventory only the stored entries are tested", async () => {
  const requests: string[] = [];
  const listener = createHttpServer((request, response) => {
    requests.push(request.headers.authorization ?? "");
    response.writeHead(403).end();
  });
  listener.listen(0, "127.0.0.1");
  await once(listener, "listening");
  const closed = await createTestService({
    inventory: (folder) =>
      `${oneSite(folder)}storage_providers:\n  - { id: 1, name: disk, type: local, path: ${folder} }\n`,
    isInventoryReadOnly: true,
  });
  try {
    const secret = join(closed.folder, "planted");
    await writeFile(secret, "planted-secret-of-the-machine");
    const reference = `file:${secret}`;
    const send = (kind: string, entry: object) =>
      closed.json<InventoryTest>("POST", `/api/inventory/${kind}/test`, entry);
    const refused = {
      status: 200,
      body: { ok: false, message: expect.stringContaining("READONLY") },
    };
    expect(
      await send("storage-providers", {
        name: "mine",
        type: "s3",
        bucket: "copies",
        endpoint: `http://127.0.0.1:${portOf(listener)}`,
        access_key: reference,
        secret_key: reference,
      }),
    ).toMatchObject(refused);
    expect(requests.join()).not.toContain("planted-secret");
    expect(requests).toEqual([]);
    // An ssh_config may contain commands.
    const ssh = { host: "127.0.0.1", user: "u", key: "agent", config: secret };
    expect(await send("servers", { name: "s", connection: { ssh } })).toMatchObject(refused);
    const disk = { name: "disk", type: "local", path: closed.folder };
    expect(await send("storage-providers", disk)).toMatchObject({ body: { ok: true } });
    const other = { ...disk, path: tmpdir() };
    expect(await send("storage-providers", other)).toMatchObject(refused);
  } finally {
    await closed.close();
    listener.close();
  }
});
