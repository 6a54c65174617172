// Tests that a download that broke off continues, with real clients.
import { execFile } from "node:child_process";
import { createHash, randomBytes } from "node:crypto";
import type { Server } from "node:http";
import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { Backup } from "../../contract/backups/backup.ts";
import { listen } from "../http/listen.ts";
import { portOf } from "../testing/port-of.ts";
import { createJudge, type Description } from "../testing/fuzz/description.ts";
import { createBackupTestService, type BackupTestService } from "./testing/backup-service.ts";

let service: BackupTestService;
let server: Server;
let configurationId: number;
let backup: Backup;
let stored: Buffer;
beforeAll(async () => {
  service = await createBackupTestService();
  // More than all buffers on the way hold.
  service.sql(
    `insert into orders (customer) values ('${randomBytes(4 * 2 ** 20).toString("base64")}')`,
  );
  configurationId = (await service.installed()).id;
  backup = await service.run(configurationId);
  stored = await readFile(fileOf(backup));
  server = await listen(service.app.fetch, 0, "127.0.0.1");
});
afterAll(async () => {
  server.close();
  await service.close();
});

const fileOf = ({ path }: Backup) => join(service.folder, "copies", path);
const sha256 = (content: Buffer) => createHash("sha256").update(content).digest("hex");

/** Runs a client until it ends, and returns its exit code and output. */
const run = (program: string, args: readonly string[]) =>
  new Promise<{ code: unknown; output: string }>((resolve) =>
    execFile(program, args, (error, stdout, stderr) =>
      resolve({ code: error?.code ?? 0, output: stdout + stderr }),
    ),
  );

const headers = () => ["Host: quarterdeck.test", `Authorization: Bearer ${service.token}`];
const url = ({ id }: Backup) => `http://127.0.0.1:${portOf(server)}/api/backup/${id}/file`;

const clients: [string, string, (of: Backup, file: string) => string[]][] = [
  [
    "curl -C -",
    "curl",
    (of, file) => [
      ..."-sS -C - -w %{http_code}".split(" "),
      ...headers().flatMap((line) => ["-H", line]),
      "-o",
      file,
      url(of),
    ],
  ],
  [
    "wget -c",
    "wget",
    (of, file) => [
      ..."-c -S --tries=1".split(" "),
      ...headers().map((line) => `--header=${line}`),
      "-O",
      file,
      url(of),
    ],
  ],
];
const there = await Promise.all(
  clients.map(async (client) => ({
    client,
    isThere: (await run(client[1], ["--version"])).code === 0,
  })),
);

describe.each(there.flatMap(({ client, isThere }) => (isThere ? [client] : [])))(
  "%s",
  (name, program, args) => {
    test("continues a download that broke off, and gets the stored file", async () => {
      const file = join(service.folder, `broken-off-${program}`);
      await writeFile(file, stored.subarray(0, 3_000_000));
      const { code, output } = await run(program, args(backup, file));
      expect(code, output).toBe(0);
      expect(output).toContain("206");
      expect(sha256(await readFile(file))).toBe(backup.checksum);
    });

    test("leaves a complete file as it is", async () => {
      const file = join(service.folder, `complete-${program}`);
      await writeFile(file, stored);
      const { code, output } = await run(program, args(backup, file));
      expect(code, output).toBe(0);
      expect(output).toContain("416");
      expect(sha256(await readFile(file))).toBe(backup.checksum);
    });

    test("fails where the stored file is damaged before the part that it asks for", async () => {
      const damaged = await service.run(configurationId);
      const content = await readFile(fileOf(damaged));
      content.fill(0, 1000, 1100);
      await writeFile(fileOf(damaged), content);
      const file = join(service.folder, `damaged-${program}`);
      await writeFile(file, content.subarray(0, 3_000_000));
      const { code, output } = await run(program, args(damaged, file));
      expect(code, output).not.toBe(0);
      expect((await readFile(file)).length).toBeLessThan(damaged.size);
    });
  },
);

