// Tests uploads: stored in their storage, imported from there, and removed when interrupted.
import { execFile } from "node:child_process";
import { once } from "node:events";
import { request } from "node:http";
import { mkdir, readdir, readFile, stat, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { Readable } from "node:stream";
import { promisify } from "node:util";
import { generateX25519Identity, identityToRecipient } from "age-encryption";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { Backup } from "../../../contract/backups/backup.ts";
import { maxImportBytes } from "../../../contract/backups/import.ts";
import { createApp } from "../../app.ts";
import { listen } from "../../http/listen.ts";
import { createLocalStorage } from "../../storage/local.ts";
import { portOf } from "../../testing/port-of.ts";
import {
  createBackupTestService,
  soon,
  type BackupTestService,
} from "../testing/backup-service.ts";
import { importRoomIn } from "./import-room.ts";
import { createUploads } from "./uploads.ts";

const run = promisify(execFile);
const identity = await generateX25519Identity();
const recipient = await identityToRecipient(identity);

let service: BackupTestService;
let sealed: string;

beforeAll(async () => {
  service = await createBackupTestService(
    {},
    {
      providers: (folder) =>
        `  - { id: 3, name: sealed, type: local, path: ${folder}/sealed, recipients: [${recipient}] }`,
    },
  );
  sealed = join(service.folder, "sealed");
  await mkdir(sealed);
  // Creates the markers, so that the storages count as available.
  for (const folder of ["sealed", "copies"])
    await writeFile(join(service.folder, folder, ".quarterdeck-storage"), "");
});
afterAll(() => service?.close());

const ended = (id: number) =>
  soon(async () => {
    const found = await service.backup(id);
    expect(found.ended_at, found.output).not.toBeNull();
    return found;
  });
/** Returns the files of imports: backups, their manifests and files not imported yet. */
async function storedOf(folder: string): Promise<string[]> {
  const all = await readdir(folder, { recursive: true, withFileTypes: true });
  return all
    .filter((one) => one.isFile())
    .map(({ name }) => name)
    .filter((name) => !/^(?:\.quarterdeck-storage|RECOVERY\.md)$/.test(name))
    .toSorted();
}

describe("an uploaded file", () => {
  const send = async (
    path: string,
    content: Buffer | Readable | string,
    headers: Record<string, string> = {},
  ): Promise<Response> =>
    service.app.fetch(
      new Request(`http://quarterdeck.test${path}`, {
        method: "POST",
        headers: {
          Authorization: `Bearer ${service.token}`,
          "Content-Type": "application/octet-stream",
          ...headers,
        },
        body:
          content instanceof Readable
            ? // The types of Node's web streams and of the browser's differ in generics only.
              (Readable.toWeb(content) as ReadableStream)
            : new Uint8Array(Buffer.from(content)),
        // A streamed body needs `duplex`, which the browser's types lack.
        ...({ duplex: "half" } as object),
      }),
    );
  const upload = async (path: string, content: Buffer | Readable) => {
    const response = await send(path, content);
    const body: Backup = await response.json();
    expect(response.status, JSON.stringify(body)).toBe(202);
    return body;
  };

  test("is imported into an encrypted storage, where no part of it is ever plain", async () => {
    const planted = "planted-plaintext";
    const file = join(service.folder, "planted.db");
    const database = new DatabaseSync(file);
    database.exec(`create table t (a text); insert into t values ('${planted}')`);
    database.close();
    const content = await readFile(file);
    const gate = Promise.withResolvers<void>();
    async function* slowly() {
      yield content.subarray(0, 5000);
      await gate.promise;
      yield content.subarray(5000);
    }
    const sent = upload(
      "/api/database/1/import?storage_provider_id=3&name=shop.sqlite",
      Readable.from(slowly()),
    );
    // The import's row is running during the upload.
    const running = await soon(async () => {
      const { body } = await service.json<{
        data: { id: number; name: string; last_backup: Backup | null }[];
      }>("GET", "/api/server/1/backups");
      const found = body.data.find(({ name }) => name === "orders (imported)")?.last_backup;
      expect(found?.status).toBe("running");
      return found;
    });
    expect(running?.output).toMatch(/^Receiving shop\.sqlite/);
    gate.resolve();
    const { id } = await sent;
    const backup = await ended(id);
    expect(backup.status, backup.output).toBe("finished");
    expect(backup.path).toMatch(/\.sqlite\.zst\.age$/);
    expect(backup.output).not.toContain(planted);
    await soon(async () => expect(await storedOf(sealed)).toHaveLength(2));
    const { stdout } = await run("grep", ["-rc", planted, sealed]).catch(
      (error: { stdout: string }) => error,
    );
    expect(stdout.split("\n").filter((line) => /:[1-9]/.test(line))).toEqual([]);
    expect((await service.call("PUT", `/api/backup/${backup.id}`, { identity })).status).toBe(202);
    await service.restored(backup.id, "finished");
    expect(service.sql("select a from t")).toEqual([{ a: planted }]);
  });

  test("that breaks off, is canceled, or is too large leaves a failed row and no file", async () => {
    const folder = join(service.folder, "copies");
    const before = await storedOf(folder);
    const path = "/api/site/1/import?storage_provider_id=1";
    const newest = async () => {
      const { body } = await service.json<{ data: { name: string; last_backup: Backup | null }[] }>(
        "GET",
        "/api/server/1/backups",
      );
      return body.data.find(({ name }) => name === "shop (imported)")?.last_backup ?? null;
    };
    async function* broken() {
      yield Buffer.alloc(100_000, "x");
      await soon(async () => expect((await newest())?.status).toBe("running"));
      throw new Error("The client has gone.");
    }
    await send(path, Readable.from(broken())).catch(() => undefined);
    const failed = await soon(async () => {
      const found = await newest();
      expect(found?.status).toBe("failed");
      return found;
    });
    expect(failed?.status_reason).toMatch(/^The upload broke off .* Import the file again\.$/);
    const held = Promise.withResolvers<void>();
    async function* endless() {
      yield Buffer.alloc(100_000, "x");
      await held.promise;
    }
    const canceled = send(path, Readable.from(endless()));
    const { id, configuration_id: configuration } = await soon(async () => {
      const found = await newest();
      expect(found?.status).toBe("running");
      return found ?? expect.fail("no row");
    });
    // Otherwise the uploaded file would be left in the storage without a row.
    expect(await service.messageOf("DELETE", `/api/backup-configuration/${configuration}`)).toMatch(
      /^An import of this configuration is queued or running\./,
    );
    expect((await service.call("POST", `/api/backup/${id}/cancel`)).status).toBe(202);
    expect((await canceled).status).toBe(409);
    held.resolve();
    expect(await service.backup(id)).toMatchObject({
      status: "failed",
      status_reason: expect.stringMatching(/^Canceled by .* Nothing was stored\.$/),
    });
    const large = await send(path, "x", { "Content-Length": String(2 ** 52) });
    expect(large.status).toBe(413);
    expect(await large.json()).toEqual({
      message: expect.stringMatching(/larger than the .* that are free in/),
    });
    const statusOf = async (to: string, content = "x") => (await send(to, content)).status;
    expect(await statusOf("/api/site/1/import")).toBe(422);
    expect(await statusOf("/api/site/1/import?storage_provider_id=99")).toBe(422);
    expect(await statusOf("/api/site/1/import?storage_provider_id=2")).toBe(409);
    // Only uploads accept a file; all other operations accept JSON only.
    expect(await statusOf("/api/site/1/restore")).toBe(415);
    await soon(async () => expect(await storedOf(folder)).toEqual(before));
  });

  test("that is too slow is aborted, and its size is limited even if the storage does not report its free space", async () => {
    const storage = createLocalStorage({ path: join(service.folder, "copies") });
    const place = "s3://bucket";
    const room = await importRoomIn({ freeBytes: async () => null, place });
    expect(room).toEqual({
      bytes: maxImportBytes,
      words: expect.stringMatching(/^1 TB, which is the most in s3:\/\/bucket, .* Choose another/),
    });
    const receive = (content: Readable, from: Partial<typeof room> = {}) =>
      createUploads({ bytes: 1000, seconds: 0.2 }).receive({
        id: 1,
        content,
        storage,
        key: "slow.upload",
        isSealed: false,
        room: { ...room, ...from },
        onProgress: () => undefined,
        signal: new AbortController().signal,
      });
    async function* byte() {
      for (;;) {
        await new Promise((resolve) => setTimeout(resolve, 10));
        yield Buffer.from("x");
      }
    }
    await expect(receive(Readable.from(byte()))).rejects.toThrow(
      /^The file came too slowly: \d+ bytes in 0\.2 s, and it takes 1 kB at least\. /,
    );
    async function* enough() {
      for (let count = 0; count < 6; count++) {
        await new Promise((resolve) => setTimeout(resolve, 60));
        yield Buffer.alloc(1000);
      }
    }
    expect(await receive(Readable.from(enough()))).toMatchObject({ sentBytes: 6000 });
    await storage.remove("slow.upload");
    await expect(receive(Readable.from(enough()), { bytes: 5999 })).rejects.toThrow(
      `The file is larger than ${room.words}`,
    );
  });

  test("whose connection is lost has failed, and a refused one gets a message", async () => {
    const statuses: number[] = [];
    const server = await listen(
      async (request) => {
        const response = await service.app.fetch(request);
        statuses.push(response.status);
        return response;
      },
      0,
      "127.0.0.1",
    );
    try {
      const open = (headers: Record<string, string | number>) =>
        request({
          port: portOf(server),
          method: "POST",
          path: "/api/site/1/import?storage_provider_id=1&name=cut.tar",
          headers: {
            Host: "quarterdeck.test",
            Authorization: `Bearer ${service.token}`,
            "Content-Type": "application/octet-stream",
            ...headers,
          },
        });
      const sending = open({ "Content-Length": 10_000_000 });
      sending.on("error", () => undefined);
      sending.write(Buffer.alloc(100_000, "x"));
      const id = await soon(async () => {
        const [row] = await service.query<{ id: number }>(
          "select id from backups where trigger = 'import' and status = 'running'",
        );
        return row?.id ?? expect.fail("no row");
      });
      sending.destroy();
      expect(await ended(id)).toMatchObject({
        status: "failed",
        status_reason: expect.stringMatching(/^The upload broke off/),
      });
      // Not a 500, which would be logged and counted as an error of the service.
      await soon(async () => expect(statuses).toEqual([409]));
      const refused = open({ "Content-Length": 2 ** 52 });
      refused.on("error", () => undefined);
      refused.flushHeaders();
      const [response] = await once(refused, "response");
      expect(response.statusCode).toBe(413);
      refused.destroy();
    } finally {
      server.closeAllConnections();
      server.close();
    }
  });

  test("that a kill of the service interrupted has failed after the next start, and its file is removed", async () => {
    const left = join(service.folder, "copies/left/1.upload");
    await mkdir(join(service.folder, "copies/left"));
    await writeFile(left, "x");
    // The state after a kill: the row is running, and no client sends the file.
    const [row] = await service.query<{ id: number }>(
      `insert into backups (configuration_id, storage_provider_id, trigger, status, path)
       select configuration_id, 1, 'import', 'running', 'left/1.upload' from backups where trigger = 'import' limit 1 returning id`,
    );
    const other = await createApp(service.options);
    try {
      expect(await ended(row?.id ?? 0)).toMatchObject({
        status: "failed",
        status_reason: expect.stringMatching(/^Interrupted/),
      });
      await soon(() => expect(stat(left)).rejects.toThrow(/ENOENT/));
    } finally {
      await other.close("keep");
    }
  });

  test("is one of at most four at a time, even if many are sent at the same moment", async () => {
    const gate = Promise.withResolvers<void>();
    async function* held() {
      yield Buffer.from("x");
      await gate.promise;
    }
    const statuses: number[] = [];
    const ids: number[] = [];
    const sent = Array.from({ length: 6 }, async () => {
      const path = "/api/database/1/import?storage_provider_id=1";
      const response = await send(path, Readable.from(held()));
      statuses.push(response.status);
      const body: Backup = await response.json();
      if (response.status === 202) ids.push(body.id);
    });
    try {
      await soon(() => expect(statuses).toEqual([409, 409]));
    } finally {
      gate.resolve();
      await Promise.all(sent);
    }
    expect(ids).toHaveLength(4);
    await Promise.all(ids.map(ended));
  });
});
