// The service's backups of itself in a bucket, on a server over SSH and through rclone: kept, tested by a drill, and restored
// elsewhere.
import { chmod, mkdir, readFile, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from "vitest";
import { restoreSelfCommand } from "../commands/restore-self.ts";
import { runHere } from "../commands/testing/run-here.ts";
import { verifyCommand } from "../commands/verify.ts";
import type { LocalHost } from "../hosts/host.ts";
import { createLocalHost } from "../hosts/local.ts";
import { parseInventory } from "../inventory/file.ts";
import { createSecretReader } from "../inventory/secrets.ts";
import { createInventoryStore } from "../inventory/store.ts";
import { createServers, type Servers } from "../ssh/servers.ts";
import { sshEntry } from "../ssh/testing/entry.ts";
import { startSshd, type TestSshd } from "../ssh/testing/sshd.ts";
import { startS3, type Gate } from "../storage/testing/s3.ts";
import { openUnchanged, type OpenDatabase } from "../store/database.ts";
import { createFakeClock } from "../testing/fake-clock.ts";
import { casesOf, isLongForm } from "../testing/long-form.ts";
import { makeFolder } from "../testing/machine.ts";
import {
  administer,
  createTestService,
  databaseUrl,
  oneSite,
  type TestService,
} from "../testing/service.ts";
import { createNightly } from "./nightly.ts";

const dayMs = 24 * 3600 * 1000;
const clock = createFakeClock();

let sshd: TestSshd;
let s3: Gate;
let service: TestService;
let opened: OpenDatabase;
let servers: Servers;
let host: LocalHost;
let bucketFolder: string;
let boxFolder: string;
/** Cleanups that are registered within a hook are never run by Vitest. */
const cleanUps: (() => unknown)[] = [];
const later = (cleanUp: () => unknown) => void cleanUps.push(cleanUp);

beforeAll(async () => {
  sshd = await startSshd({ cleanUp: later, config: "Subsystem sftp internal-sftp" });
  await mkdir(join(sshd.folder, "jail"));
  await chmod(join(sshd.folder, "jail"), 0o777);
  await mkdir(join(sshd.folder, "copies"));
  // The login account may differ from the account of the tests.
  await chmod(join(sshd.folder, "copies"), 0o777);
  bucketFolder = await makeFolder(later);
  boxFolder = await makeFolder(later);
  s3 = await startS3(bucketFolder);
  service = await createTestService({
    inventory: (folder) =>
      `${oneSite(folder)}
storage_providers:
  - { id: 1, name: offsite, type: s3, bucket: copies, endpoint: "${s3.options.endpoint}", access_key: env:S3_ACCESS, secret_key: env:S3_SECRET }
  - { id: 3, name: box, type: rclone, remote: "here:${boxFolder}", config: file:rclone.conf }
  - { id: 4, name: jail, type: sftp, path: ${sshd.folder}/jail, ${sshEntry(sshd).slice(1, -1)} }
  - { id: 2, name: there, type: local, path: ${sshd.folder}/copies, server: 2 }
`.replace("\nsites:", `\n  - { id: 2, name: web-1, connection: ${sshEntry(sshd)} }\nsites:`),
  });
  await writeFile(join(service.folder, "rclone.conf"), "[here]\ntype = local\n");
  const file = service.options.inventoryFile;
  const inventory = parseInventory(await readFile(file, "utf8"), file);
  host = createLocalHost({ PATH: process.env["PATH"] ?? "", HOME: service.folder });
  servers = createServers({
    local: host,
    environment: { PATH: process.env["PATH"] ?? "", HOME: service.folder },
    inventoryFolder: service.folder,
  });
  await servers.follow(inventory.servers);
  opened = await openUnchanged({ ...service.connection, max: 3 });
});
afterAll(async () => {
  await opened.close();
  await servers.close();
  await service.close();
  await s3.close();
  for (const cleanUp of cleanUps.toReversed()) await cleanUp();
});

const storages = {
  "a bucket": { providerId: 1, from: () => "s3://copies" },
  "a login over SFTP": { providerId: 4, from: () => join(sshd.folder, "jail") },
  "a server over SSH": { providerId: 2, from: () => join(sshd.folder, "copies") },
  "a remote of rclone": { providerId: 3, from: () => `rclone://here:${boxFolder}` },
};
/** The second night removes the first file, which is in another storage. */
const nights = isLongForm ? 2 : 1;

const accessOf = () => ({
  RCLONE_CONFIG: join(service.folder, "rclone.conf"),
  AWS_ACCESS_KEY_ID: s3.options.accessKey,
  AWS_SECRET_ACCESS_KEY: s3.options.secretKey,
  AWS_ENDPOINT_URL: s3.options.endpoint ?? "",
});
const makeNightly = (providerId: number) => {
  const secrets = { S3_ACCESS: s3.options.accessKey, S3_SECRET: s3.options.secretKey };
  return createNightly({
    ...service.options,
    settings: { providerId, keep: 1, recipients: null },
    db: opened.db,
    servers,
    host,
    secrets: createSecretReader(secrets, service.folder),
    marks: createInventoryStore(opened.db),
    clock,
  });
};
// `npm run soak -- storages` tests all of them: the others take the same path.
describe.each(casesOf(storages, ["a bucket"]))("%s", (kind, { providerId, from }) => {
  let newest = "";

  test("keeps the newest one after a test restore", async () => {
    const nightly = makeNightly(providerId);
    for (let night = 1; night <= nights; night += 1) {
      clock.jump(dayMs);
      await nightly.run();
      const [made] = await service.query<{ outcome: string; detail: string }>(
        "select outcome, detail from activity where object_type = 'installation' order by id desc limit 1",
      );
      expect(made).toEqual({
        outcome: "good",
        detail: expect.stringMatching(/^quarterdeck\/\S+\.tar\.zst in .+, restored as a trial: /),
      });
      newest = made?.detail.split(" ")[0] ?? "";
    }
    const named = { ...accessOf(), QUARTERDECK_DATA: bucketFolder };
    const verified = await runHere(
      verifyCommand,
      [providerId === 4 ? "4" : from()],
      providerId === 4 ? { ...named, QUARTERDECK_INVENTORY: service.options.inventoryFile } : named,
    );
    expect(verified).toEqual({
      code: 0,
      stdout: expect.stringMatching(/^1 stored file in .*, all sound\.\n$/),
      stderr: "",
    });
  });

  test.runIf(kind === "a bucket")("keeps nothing whose manifest can't be confirmed", async () => {
    s3.rule((asked) => (/^PUT .*zst\.json/.test(asked) ? "lost" : "pass"));
    clock.jump(dayMs);
    await makeNightly(providerId).run();
    s3.rule(() => "pass");
    const [made] = await service.query<{ outcome: string }>(
      "select outcome from activity where object_type = 'installation' order by id desc limit 1",
    );
    expect(made?.outcome).toBe("bad");
    expect(await runHere(verifyCommand, [from()], accessOf())).toMatchObject({
      code: 0,
      stdout: expect.stringMatching(/^1 stored file in .*, all sound\.\n$/),
    });
  });

  // The others are folders for the command; `self-backup.test.ts` restores from a folder.
  test.each(isLongForm || kind === "a bucket" ? ["restore-self"] : [])(
    "%s restores an installation from it",
    async () => {
      const data = join(await makeFolder(), "data");
      // A database on a server is ready sooner than an embedded one; `self-backup.test.ts` restores into both.
      const database = `restored_${providerId}_${process.pid}`;
      await administer(`create database ${database} template template0`);
      onTestFinished(() => administer(`drop database ${database} with (force)`));
      const restored = await runHere(restoreSelfCommand, [from()], {
        ...accessOf(),
        QUARTERDECK_DATA: data,
        DATABASE_URL: databaseUrl(database),
      });
      expect([restored.code, restored.stdout]).toEqual([
        0,
        expect.stringContaining(`Restored ${newest} in `),
      ]);
      await rm(data, { recursive: true, force: true });
    },
  );
});