describe("a range", () => {
  const ask = async (asked: Record<string, string>, method = "GET") => {
    const response = await service.app.fetch(
      new Request(`http://quarterdeck.test/api/backup/${backup.id}/file`, {
        method,
        headers: { Authorization: `Bearer ${service.token}`, ...asked },
      }),
    );
    return { response, content: Buffer.from(await response.arrayBuffer()) };
  };
  const tag = () => `"${backup.checksum}"`;
  const last = () => backup.size - 1;

  test.each<[string, () => Record<string, string>, () => number]>([
    ["to the end", () => ({ Range: "bytes=100-" }), () => 100],
    ["to the last byte", () => ({ Range: `bytes=100-${last()}` }), () => 100],
    ["to beyond the last byte", () => ({ Range: `bytes=0-${last() + 100}` }), () => 0],
    ["of the last bytes", () => ({ Range: "bytes=-500" }), () => backup.size - 500],
    ["of more than all bytes", () => ({ Range: `bytes=-${backup.size + 1}` }), () => 0],
    ["in capitals", () => ({ Range: "Bytes=100-" }), () => 100],
    ["of this file", () => ({ Range: "bytes=100-", "If-Range": tag() }), () => 100],
    [
      "of one of two files",
      () => ({ Range: "bytes=100-", "If-Match": `"x", ${tag()}` }),
      () => 100,
    ],
    ["of any file", () => ({ Range: "bytes=100-", "If-Match": "*" }), () => 100],
  ])("%s is sent as a part", async (_, asked, from) => {
    const { response, content } = await ask(asked());
    expect(response.status).toBe(206);
    expect(Object.fromEntries(response.headers)).toMatchObject({
      "content-range": `bytes ${from()}-${last()}/${backup.size}`,
      "content-length": String(backup.size - from()),
      "accept-ranges": "bytes",
      etag: tag(),
    });
    expect(content.equals(stored.subarray(from()))).toBe(true);
  });

  test.each<[string, () => Record<string, string>]>([
    ["of another file", () => ({ Range: "bytes=100-", "If-Range": '"other"' })],
    ["of a weak tag", () => ({ Range: "bytes=100-", "If-Range": `W/${tag()}` })],
    ["since a date", () => ({ Range: "bytes=100-", "If-Range": new Date(0).toUTCString() })],
    // A part is complete only once the whole file has been verified.
    ["that ends before the file", () => ({ Range: "bytes=0-99" })],
    ["of several parts", () => ({ Range: "bytes=0-99,200-" })],
    ["that ends before it begins", () => ({ Range: "bytes=200-100" })],
    ["of another unit", () => ({ Range: "rows=100-" })],
    ["without a number", () => ({ Range: "bytes=-" })],
  ])("%s is ignored", async (_, asked) => {
    const { response, content } = await ask(asked());
    expect([response.status, response.headers.get("Content-Range")]).toEqual([200, null]);
    expect(content.equals(stored)).toBe(true);
  });

  test.each([
    ["behind the file", () => `bytes=${backup.size}-`],
    ["far behind the file", () => "bytes=99999999999999999999-"],
    ["of no byte", () => "bytes=-0"],
  ])("%s gets a 416 with the size", async (_, range) => {
    const { response, content } = await ask({ Range: range() });
    expect([response.status, response.headers.get("Content-Range")]).toEqual([
      416,
      `bytes */${backup.size}`,
    ]);
    expect(JSON.parse(content.toString())).toEqual({
      message: `The file has ${backup.size} bytes, and the range begins after them.`,
    });
  });

  test.each([
    [200, {}],
    [206, { Range: "bytes=100-" }],
    [304, { "If-None-Match": "*" }],
    [412, { "If-Match": '"other"' }],
    [416, { Range: "bytes=-0" }],
  ])(
    "gets a %i that the description of the interface knows, with its headers",
    async (status, asked) => {
      const description: Description = await (await service.call("GET", "/openapi.json")).json();
      const { response, content } = await ask(asked);
      expect(response.status).toBe(status);
      const type = response.headers.get("Content-Type");
      const answered = { status, type, body: content.toString() };
      const { problemOf } = createJudge(description);
      expect(problemOf("GET", `/api/backup/${backup.id}/file`, answered)).toBeNull();
      const operation = description.paths["/api/backup/{id}/file"]?.["get"];
      const { headers = {} } = operation?.responses[String(status)] ?? {};
      const ofRanges = ["accept-ranges", "content-range", "etag"];
      expect(
        Object.keys(headers)
          .map((name) => name.toLowerCase())
          .filter((name) => ofRanges.includes(name))
          .toSorted(),
      ).toEqual(ofRanges.filter((name) => response.headers.has(name)));
    },
  );

  test.each([
    ["another file", () => '"other"'],
    ["a weak tag", () => `W/${tag()}`],
  ])("that must be of %s gets a 412, and nothing of the file", async (_, match) => {
    for (const method of ["GET", "HEAD"]) {
      const { response, content } = await ask({ Range: "bytes=100-", "If-Match": match() }, method);
      expect(response.status).toBe(412);
      expect(String(content)).toBe(
        method === "GET" ? '{"message":"The file is not the one that If-Match names."}' : "",
      );
    }
  });

  test.each([
    ["this file", tag],
    ["a weak tag of this file", () => `"x", W/${tag()}`],
    ["a one-time link's download of this file", () => tag().replace(/"$/, '.proof"')],
    ["any file", () => "*"],
  ])("that must not be of %s gets a 304, and nothing of the file", async (_, match) => {
    for (const method of ["GET", "HEAD"]) {
      const asked = { Range: "bytes=100-", "If-None-Match": match() };
      const { response, content } = await ask(asked, method);
      expect([response.status, content.length]).toEqual([304, 0]);
      expect(Object.fromEntries(response.headers)).toMatchObject({
        etag: tag(),
        "cache-control": "no-store",
      });
    }
    const { response } = await ask({ "If-None-Match": match(), "If-Match": '"other"' });
    expect(response.status).toBe(412);
  });

  test("that must not be of another file is sent", async () => {
    const { response } = await ask({ Range: "bytes=100-", "If-None-Match": '"other"' });
    expect(response.status).toBe(206);
  });

  test("of a HEAD is ignored", async () => {
    const { response } = await ask({ Range: "bytes=100-" }, "HEAD");
    expect([response.status, response.headers.get("Content-Length")]).toEqual([
      200,
      String(backup.size),
    ]);
  });
});
