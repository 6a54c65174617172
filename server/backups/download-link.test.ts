// Tests download links: they work once, only with the right permissions, and continue only for the client that began.
import { createHash, randomBytes } from "node:crypto";
import { readdir, readFile, readlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { HttpBindings } from "@hono/node-server";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import type { Backup, DownloadLink } from "../../contract/backups/backup.ts";
import { toTimestamp } from "../../contract/values.ts";
import { createApp } from "../app.ts";
import { createLog } from "../log.ts";
import { createShiftedClock } from "../testing/shifted-clock.ts";
import { createBackupTestService, soon, type BackupTestService } from "./testing/backup-service.ts";

let service: BackupTestService;
let configurationId: number;
let backup: Backup;
const clock = createShiftedClock();
let log = "";
beforeAll(async () => {
  service = await createBackupTestService({
    clock,
    log: createLog("debug", { write: (line) => void (log += line) }),
  });
  // More than all buffers on the way hold.
  service.sql(
    `insert into orders (customer) values ('${randomBytes(2 ** 20).toString("base64")}')`,
  );
  configurationId = (await service.installed()).id;
  backup = await service.run(configurationId);
});
afterAll(() => service.close());

/** Failures are counted by address, so each test uses its own. */
let host = 0;
beforeEach(() => {
  host += 1;
});

type NewToken = { id: number; token: string };
const makeToken = async (body: object) =>
  (await service.json<NewToken>("POST", "/api/tokens", { name: "other", ...body })).body;

const linkPath = (id: number) => `/api/backup/${id}/download-link`;
async function makeLink(token?: string, id = backup.id): Promise<DownloadLink> {
  const response = await service.call("POST", linkPath(id), undefined, token);
  expect(response.status).toBe(201);
  return response.json();
}
function follow(url: string, init: RequestInit = {}) {
  const socket = { remoteAddress: `192.0.2.${host}` };
  // The app reads only the remote address from the bindings.
  const bindings = { incoming: { socket } } as HttpBindings;
  return service.app.fetch(new Request(url, init), bindings);
}
const statusOf = async (url: string, init?: RequestInit) => {
  const response = await follow(url, init);
  await response.body?.cancel();
  return response.status;
};
const withCode = (url: string, change: (code: string) => string) => {
  const changed = new URL(url);
  changed.searchParams.set("code", change(changed.searchParams.get("code") ?? ""));
  return changed.href;
};
const codeOf = (url: string) => new URL(url).searchParams.get("code") ?? "";
/** The stored rows of unused links with this code. */
const rowsOf = (url: string) =>
  service.query<{ hash: string }>("select * from one_time_links where hash = $1", [
    createHash("sha256").update(codeOf(url)).digest("hex"),
  ]);

describe("a download link", () => {
  test("serves the stored file once, without a token, as a download", async () => {
    const { url, expires_at } = await makeLink();
    expect(url).toMatch(
      new RegExp(`^http://quarterdeck\\.test/api/backup/${backup.id}/file\\?code=\\w{28}$`),
    );
    const left = Date.parse(expires_at) - Date.now();
    expect(left).toBeGreaterThan(50_000);
    expect(left).toBeLessThanOrEqual(60_000);

    const response = await follow(url);
    expect(response.status).toBe(200);
    expect(Object.fromEntries(response.headers)).toMatchObject({
      "content-type": "application/octet-stream",
      "content-length": String(backup.size),
      "content-disposition": expect.stringMatching(/^attachment; filename="[\w.-]+\.sqlite\.zst"$/),
      "cache-control": "no-store",
      "content-security-policy": expect.stringContaining("sandbox"),
      "referrer-policy": "no-referrer",
      "x-content-type-options": "nosniff",
    });
    const content = Buffer.from(await response.arrayBuffer());
    expect(createHash("sha256").update(content).digest("hex")).toBe(backup.checksum);

    const again = await follow(url);
    expect([again.status, again.headers.get("WWW-Authenticate")]).toEqual([401, "Bearer"]);
    expect(await again.json()).toEqual({
      message: "The link has expired or has already been used. Start the download again.",
    });
  });

  test("works for one of many concurrent requests", async () => {
    const { url } = await makeLink();
    const statuses = await Promise.all(Array.from({ length: 10 }, () => statusOf(url)));
    expect(statuses.filter((status) => status === 200)).toHaveLength(1);
    expect(statuses.filter((status) => status === 401)).toHaveLength(9);
  });

  test("is not used up by HEAD, which opens no file", async () => {
    const { url } = await makeLink();
    for (let count = 0; count < 3; count++) {
      const response = await follow(url, { method: "HEAD" });
      expect([response.status, response.headers.get("Content-Length")]).toEqual([
        200,
        String(backup.size),
      ]);
      expect(await response.text()).toBe("");
    }
    await soon(async () => expect(await openFiles()).not.toContain(fileOf(backup)));
    expect(await statusOf(url)).toBe(200);
    expect(await statusOf(url, { method: "HEAD" })).toBe(401);
  });

  test("expires after a minute, and is deleted when the next one is created", async () => {
    const { url, expires_at } = await makeLink();
    clock.ahead(Date.parse(expires_at) - clock.now() + 1);
    expect(await statusOf(url, { method: "HEAD" })).toBe(401);
    expect(await rowsOf(url)).toHaveLength(1);
    await makeLink();
    expect(await rowsOf(url)).toEqual([]);
    expect(await statusOf(url)).toBe(401);
  });

  test("opens only the file of its own backup, and other attempts do not use it up", async () => {
    const { url } = await makeLink();
    const other = await service.run(configurationId);
    const code = new URL(url).search;
    for (const path of [
      `/api/backup/${other.id}/file`,
      `/api/backup/${backup.id}`,
      `/api/backup/${backup.id}/file/`,
      "/api/servers",
      "/metrics",
    ])
      expect([401, 404], path).toContain(await statusOf(`http://quarterdeck.test${path}${code}`));
    expect(await statusOf(url, { method: "POST" })).toBe(401);
    expect(await statusOf(url, { method: "DELETE" })).toBe(401);
    expect(await statusOf(url)).toBe(200);
  });

  test.each([
    [
      "its last character changed",
      (code: string) => code.replace(/.$/, (end) => (end === "a" ? "b" : "a")),
    ],
    ["one character less", (code: string) => code.slice(0, -1)],
    ["one more", (code: string) => `${code}a`],
    ["other case", (code: string) => code.toLowerCase() + code.toUpperCase()],
    ["nothing in it", () => ""],
    ["a NUL in it", (code: string) => `${code}\0`],
    ["a lone surrogate in it", (code: string) => `${code}\ud800`],
    ["SQL in it", (code: string) => `${code}' or '1' = '1`],
    ["a million characters", () => "x".repeat(1_000_000)],
  ])("answers 401 with %s", async (_, change) => {
    const { url } = await makeLink();
    expect(await statusOf(withCode(url, change))).toBe(401);
    expect(await statusOf(url)).toBe(200);
  });

  test("cannot be used by its stored hash", async () => {
    const { url } = await makeLink();
    const [row] = await rowsOf(url);
    expect(await statusOf(withCode(url, () => row?.hash ?? ""))).toBe(401);
    expect(JSON.stringify(row)).not.toContain(codeOf(url));
  });

  test("becomes invalid with its token, when that is revoked or expires", async () => {
    const { id, token } = await makeToken({ abilities: ["*"] });
    const revoked = await makeLink(token);
    await service.call("DELETE", `/api/token/${id}`);
    expect(await statusOf(revoked.url)).toBe(401);

    const brief = await makeToken({
      abilities: ["*"],
      expires_at: toTimestamp(new Date(clock.now() + 30_000)),
    });
    const expired = await makeLink(brief.token);
    clock.ahead(31_000);
    expect(await statusOf(expired.url)).toBe(401);
  });

  test("works on another instance with the same database, once in total", async () => {
    const { url } = await makeLink();
    const other = await createApp(service.options);
    try {
      const response = await other.fetch(new Request(url));
      await response.body?.cancel();
      expect(response.status).toBe(200);
      expect(await statusOf(url)).toBe(401);
    } finally {
      await other.close("keep");
    }
  });

  test("is available to tokens that may download, and useless beside a token that may not", async () => {
    const reader = await makeToken({ abilities: ["read"] });
    const elsewhere = await makeToken({ abilities: ["*"], server_ids: [2] });
    const ask = async (token?: string, id = backup.id) =>
      (await service.call("POST", linkPath(id), undefined, token)).status;
    expect(await ask(reader.token)).toBe(403);
    expect(await ask(elsewhere.token)).toBe(404);
    expect(await ask("nobody's")).toBe(401);
    expect(await ask(undefined, 999)).toBe(404);
    const { url } = await makeLink();
    const headers = { Authorization: `Bearer ${reader.token}` };
    expect(await statusOf(url, { headers })).toBe(403);
    expect(await statusOf(url)).toBe(200);
  });

  test("does not reach a server that its token does not", async () => {
    const narrowed = await makeToken({ abilities: ["*"], server_ids: [1] });
    const { url } = await makeLink(narrowed.token);
    // The inventory may move a configuration to another server, which must not widen a token.
    await service.query("update backup_configurations set server_id = 2");
    const status = await statusOf(url);
    await service.query("update backup_configurations set server_id = 1");
    expect(status).toBe(404);
  });

  test("is served only for allowed hosts", async () => {
    const { url } = await makeLink();
    expect(await statusOf(url.replace("quarterdeck.test", "evil.example"))).toBe(421);
    expect(await statusOf(url, { headers: { Host: "evil.example" } })).toBe(421);
    expect(await statusOf(url)).toBe(200);
  });

  test("appears in no log line and no metric, whatever the outcome", async () => {
    const { url } = await makeLink();
    const code = codeOf(url);
    await statusOf(url, { method: "HEAD" });
    await statusOf(url);
    await statusOf(url);
    expect(log).toContain("a login failed");
    expect(log).not.toContain(code);
    const metrics = await (await service.call("GET", "/metrics")).text();
    expect(metrics).toContain('route="/api/backup/{id}/file"');
    expect(metrics).not.toContain(code);
  });

  test("is refused under the same conditions as the download, before a browser follows it, and damage is recorded", async () => {
    const damaged = await service.run(configurationId);
    await writeFile(fileOf(damaged), "short");
    const ask = () => service.json<{ message: string }>("POST", linkPath(damaged.id));
    const message = `The stored file is damaged: it has 5 bytes instead of ${damaged.size}.`;
    expect(await ask()).toEqual({ status: 409, body: { message } });
    await becomesDamaged(damaged, `has 5 bytes instead of ${damaged.size}.`);
    await service.query("update backups set status = 'failed' where id = $1", [damaged.id]);
    expect((await ask()).status).toBe(409);
  });

  test("breaks off before the end if the file is not what was stored, and damage is recorded", async () => {
    const damaged = await service.run(configurationId);
    const { url } = await makeLink(undefined, damaged.id);
    await writeFile(fileOf(damaged), Buffer.alloc(damaged.size));
    await expect((await follow(url)).arrayBuffer()).rejects.toThrow("Checksum mismatch");
    await becomesDamaged(damaged, "Checksum mismatch");
  });

  test("counts failures by address, like a wrong token", async () => {
    const { url } = await makeLink();
    const wrong = withCode(url, () => "wrong");
    const statuses = new Set<number>();
    for (let count = 0; count < 40; count++) statuses.add(await statusOf(wrong));
    expect([...statuses]).toEqual([401, 429]);
    expect(await statusOf(url)).toBe(200);
  });
});

describe("a download by a link that broke off", () => {
  /** Begins a download, as a browser whose connection breaks. */
  async function begin(token?: string) {
    const { url } = await makeLink(token);
    const response = await follow(url);
    await response.body?.cancel();
    const tag = response.headers.get("ETag") ?? "";
    expect(tag).toMatch(new RegExp(`^"${backup.checksum}\\.\\w{28}"$`));
    return { url, tag };
  }
  const rest = (headers: Record<string, string>) => ({
    headers: { Range: "bytes=1000-", ...headers },
  });

  test.each([
    ["If-Range", "Chromium"],
    ["If-Match", "Firefox"],
  ])("is continued by the ETag of its first response in %s, as %s does", async (header) => {
    const { url, tag } = await begin();
    const stored = await readFile(fileOf(backup));
    for (let count = 0; count < 2; count++) {
      const response = await follow(url, rest({ [header]: tag }));
      expect([response.status, response.headers.get("ETag")]).toEqual([206, tag]);
      const content = Buffer.from(await response.arrayBuffer());
      expect(content.equals(stored.subarray(1000))).toBe(true);
    }
    expect(await statusOf(url, { method: "HEAD", headers: { [header]: tag } })).toBe(200);
  });

  test("isn't continued by anyone who has only the link, or the file's checksum", async () => {
    const { url, tag } = await begin();
    for (const wrong of [
      `"${backup.checksum}"`,
      `"${backup.checksum}."`,
      tag.replace(/.{28}"$/, `${"x".repeat(28)}"`),
      tag.toLowerCase(),
      "*",
    ])
      for (const header of ["If-Range", "If-Match"])
        expect(await statusOf(url, rest({ [header]: wrong })), `${header}: ${wrong}`).toBe(401);
    expect(await statusOf(url, rest({}))).toBe(401);
    const proof = /\.(\w+)"/.exec(tag)?.[1] ?? "";
    expect(await statusOf(withCode(url, (code) => `${code}.${proof}`))).toBe(401);
    const other = await begin();
    expect(await statusOf(url, rest({ "If-Range": other.tag }))).toBe(401);
    const unused = await makeLink();
    expect(await statusOf(unused.url, rest({ "If-Range": tag }))).toBe(401);
    expect(await statusOf(unused.url)).toBe(200);
    expect(await statusOf(url, rest({ "If-Range": tag }))).toBe(206);
    const rows = await service.query("select * from one_time_links");
    expect(JSON.stringify(rows)).not.toContain(proof);
    expect(log).not.toContain(proof);
  });

  test("is continued on another instance with the same database", async () => {
    const { url, tag } = await begin();
    const other = await createApp(service.options);
    try {
      const response = await other.fetch(new Request(url, rest({ "If-Range": tag })));
      await response.body?.cancel();
      expect(response.status).toBe(206);
    } finally {
      await other.close("keep");
    }
  });

  test("isn't continued once its file has turned out damaged", async () => {
    const damaged = await service.run(configurationId);
    const { url } = await makeLink(undefined, damaged.id);
    await writeFile(fileOf(damaged), Buffer.alloc(damaged.size));
    const response = await follow(url);
    const asked = rest({ "If-Range": response.headers.get("ETag") ?? "" });
    await expect(response.arrayBuffer()).rejects.toThrow("Checksum mismatch");
    await soon(async () => expect(await statusOf(url, asked)).toBe(401));
  });

  test("isn't continued once its token is revoked, or a day after it began", async () => {
    const { id, token } = await makeToken({ abilities: ["*"] });
    const revoked = await begin(token);
    await service.call("DELETE", `/api/token/${id}`);
    expect(await statusOf(revoked.url, rest({ "If-Range": revoked.tag }))).toBe(401);

    const { url, tag } = await begin();
    clock.ahead(24 * 3600 * 1000 - 60_000);
    expect(await statusOf(url, rest({ "If-Range": tag }))).toBe(206);
    clock.ahead(60_000);
    expect(await statusOf(url, rest({ "If-Range": tag }))).toBe(401);
  });
});

const becomesDamaged = ({ id }: Backup, damage: string) =>
  soon(async () => expect((await service.backup(id)).damage).toContain(damage));

const fileOf = ({ path }: Backup) => join(service.folder, "copies", path);

async function openFiles(): Promise<string[]> {
  const names = await readdir("/proc/self/fd");
  return Promise.all(names.map((name) => readlink(`/proc/self/fd/${name}`).catch(() => "")));
}
