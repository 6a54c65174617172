import { fork } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, readdir, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { PassThrough, Readable, Writable } from "node:stream";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { startMariadbServer, type MariadbServer } from "../testing/mariadb-server.ts";
import { SourceError } from "./source.ts";
import {
  attemptOf,
  everything,
  otherState,
  pictureOf,
  scratchDatabases,
  sourceOf,
  streamOf,
  takeDump,
} from "./mysql-testing.ts";

let server: MariadbServer;
let scratch: string;
let url: string;
let count = 0;

beforeAll(async () => {
  scratch = await mkdtemp(join(tmpdir(), "quarterdeck-mysql-"));
  server = await startMariadbServer();
});

afterAll(async () => {
  await server?.stop();
  await rm(scratch, { recursive: true, force: true });
});

beforeEach(async () => {
  count += 1;
  await server.createDatabase(`shop_${count}`);
  url = server.url(`shop_${count}`);
});

const database = () => `shop_${count}`;
const expectNothingLeft = async () => {
  expect(await scratchDatabases(server)).toBe("");
  expect(await readdir(scratch)).toEqual([]);
};

describe("a rehearsal", () => {
  test("tells both versions", async () => {
    const line = await sourceOf(url, scratch).rehearse(AbortSignal.timeout(20_000));
    expect(line).toMatch(/^MariaDB \d+\.\d+.* answers; mariadb-dump \d+\.\d+\.\d+\.$/);
  });

  test.each([
    [
      "a wrong password",
      () => url.replace(/:[^:@]+@/, ":no-pass@"),
      /does not accept the user or pass/,
    ],
    ["an unknown database", () => `${url}x`, /has no database shop_\d+x\. Create it/],
    ["no server", () => "mysql://a:no-pass@127.0.0.1:1/x", /cannot be reached/],
  ])("says what to do about %s", async (_, bad, words) => {
    const failing = sourceOf(bad(), scratch).rehearse(AbortSignal.timeout(20_000));
    await expect(failing).rejects.toThrow(words);
    await expect(failing).rejects.not.toThrow(/no-pass/);
    await expect(failing).rejects.toBeInstanceOf(SourceError);
  });
});

describe("a round trip", () => {
  test("brings back everything, and nothing that came later", async () => {
    await server.query(everything, database());
    const source = sourceOf(url, scratch);
    const before = await pictureOf(server, url);
    const dumping = attemptOf(7);
    const { content, manifest } = await takeDump(source, dumping);
    expect(manifest).toEqual({
      kind: "database",
      tables: { parent: 3, child: 3, kinds: 3, "odd `name": 2, nothing: 0, mine: 1 },
    });
    expect(dumping.said.join()).toContain("mine (MyISAM)");
    await server.query(otherState, database());
    expect(await pictureOf(server, url)).not.toBe(before);

    const restoring = attemptOf(7);
    await source.restore(streamOf(content), restoring);
    expect(restoring.said).toEqual([]);
    expect(await pictureOf(server, url)).toBe(before);
    await expectNothingLeft();
    // The keys point to the tables beside them, the default takes from the sequence beside it.
    await expect(
      server.query("INSERT INTO child VALUES (9, 999, NULL)", database()),
    ).rejects.toThrow(/foreign key/);
    await server.query(
      "INSERT INTO kinds (d) VALUES (1); INSERT INTO parent (name) VALUES ('x')",
      database(),
    );
    expect(
      await server.query("SELECT MAX(id), MAX(name) FROM parent WHERE id > 40", database()),
    ).toBe("42\tx!\n");
  });

  test("works into a database that is gone, and by plain client", async () => {
    await server.query(everything, database());
    const source = sourceOf(url, scratch);
    const before = await pictureOf(server, url);
    const { content } = await takeDump(source);
    await server.query(`DROP DATABASE ${database()}`);
    expect(await source.exists()).toBe(false);
    await source.restore(streamOf(content, 65_536), attemptOf(8));
    expect(await source.exists()).toBe(true);
    expect(await pictureOf(server, url)).toBe(before);
    await server.query(`DROP DATABASE ${database()}; CREATE DATABASE ${database()}`);
    await server.query(content.toString(), database());
    expect(await pictureOf(server, url)).toBe(before);
  });

  test("of an empty database empties", async () => {
    const source = sourceOf(url, scratch);
    const before = await pictureOf(server, url);
    const { content, manifest } = await takeDump(source);
    expect(manifest).toEqual({ kind: "database", tables: {} });
    await server.query(everything, database());
    await source.restore(streamOf(content), attemptOf(9));
    expect(await pictureOf(server, url)).toBe(before);
    await expectNothingLeft();
  });
});

