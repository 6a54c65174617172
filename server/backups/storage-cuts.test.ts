// Tests cuts of the connection to a storage's server during runs and restores of local sources, through the whole service.
import { mkdir } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import {
  cutInRounds,
  cutRounds,
  cutsLimitMs,
  cutWords,
  measureMs,
  nothingRuns,
} from "../ssh/testing/cuts.ts";
import { createRemoteServer } from "../ssh/testing/remote-server.ts";
import { storedFilesIn } from "../storage/testing/stored-files.ts";
import { createBackupTestService, soon, type BackupTestService } from "./testing/backup-service.ts";

const remote = createRemoteServer({ config: "Subsystem sftp internal-sftp" });
let service: BackupTestService;
/** Rows of 1 kB each; more rows allow cuts at more moments. */
const rows = cutRounds > 1 ? 8000 : 3000;

beforeAll(async () => {
  const connection = await remote.connection();
  service = await createBackupTestService(
    {},
    {
      servers: `  - { id: 3, name: web-1, connection: ${connection} }`,
      providers: (folder) =>
        `  - { id: 5, name: far disk, type: local, server: 3, path: ${folder}/far }
  - { id: 6, name: box, type: sftp, path: ${folder}/box, ${connection.slice(1, -1)} }`,
    },
  );
  // Incompressible, so that the transfer takes most of the time.
  service.sql(`create table pages as with recursive n(i) as
    (select 1 union all select i + 1 from n where i < ${rows}) select 'new' as word, randomblob(1000) as filler from n`);
});
afterAll(() => service?.close());

describe.each([
  { kind: "a folder over SSH", folder: "far", provider: 5, place: "far on web-1" },
  // `npm run soak -- cuts` only; `sftp.test.ts` cuts single files.
  ...(cutRounds > 1
    ? [{ kind: "a login over SFTP", folder: "box", provider: 6, place: "box on 127.0.0.1:" }]
    : []),
])("$kind", ({ folder, provider, place }) => {
  let copies: string;
  let configuration: number;
  let kept: { id: number; size: number };
  /** Duration of the run. */
  let runMs: number;

  beforeAll(async () => {
    copies = join(service.folder, folder);
    await mkdir(copies);
    ({ id: configuration } = await service.installed({ storage_provider_id: provider, hold: 100 }));
    service.sql("update pages set word = 'new'");
    runMs = await measureMs(async () => (kept = await service.run(configuration)));
  });

  /** Returns the complete and partial files on the server. */
  const filesThere = () => storedFilesIn(copies);

  /** Expects that the storage works again, and that its files are unchanged. */
  const holdsWhatItHeld = () =>
    soon(async () => {
      const download = await service.call("GET", `/api/backup/${kept.id}/file`);
      expect(download.status).toBe(200);
      expect((await download.arrayBuffer()).byteLength).toBe(kept.size);
    });

  const away = new RegExp(`Couldn't reach the storage .*${place}`);

  /** Expects no tool running on the server, and only files of finished backups. */
  async function nothingIsLeft(): Promise<void> {
    await nothingRuns(copies);
    await soon(async () => expect(await (await remote.sshd()).findRunning(copies)).toEqual([]));
    await soon(async () => {
      const { backups } = await service.show(configuration);
      const finished = backups.filter(({ status }) => status === "finished");
      expect(await filesThere()).toEqual(finished.map(({ path }) => path).sort());
    });
  }

  test(
    "an interrupted restore fails with a message and changes nothing, or is complete",
    { timeout: cutsLimitMs },
    async () => {
      const restore = async () => {
        expect(await service.statusOf("PUT", `/api/backup/${kept.id}`)).toBe(202);
        return soon(async () => {
          const { restore_status: status, restore_output: output } = await service.backup(kept.id);
          expect(status).not.toBe("running");
          return status === "finished" ? null : (output ?? "");
        });
      };
      await cutInRounds(remote, {
        // The restore makes a safety backup first, and then reads for about as long.
        lengthMs: cutRounds > 1 ? await measureMs(restore) : 2 * runMs,
        async prepare() {
          service.sql("update pages set word = 'old'");
          await holdsWhatItHeld();
        },
        work: restore,
        async check(failure) {
          if (failure !== null) expect(failure).toMatch(away);
          if (failure !== null) expect(failure).toMatch(cutWords);
          const word = failure === null ? "new" : "old";
          expect(service.sql("select word, count(*) as n from pages group by word")).toEqual([
            { word, n: rows },
          ]);
          expect(service.sql("pragma integrity_check")).toEqual([{ integrity_check: "ok" }]);
          expect((await service.backup(kept.id)).damage).toBeNull();
          await nothingIsLeft();
        },
      });
    },
  );

  // `npm run soak -- cuts` only: `remote.test.ts` of the storage cuts the transfer of a file, `storage-faults.test.ts` has
  // runs whose storage fails, and `storage-over-ssh.test.ts` tests their messages.
  if (cutRounds === 1) return;

  test(
    "an interrupted run fails with a message, and leaves no file and no tool there",
    { timeout: cutsLimitMs },
    async () => {
      await cutInRounds(remote, {
        lengthMs: runMs,
        prepare: holdsWhatItHeld,
        async work() {
          const { status, status_reason: reason } = await service.run(configuration);
          return status === "finished" ? null : (reason ?? "");
        },
        async check(failure) {
          if (failure !== null) expect(failure).toMatch(away);
          if (failure !== null) expect(failure).toMatch(cutWords);
          await nothingIsLeft();
        },
      });
      await holdsWhatItHeld();
      expect((await service.run(configuration)).status).toBe("finished");
    },
  );
});
