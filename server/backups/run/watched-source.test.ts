// Tests sources on a real mount whose FUSE program is stopped.
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { Writable } from "node:stream";
import { callbackify } from "node:util";
import { beforeEach, expect, onTestFinished, test } from "vitest";
import { createLocalHost } from "../../hosts/local.ts";
import { createRemoteServer } from "../../ssh/testing/remote-server.ts";
import { mountWatch, mountWatchThere, patience } from "../../storage/mount-watch.ts";
import { makeFolder } from "../../testing/machine.ts";
import { mountFolder } from "../../testing/mount.ts";
import { ownUser } from "../../testing/own-user.ts";
import { soon } from "../../testing/soon.ts";
import { createRemoteFolderSource } from "../sources/folder/remote/source.ts";
import { createFolderSource } from "../sources/folder/source.ts";
import { SourceError } from "../sources/source.ts";
import { createBackupTestService } from "../testing/backup-service.ts";
import { createWatchedSource } from "./watched-source.ts";

const host = createLocalHost({ PATH: process.env["PATH"] ?? "", HOME: "/tmp" });
const server = createRemoteServer();
const never = new AbortController().signal;
const attempt = { id: 7, say: () => undefined, signal: never };

beforeEach(() => {
  const before = { ...patience };
  Object.assign(patience, { answer: 5000, pause: 200 });
  onTestFinished(() => void Object.assign(patience, before));
});

test.for(["here", "on a server"])(
  "the backup of a site on a hanging mount fails in time at each step, and succeeds once the mount responds, %s",
  async (where, context) => {
    const { disk, path: root, hang, goOn } = await mountFolder(context);
    const isHere = where === "here";
    const name = "shop";
    const source = isHere
      ? createWatchedSource(
          createFolderSource({ host, name, root, scratchFolder: await makeFolder() }),
          mountWatch(root, host),
        )
      : createWatchedSource(
          createRemoteFolderSource({ host: await server.host(), name, root }),
          mountWatchThere({ host: await server.host(), server: "web-1", root }),
        );
    const hangs = expect.objectContaining({
      name: SourceError.name,
      message: `${isHere ? root : `${root} on web-1`} doesn't respond: what is mounted there hangs. Look at the network and at the file server.`,
    });
    await writeFile(join(disk, "large"), Buffer.alloc(50_000_000));
    /** @param onFirst called once the first content has arrived */
    const dump = async (onFirst: () => Promise<void>) => {
      let bytes = 0;
      const take = callbackify(async (piece: Buffer) => {
        if (bytes === 0) await onFirst();
        bytes += piece.length;
      });
      const into = new Writable({
        write: (piece: Buffer, _encoding, done) => take(piece, done),
      });
      into.on("error", () => undefined);
      await source
        .dump(into, attempt)
        .finally(() => expect(into.closed || into.destroyed).toBe(true));
      return bytes;
    };
    expect(await dump(async () => undefined)).toBeGreaterThan(50_000_000);
    await expect(dump(hang)).rejects.toEqual(hangs);
    for (const step of [() => source.rehearse(never), () => source.exists(), () => dump(hang)])
      await expect(step()).rejects.toEqual(hangs);
    goOn();
    await soon(async () => expect(await dump(async () => undefined)).toBeGreaterThan(50_000_000));
  },
);

test("a restore into a folder on a hanging mount fails in time, before it begins", async (context) => {
  const { path, hang, goOn } = await mountFolder(context);
  await writeFile(join(path, "page"), "old");
  const database = new DatabaseSync(join(path, "orders.sqlite"));
  database.exec("create table orders (id integer)");
  database.close();
  const service = await createBackupTestService(
    {},
    {
      sites: () => `  - { id: 7, server: 1, name: shop, root: ${path}, user: ${ownUser} }`,
      databases: () =>
        `  - { id: 8, server: 1, name: orders, engine: sqlite, path: ${path}/orders.sqlite, user: ${ownUser} }`,
    },
  );
  onTestFinished(() => service.close());
  onTestFinished(goOn);
  const ofSite = { backupable_type: "site", backupable_id: 7 };
  const site = await service.run((await service.installed(ofSite)).id);
  const orders = await service.run((await service.installed({ backupable_id: 8 })).id);
  await hang();
  patience.answer = 500;
  // The previous result is cached for a moment.
  for (const asked of [path, `${path}/orders.sqlite`])
    await soon(() => expect(mountWatch(asked, host).isMount()).rejects.toThrow("hangs"));
  const whole = { skip_safety_backup: true };
  const page = { ...whole, backup_id: site.id, path: "page" };
  for (const [id, method, address, body] of [
    [site.id, "PUT", `/api/backup/${site.id}`, whole],
    [site.id, "POST", "/api/site/7/restore", page],
    [orders.id, "PUT", `/api/backup/${orders.id}`, whole],
  ] as const) {
    expect(await service.statusOf(method, address, body)).toBe(202);
    const { restore_output: output } = await service.restored(id, "failed");
    expect(output).toContain("doesn't respond: what is mounted there hangs.");
    expect(output).not.toContain("Restoring.\n");
  }
});