describe("a failure leaves the target as it was", () => {
  let good: Buffer;
  let before: string;
  beforeEach(async () => {
    await server.query(everything, database());
    good = (await takeDump(sourceOf(url, scratch))).content;
    await server.query(otherState, database());
    before = await pictureOf(server, url);
  });
  const expectUntouched = async () => {
    expect(await pictureOf(server, url)).toBe(before);
    await expectNothingLeft();
  };

  test.each([0.3, 0.6, 0.97])("a dump cut off at %d", async (part) => {
    const content = good.subarray(0, good.length * part);
    await expect(sourceOf(url, scratch).restore(streamOf(content), attemptOf(3))).rejects.toThrow(
      SourceError,
    );
    await expectUntouched();
  });

  test("a stream that breaks", async () => {
    const from = Readable.from(
      (function* () {
        yield good.subarray(0, 3000);
        throw new Error("the storage went away");
      })(),
    );
    await expect(sourceOf(url, scratch).restore(from, attemptOf(3))).rejects.toThrow(
      "the storage went away",
    );
    await expectUntouched();
  });

  test("an object that the target does not take after the swap", async () => {
    // Fine in a scratch database, where events are not made; refused in the target.
    const content = Buffer.from(
      good.toString("latin1").replace("EVERY 1 DAY STARTS", "EVERY 0 DAY STARTS"),
      "latin1",
    );
    await expect(sourceOf(url, scratch).restore(streamOf(content), attemptOf(3))).rejects.toThrow(
      SourceError,
    );
    await expectUntouched();
  });

  test("a table that another connection holds", async () => {
    const holding = server.query(
      "START TRANSACTION; SELECT * FROM late; SELECT SLEEP(8)",
      database(),
    );
    await expect(sourceOf(url, scratch).restore(streamOf(good), attemptOf(3))).rejects.toThrow(
      /transaction that does not end/,
    );
    await holding;
    await expectUntouched();
  });

  test("an account that may not make scratch databases", async () => {
    await server.query(
      `CREATE OR REPLACE USER small IDENTIFIED BY 'x'; GRANT ALL ON ${database()}.* TO small`,
    );
    const small = sourceOf(server.url(database(), { user: "small", password: "x" }), scratch);
    await expect(small.restore(streamOf(good), attemptOf(3))).rejects.toThrow(
      "GRANT ALL PRIVILEGES ON `quarterdeck\\_%`.* TO 'small'@'%';",
    );
    await expectUntouched();
    await server.query("GRANT ALL PRIVILEGES ON `quarterdeck\\_%`.* TO small");
    await expect(small.restore(streamOf(good), attemptOf(3))).rejects.toThrow(
      "GRANT SELECT ON mysql.proc",
    );
    await expectUntouched();
    await server.query("GRANT SELECT ON mysql.proc TO small");
    const attempt = attemptOf(3);
    await small.restore(streamOf(good), attempt);
    expect(attempt.said.join()).toContain("they run as this account");
    expect(
      await server.query(
        `SELECT DISTINCT DEFINER FROM information_schema.VIEWS WHERE TABLE_SCHEMA='${database()}'`,
      ),
    ).toBe("small@%\n");
  });

  test("an abort at any moment, old or new after settle", async () => {
    const source = sourceOf(url, scratch);
    for (const delayMs of [80, 250, 400, 520, 640]) {
      const abort = new AbortController();
      const restoring = source.restore(streamOf(good), attemptOf(4, abort.signal));
      setTimeout(() => abort.abort(), delayMs);
      const isDone = await restoring.then(
        () => true,
        () => false,
      );
      if (isDone) break;
      expect(await source.settle(attemptOf(4))).toBe("unknown");
      await expectUntouched();
    }
  });

  test("a server killed while the dump is loaded", async () => {
    const source = sourceOf(url, scratch);
    const from = new PassThrough();
    from.write(good.subarray(0, 4000));
    const restoring = source.restore(from, attemptOf(5));
    restoring.catch(() => undefined);
    await expect
      .poll(() => scratchDatabases(server), { interval: 20 })
      .toContain("quarterdeck_new_5");
    await server.kill();
    from.end(good.subarray(4000));
    await server.startAgain();
    await expect(restoring).rejects.toThrow(SourceError);
    await expectUntouched();
  });
});

