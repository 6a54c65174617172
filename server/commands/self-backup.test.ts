// Backs up an installation and restores it elsewhere, like an operator: encrypted, damaged, and killed meanwhile.
import { execFile } from "node:child_process";
import { existsSync } from "node:fs";
import { cp, mkdir, readdir, readFile, rm, stat, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import { zstdCompressSync, zstdDecompressSync } from "node:zlib";
import { Decrypter, generateX25519Identity } from "age-encryption";
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from "vitest";
import { hasPostgresServer, startPostgresServer } from "../backups/testing/postgres-server.ts";
import { markerName } from "../storage/marker.ts";
import { inLongForm, casesOf } from "../testing/long-form.ts";
import { startService } from "../testing/service-process.ts";
import { backupSelfCommand } from "./backup-self.ts";
import { restoreSelfCommand } from "./restore-self.ts";
import { readContent } from "./testing/filled-database.ts";
import { runHere } from "./testing/run-here.ts";
import { makeInstallation, planted, start, storedIn, withEmbedded } from "./testing/self-backup.ts";
import { verifyCommand } from "./verify.ts";
import { soon } from "../testing/soon.ts";

const runFile = promisify(execFile);

let made: Awaited<ReturnType<typeof makeInstallation>>;
let server: Awaited<ReturnType<typeof startPostgresServer>>;
let url: string;
const at = (...names: string[]) => made.at(...names);

type Content = Awaited<ReturnType<typeof readContent>>;

/** Leaves out what only applies to one machine. */
function comparable({ tables, sequences, structure }: Content) {
  const { instances, rate_limits, server_leases, settings, ...rest } = tables;
  expect([instances, rate_limits, server_leases, settings]).not.toContain(undefined);
  return { tables: rest, sequences, structure };
}

/** Creates a storage for a test, with the files of the original installation. */
async function storageFor(name: string, from: string): Promise<{ folder: string; file: string }> {
  const folder = at(name);
  await cp(at(from), folder, { recursive: true });
  onTestFinished(() => rm(folder, { recursive: true, force: true }));
  return { folder, file: await storedIn(folder) };
}

/** Returns the names in a data folder, except for the lock, which even a refused restore leaves. */
const namesIn = async (folder: string) =>
  (await readdir(folder)).filter((name) => name !== "lock" && name !== "instance.lock").sort();

describe.skipIf(!hasPostgresServer)("an installation", () => {
  beforeAll(async () => {
    made = await makeInstallation();
    server = await startPostgresServer();
    await server.createDatabase("quarterdeck");
    url = server.url("quarterdeck");
  }, 120_000);
  afterAll(async () => {
    await server.stop();
    await made.remove();
  });

  test("lists what its backup contains and what not", () => {
    expect(made.said).toContain("Not encrypted.");
    expect(made.said).toContain("Not in it: files of secrets, signing secrets of webhooks");
    expect(made.saidEncrypted).toContain("2 files of secrets, the signing secrets of webhooks");
    expect(made.saidEncrypted).toContain("Not in it: secrets in environment variables");
  });

  test("marks the folder of a storage provider, which is unavailable without its marker from then on", () => {
    expect(existsSync(at("plain", markerName))).toBe(true);
    expect(existsSync(at("sealed", markerName))).toBe(false);
  });

  test("is stored with a manifest that `verify` checks", async () => {
    for (const folder of ["plain", "sealed"]) {
      const data = { QUARTERDECK_DATA: at("none") };
      expect(await runHere(verifyCommand, [at(folder)], data)).toEqual({
        code: 0,
        stdout: expect.stringMatching(/^1 stored file .* all sound\.\n$/),
        stderr: "",
      });
    }
  });

  test("is encrypted to the recipients of its storage provider unless it has others", async () => {
    const { code, stdout } = await runHere(backupSelfCommand, ["3"], {
      QUARTERDECK_DATA: at("old"),
    });
    expect([code, stdout]).toEqual([
      0,
      expect.stringContaining("Encrypted to the recipients of the storage provider."),
    ]);
    expect(stdout).toContain("Not in it: files of secrets, signing secrets of webhooks");
    expect(await storedIn(at("recipients"))).toMatch(/\.age$/);
  });

  inLongForm(() => {
    test("is backed up completely even if nobody reads the output, and its database is stopped again", async () => {
      await mkdir(at("unheard"));
      onTestFinished(() => rm(at("unheard"), { recursive: true }));
      const { child, ended } = start(["backup-self", at("unheard")], {
        QUARTERDECK_DATA: at("old"),
      });
      child.stdout.destroy();
      expect(await ended).toEqual({ code: 0, output: "" });
      await storedIn(at("unheard"));
      expect(existsSync(at("old/postgres/data/postmaster.pid"))).toBe(false);
    });
  });

  test("keeps secrets out of a file that is not encrypted", async () => {
    const stored = await readFile(await storedIn(at("plain")));
    const sealed = await readFile(await storedIn(at("sealed")));
    const decrypter = new Decrypter();
    decrypter.addIdentity(made.identity);
    const opened = zstdDecompressSync(await decrypter.decrypt(sealed));
    for (const secret of Object.values(planted)) {
      expect(stored.includes(secret)).toBe(false);
      expect(zstdDecompressSync(stored).includes(secret)).toBe(false);
      expect(sealed.includes(secret)).toBe(false);
      expect(opened.includes(secret)).toBe(true);
    }
  });

  test.skipIf(!existsSync("/usr/bin/age"))(
    "can be opened with age, zstd, tar and sha256sum",
    async () => {
      const folder = at("by-hand");
      await mkdir(folder);
      onTestFinished(() => rm(folder, { recursive: true }));
      await runFile("age", [
        "-d",
        "-i",
        at("identity"),
        "-o",
        join(folder, "a.tar.zst"),
        await storedIn(at("sealed")),
      ]);
      await runFile("tar", ["--zstd", "-xf", "a.tar.zst"], { cwd: folder });
      await runFile("sha256sum", ["--check", "--strict", "SHA256SUMS"], { cwd: folder });
      expect(await readFile(join(folder, "inventory.yaml"))).toEqual(
        await readFile(at("old/inventory.yaml")),
      );
    },
  );

  test("is restored completely to a server, where it can be backed up again and the service continues", async () => {
    const identified = { QUARTERDECK_IDENTITY: `file:${at("identity")}` };
    await rm(at("elsewhere"), { recursive: true });
    const onServer = { QUARTERDECK_DATA: at("two"), DATABASE_URL: url };
    const first = await runHere(restoreSelfCommand, [at("sealed")], { ...onServer, ...identified });
    expect([first.code, first.stdout]).toEqual([0, expect.stringContaining("Start Quarterdeck")]);
    expect(first.stdout).toContain("DEV_WEBHOOK");
    expect(first.stdout).toContain(`${made.root}/no-such-folder (gone)`);
    expect(first.stdout + first.stderr).not.toContain(made.identity);
    expect(comparable(await readContent({ connectionString: url }))).toEqual(
      comparable(made.content),
    );
    for (const [path, text] of [
      ["two/secrets/slack", planted.beside],
      ["elsewhere/url", planted.elsewhere],
      ["two/inventory.yaml", (await readFile(at("old/inventory.yaml"))).toString()],
    ] as const) {
      expect((await readFile(at(path))).toString()).toBe(text);
      expect((await stat(at(path))).mode & 0o777).toBe(0o600);
    }

    const back = await runHere(backupSelfCommand, [at("again")], {
      ...onServer,
      QUARTERDECK_SELF_BACKUP_RECIPIENT: made.recipient,
    });
    expect([back.code, back.stdout]).toEqual([0, expect.stringContaining("Encrypted.")]);
    const again = (data: Record<string, string>) =>
      runHere(restoreSelfCommand, [at("again")], { ...data, ...identified });
    expect(await again(onServer)).toMatchObject({
      code: 1,
      stderr: expect.stringMatching(/it is not empty, but has inventory\.yaml/),
    });
    expect(await again({ QUARTERDECK_DATA: at("four"), DATABASE_URL: url })).toMatchObject({
      code: 1,
      stderr: expect.stringMatching(/the database quarterdeck at .*: it is not empty/),
    });
    expect(await namesIn(at("four"))).toEqual([]);

    // Its job was waiting when the backup was made, and nothing has run since.
    const service = await startService(at("two"), { DATABASE_URL: url });
    try {
      await soon(async () => {
        const worker = await service.call("GET", "/api/worker/5");
        expect(await worker.json()).toMatchObject({ status: "installed" });
      });
    } finally {
      await service.end("SIGINT");
    }
  }, 120_000);

  test("restored without its secrets has its webhooks paused", async () => {
    await server.createDatabase("unsealed");
    const data = { QUARTERDECK_DATA: at("unsealed"), DATABASE_URL: server.url("unsealed") };
    const { code, stdout } = await runHere(restoreSelfCommand, [at("plain")], data);
    expect([code, stdout]).toEqual([0, expect.stringContaining("Webhooks 1, 2 are paused")]);
    expect(stdout).toContain(`${made.root}/unsealed/secrets/slack`);
    const rows = await server.query<{ secret: string; is_paused: boolean }>(
      "unsealed",
      "select secret, paused_at is not null as is_paused from webhooks",
    );
    expect(rows).toHaveLength(2);
    expect(new Set(rows.map(({ secret }) => secret)).size).toBe(2);
    for (const { secret, is_paused } of rows) {
      expect(secret).toMatch(/^whsec_[A-Za-z0-9+/]{43}=$/);
      expect(is_paused).toBe(true);
    }
  });

  describe("is not restored, not even partly,", () => {
    /** Restores onto a server, because that is faster than creating an embedded database. */
    beforeAll(() => server.createDatabase("refused"));

    const expectRefused = async (
      from: string,
      words: RegExp,
      environment: Record<string, string> = {},
    ) => {
      const { code, stderr } = await runHere(restoreSelfCommand, [from], {
        QUARTERDECK_DATA: at("refused"),
        DATABASE_URL: server.url("refused"),
        ...environment,
      });
      expect([code, stderr]).toEqual([1, expect.stringMatching(words)]);
      if (existsSync(at("refused"))) expect(await namesIn(at("refused"))).toEqual([]);
      expect(
        await server.query(
          "refused",
          "select relname from pg_class where relkind = 'r' and relnamespace::regnamespace::text in ('public', 'drizzle', 'pgboss')",
        ),
      ).toEqual([]);
    };

    test("from a file with a changed byte, with or without its manifest", async () => {
      const { folder, file } = await storageFor("changed", "plain");
      const bytes = await readFile(file);
      const place = Math.floor(bytes.length / 2);
      bytes[place] = (bytes[place] ?? 0) ^ 1;
      await writeFile(file, bytes);
      await expectRefused(
        folder,
        /Checksum mismatch: .* Nothing was restored|is damaged .* Nothing was restored/,
      );
      await rm(`${file}.json`);
      await expectRefused(file, /damaged/);
    });

    test("from an encrypted file with a changed byte", async () => {
      const { file } = await storageFor("changed-sealed", "sealed");
      const bytes = await readFile(file);
      bytes[bytes.length - 1000] = (bytes.at(-1000) ?? 0) ^ 1;
      await writeFile(file, bytes);
      await rm(`${file}.json`);
      await expectRefused(
        file,
        /is damaged \(The encrypted file .* can't be decrypted\)\. Nothing was restored/,
        { QUARTERDECK_IDENTITY: `file:${at("identity")}` },
      );
    });

    test("from a truncated file", async () => {
      const { file } = await storageFor("cut", "plain");
      const bytes = await readFile(file);
      await writeFile(file, bytes.subarray(0, bytes.length - 1000));
      await rm(`${file}.json`);
      await expectRefused(file, /damaged/);
    });

    test("from an archive whose content was changed", async () => {
      const { file } = await storageFor("forged", "plain");
      const tar = zstdDecompressSync(await readFile(file));
      const place = tar.indexOf("A comment stays");
      tar.write("A comment moves", place);
      await writeFile(file, zstdCompressSync(tar));
      await rm(`${file}.json`);
      await expectRefused(file, /The archive is damaged: checksums do not match/);
    });

    test("without an identity, or with a wrong one", async () => {
      await expectRefused(at("sealed"), /is encrypted\. Set QUARTERDECK_IDENTITY=file:/);
      await writeFile(at("other"), await generateX25519Identity());
      await expectRefused(at("sealed"), /does not decrypt this file/, {
        QUARTERDECK_IDENTITY: `file:${at("other")}`,
      });
      await writeFile(at("other"), "no key");
      await expectRefused(at("sealed"), /must name a file with a private key of age/, {
        QUARTERDECK_IDENTITY: `file:${at("other")}`,
      });
    });

    test("from a folder without a backup", async () => {
      await expectRefused(at("shop"), /There is no backup of Quarterdeck itself/);
    });

    const moments = {
      "while its database is made": "interrupted/postgres",
      "while its database is started": "interrupted/postgres/data/base",
    };
    test.each(casesOf(moments, ["while its database is made"]))(
      "when it is interrupted %s",
      async (_moment, sign) => {
        const { child, ended } = start(["restore-self", at("plain")], {
          QUARTERDECK_DATA: at("interrupted"),
        });
        await soon(() => expect(existsSync(at(sign))).toBe(true));
        child.kill("SIGINT");
        expect((await ended).code).toBe(130);
        expect(await namesIn(at("interrupted"))).toEqual([]);
      },
    );
  });

  test("does not start after its restore into an embedded database was killed, and the same command completes the restore", async () => {
    const data = {
      QUARTERDECK_DATA: at("killed"),
      QUARTERDECK_IDENTITY: `file:${at("identity")}`,
    };
    const { child, ended } = start(["restore-self", at("again")], data);
    await soon(() => expect(existsSync(at("killed/postgres"))).toBe(true));
    child.kill("SIGKILL");
    await ended;
    await expect(startService(at("killed"))).rejects.toThrow(/A restore into .* was cut off/);
    const { code, stdout } = await runHere(restoreSelfCommand, [at("again")], data);
    expect([code, stdout]).toEqual([0, expect.stringContaining("Start Quarterdeck")]);
    expect(await namesIn(at("killed"))).toEqual(["inventory.yaml", "postgres", "secrets"]);
    expect(comparable(await withEmbedded(at("killed"), readContent))).toEqual(
      comparable(made.content),
    );
  });
});