test("a service killed while it restores leaves the old or the new, whole", async () => {
  await server.query(everything, database());
  const source = sourceOf(url, scratch);
  const fresh = await pictureOf(server, url);
  const { content } = await takeDump(source);
  const file = join(scratch, "dump.sql");
  await writeFile(file, content);
  await server.query(otherState, database());
  const old = await pictureOf(server, url);
  for (let round = 0; round < 10; round += 1) {
    const child = fork(join(import.meta.dirname, "mysql-restore-child.ts"), [url, scratch, file], {
      stdio: "ignore",
    });
    const exited = once(child, "exit");
    await once(child, "message");
    // Spread over its whole run.
    await new Promise((resolve) => setTimeout(resolve, 20 + round * 85 + Math.random() * 60));
    child.kill("SIGKILL");
    await exited;
    const state = await source.settle(attemptOf(6));
    const picture = await pictureOf(server, url);
    const isNew = picture === fresh;
    if (!isNew) expect(picture).toBe(old);
    if (state !== "unknown") expect(state).toBe(isNew ? "restored" : "as it was");
    expect(await scratchDatabases(server)).toBe("");
    expect(await readdir(scratch)).toEqual(["dump.sql"]);
    if (isNew) await server.query(otherState, database());
  }
  await rm(file);
});

describe("a dump", () => {
  test("fails when the server is killed in the middle of it", async () => {
    await server.query(
      "CREATE TABLE big (t LONGTEXT); INSERT INTO big SELECT REPEAT('x', 100000) FROM seq_1_to_300",
      database(),
    );
    let isKilled = false;
    const into = new Writable({
      async write(_, __, done) {
        if (!isKilled) {
          isKilled = true;
          await server.kill();
        }
        done();
      },
    });
    into.on("error", () => undefined);
    await expect(sourceOf(url, scratch).dump(into, attemptOf(2))).rejects.toThrow(
      /connection to .* was lost/,
    );
    expect(into.destroyed).toBe(true);
    await server.startAgain();
  });

  test("ends at an abort", async () => {
    const abort = new AbortController();
    await server.query(
      "CREATE TABLE big (t LONGTEXT); INSERT INTO big SELECT REPEAT('x', 100000) FROM seq_1_to_300",
      database(),
    );
    const into = new Writable({
      // Never takes more: as a storage that hangs.
      write: () => abort.abort(),
    });
    into.on("error", () => undefined);
    await expect(sourceOf(url, scratch).dump(into, attemptOf(2, abort.signal))).rejects.toThrow(
      /abort/i,
    );
  });
});

describe("a drill", () => {
  test("passes, leaves nothing, and says so when a count differs", async () => {
    await server.query(everything, database());
    const source = sourceOf(url, scratch);
    const before = await pictureOf(server, url);
    const { content, manifest } = await takeDump(source);
    expect(await source.drill(streamOf(content), manifest, attemptOf(2))).toBe(
      "6 tables with 12 rows came back exactly.",
    );
    await expectNothingLeft();
    if (manifest.kind !== "database") throw new Error("The manifest is of another kind.");
    const wrong = { ...manifest, tables: { ...manifest.tables, parent: 4 } };
    await expect(source.drill(streamOf(content), wrong, attemptOf(2))).rejects.toThrow(
      /parent has 3 rows and should have 4/,
    );
    await expect(
      source.drill(streamOf(content.subarray(0, 5000)), manifest, attemptOf(2)),
    ).rejects.toThrow(SourceError);
    await expectNothingLeft();
    expect(await pictureOf(server, url)).toBe(before);
  });
});
