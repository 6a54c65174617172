import { randomUUID } from "node:crypto";
import { mkdir, readFile, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import pg from "pg";
import { afterAll, beforeAll, expect, onTestFinished, test } from "vitest";
import { createLocalHost } from "../../hosts/local.ts";
import { createRemoteServer } from "../../ssh/testing/remote-server.ts";
import { isLongForm } from "../../testing/long-form.ts";
import { ownUser } from "../../testing/own-user.ts";
import { createHooks } from "./hooks.ts";
import { makeFolder } from "../sources/folder/testing/fixtures.ts";
import {
  createBackupTestService,
  soon,
  type BackupTestService,
} from "../testing/backup-service.ts";
import { hasPostgresServer, startPostgresServer } from "../testing/postgres-server.ts";

const remote = createRemoteServer();
const machines = [
  {
    machine: "this machine",
    hostOf: async () => createLocalHost({ PATH: process.env["PATH"] ?? "", HOME: "/tmp" }),
  },
  { machine: "a remote server", hostOf: () => remote.host() },
];
const never = new AbortController().signal;

test.each(machines)(
  "on $machine hooks run in the folder, and report how they end",
  async ({ hostOf }) => {
    const folder = await makeFolder();
    const host = await hostOf();
    const said: string[] = [];
    const say = (line: string) => void said.push(line);
    const hooks = (before: string[] | null, after: string[] | null = null, timeoutMs = 20_000) =>
      createHooks(async () => ({ host, folder }), { before, after, timeoutMs });
    // Arguments are passed on unchanged, without a shell.
    await hooks(["sh", "-c", 'pwd; printf "%s\\n" "$1"; echo noted >&2', "sh", "$(id) ; *"]).before(
      say,
      never,
      "1",
    );
    expect(said.slice(1).sort()).toEqual(["  $(id) ; *", `  ${folder}`, "  noted"]);
    await expect(
      hooks(["sh", "-c", "echo no disk >&2; exit 3"]).before(say, never, "2"),
    ).rejects.toThrow(
      /^The hook before the backup failed: sh -c .* ended with exit code 3: no disk$/,
    );
    expect(await hooks(null, ["sh", "-c", "exit 4"]).after(say)).toMatch(
      /^The hook after the backup failed: .* exit code 4\.$/,
    );
    expect(await hooks(null, ["true"]).after(say)).toBe(null);
    expect(await hooks(null, null).after(say)).toBe(null);
    await expect(hooks(["sleep", "600"], null, 50).before(say, never, "2")).rejects.toThrow(
      /sleep 600 was stopped: it, or what it left running with its output, didn't end within 0\.05 s\.$/,
    );
    await expect(hooks(["no-such-program-here"]).before(say, never, "2")).rejects.toThrow(
      /no-such-program-here/,
    );
    const ending = new AbortController();
    const waiting = hooks(["sleep", "600"]).before(say, ending.signal, "3");
    ending.abort(new Error("canceled"));
    await expect(waiting).rejects.toThrow(/cancel|abort/i);
    // A killed service may have left a hook, and processes that the hook started.
    const mark = randomUUID();
    const [left, other] = [mark, `${mark}-of-another`].map((its) => {
      const stopping = new AbortController();
      const started = hooks(["sh", "-c", "sleep 600 & echo begun; wait"]).before(
        say,
        stopping.signal,
        its,
      );
      return { its, stopping, ended: started.then(String, (error: Error) => error.message) };
    });
    if (left === undefined || other === undefined) return expect.unreachable();
    const marked = async (its: string) =>
      (
        await host.run({
          argv: ["sh", "-c", `grep -lzxFs "QUARTERDECK_BACKUP=${its}" /proc/[0-9]*/environ; true`],
        })
      ).stdout.split("\n").length - 1;
    await soon(async () =>
      expect([await marked(left.its), await marked(other.its)]).toEqual([2, 2]),
    );
    expect(await hooks(["true"], ["true"]).after(say, left.its)).toBe(null);
    expect(await left.ended).toMatch(/was killed, probably/);
    expect(said).toContain("Ended the hook before the backup, which was still running.");
    expect([await marked(left.its), await marked(other.its)]).toEqual([0, 2]);
    other.stopping.abort(new Error("canceled"));
    expect(await other.ended).toMatch(/cancel/);
  },
);

test.each(["", ">/dev/null", "2>/dev/null"])(
  "the time limit includes processes that a hook leaves running with its output (sleep 600 %s &)",
  async (elsewhere) => {
    const folder = await makeFolder();
    const host = createLocalHost({ PATH: process.env["PATH"] ?? "", HOME: "/tmp" });
    const before = ["sh", "-c", `sleep 600 ${elsewhere} & exit 0`];
    const hooks = createHooks(async () => ({ host, folder }), {
      before,
      after: null,
      timeoutMs: 300,
    });
    await expect(hooks.before(() => undefined, never, "4")).rejects.toThrow(
      /was stopped: .* 0\.3 s/,
    );
  },
);

const inventory = (folder: string) => `  - id: 7
    server: 1
    name: hooked
    root: ${folder}/hooked
    user: ${ownUser}
    backup_hooks: { before: [sh, before.sh, "two words"], after: sh after.sh, timeout: 30 }`;

let hooked: BackupTestService;
beforeAll(async () => {
  hooked = await createBackupTestService({}, { sites: inventory });
  await mkdir(join(hooked.folder, "hooked"));
});
afterAll(() => hooked?.close());

/** Creates a separate configuration whose hooks write their own log. */
async function makeHooked() {
  const service = hooked;
  const at = (name: string) => join(service.folder, "hooked", name);
  await writeFile(at("page"), "page");
  await rm(at("log"), { force: true });
  const script = (name: string, text: string) => writeFile(at(name), `${text}\n`);
  await script("before.sh", 'echo "before $1" >> log');
  await script("after.sh", "echo after >> log");
  const log = () => readFile(at("log"), "utf8").catch(() => "");
  const { id } = await service.installed({ backupable_type: "site", backupable_id: 7 });
  const files = async () => (await service.files()).filter((path) => path.includes(`/${id}/`));
  return { ...service, configurationId: id, script, log, files };
}

const isRoot = process.getuid?.() === 0;

test("databases have hooks, which run as the account and in the folder that their entries determine", async () => {
  // `whole-server.test.ts` tests hooks of a database server and of one of its databases.
  const postgres = isLongForm && hasPostgresServer ? await startPostgresServer() : null;
  onTestFinished(() => postgres?.stop());
  const hooks = "before: [sh, -c, pwd; id -un], after: [sh, -c, echo afterwards]";
  const connection = await remote.connection();
  const service = await createBackupTestService(
    { secrets: { POSTGRES: postgres?.url("postgres") ?? "" } },
    {
      servers: `  - { id: 3, name: far, connection: ${connection} }`,
      sites: (folder) =>
        `  - { id: 7, server: 1, name: owner, root: ${folder}/owner, user: ${ownUser}, databases: [4, 6] }`,
      databases: (
        folder,
      ) => `  - { id: 4, server: 1, name: of a site, engine: sqlite, path: ${folder}/some.sqlite, backup_hooks: { ${hooks} } }
  - { id: 5, server: 1, name: of none, engine: sqlite, path: ${folder}/some.sqlite, user: ${ownUser}, backup_hooks: { ${hooks} } }
  - { id: 6, server: 1, name: pg, engine: postgres, url: env:POSTGRES, backup_hooks: { ${hooks} } }
  - { id: 7, server: 1, name: all, engine: postgres, scope: server, url: env:POSTGRES, backup_hooks: { ${hooks}, user: ${isRoot ? "nobody" : ownUser} } }
  - { id: 8, server: 3, name: far, engine: sqlite, path: ${folder}/some.sqlite, user: ${ownUser}, backup_hooks: { ${hooks} } }
  - { id: 9, server: 1, name: busy, engine: sqlite, path: ${folder}/some.sqlite, user: ${ownUser}, backup_hooks: { before: [sh, -c, exit 3], ${hooks.slice(hooks.indexOf("after"))} } }`,
    },
  );
  onTestFinished(() => service.close());
  const { folder } = service;
  await mkdir(join(folder, "owner"));
  new DatabaseSync(join(folder, "some.sqlite")).exec("create table orders (id integer)");
  const places = {
    4: { at: join(folder, "owner") },
    5: { at: folder },
    ...(postgres !== null && {
      6: { at: join(folder, "owner") },
      7: { at: "/", as: isRoot ? "nobody" : ownUser },
    }),
    8: { server: 3, at: folder },
  };
  const run = async (id: string | number, server = 1) => {
    const made = await service.installed({ server, backupable_id: Number(id) });
    return service.run(made.id);
  };
  for (const [id, { at, as = ownUser, ...on }] of Object.entries<Place>(places)) {
    const { status, output } = await run(id, on.server);
    expect(status, output).toBe("finished");
    expect(output).toContain(`Before the backup: sh -c pwd; id -un\n  ${at}\n  ${as}\n`);
    expect(output).toContain("After the backup: sh -c echo afterwards\n  afterwards\n");
  }
  const failed = await run(9);
  expect(failed.status_reason).toBe(
    "The hook before the backup failed: sh -c exit 3 ended with exit code 3.",
  );
  expect(failed.output).toContain("  afterwards");
});
type Place = { at: string; as?: string; server?: number };

test("hooks enclose a run, and a safety backup, too", async () => {
  const service = await makeHooked();
  const backup = await service.run(service.configurationId);
  expect(backup.status, backup.output).toBe("finished");
  expect(await service.log()).toBe("before two words\nafter\n");
  expect(backup.output).toMatch(
    /Before the backup: sh before.sh two words[^]*After the backup: sh after.sh/,
  );
  await service.statusOf("PUT", `/api/backup/${backup.id}`);
  await service.restored(backup.id, "finished");
  // The restored log is that of the backup's own run, which began after the first hook.
  expect(await service.log()).toBe("before two words\n");
  const safety = (await service.show(service.configurationId)).backups[0];
  expect(safety).toMatchObject({ trigger: "safety", status: "finished" });
  expect(safety?.output).toContain("After the backup: sh after.sh");
});

test("a failing hook before the backup fails it, and the hook after it runs nevertheless", async () => {
  const service = await makeHooked();
  await service.script("before.sh", "echo before >> log; echo 'queue is busy' >&2; exit 1");
  const backup = await service.run(service.configurationId);
  expect(backup).toMatchObject({
    status: "failed",
    status_reason: expect.stringMatching(
      /^The hook before the backup failed: sh before.sh two words ended with exit code 1: queue is busy/,
    ),
  });
  expect(await service.log()).toBe("before\nafter\n");
  expect(await service.files()).toEqual([]);
});

test("a failing hook after the backup adds a warning", async () => {
  const service = await makeHooked();
  await service.script("after.sh", "exit 9");
  const backup = await service.run(service.configurationId);
  expect(backup.status).toBe("finished");
  expect(backup.warnings).toContainEqual(
    "The hook after the backup failed: sh after.sh ended with exit code 9.",
  );
});

test("a hook that is killed is reported as that, with what to do", async () => {
  const service = await makeHooked();
  await service.script("before.sh", "sh -c 'kill -KILL $$'; exit $?");
  expect((await service.run(service.configurationId)).status_reason).toBe(
    "The hook before the backup failed: sh before.sh two words was killed, probably because the machine ran out of memory. Free some memory there, then try again.",
  );
});

test("the hook after the backup runs when a run is canceled during the hook before", async () => {
  const service = await makeHooked();
  await service.script("before.sh", "echo before >> log; sleep 600");
  const { body } = await service.json<{ id: number }>(
    "POST",
    `/api/backup/${service.configurationId}`,
  );
  await soon(async () => expect(await service.log()).toBe("before\n"));
  expect(await service.statusOf("POST", `/api/backup/${body.id}/cancel`)).toBe(202);
  const ended = await service.becomes(body.id, "failed");
  expect(ended.status_reason).toMatch(/^Canceled by/);
  expect(await service.log()).toBe("before\nafter\n");
});

test("hooks are read from the inventory only: hooks in a request change nothing", async () => {
  const service = await makeHooked();
  const fields = {
    backup_hooks: { before: "touch stolen" },
    hooks: { before: ["touch", "stolen"] },
  };
  const { id } = await service.installed({
    backupable_type: "site",
    backupable_id: 7,
    name: "Other",
    ...fields,
  });
  const { body } = await service.json<{ id: number }>("POST", `/api/backup/${id}`, fields);
  await service.becomes(body.id, "finished");
  const client = new pg.Client(service.connection);
  await client.connect();
  const { rows } = await client.query(
    "select to_jsonb(c)::text as row from backup_configurations c",
  );
  await client.end();
  expect(JSON.stringify(rows)).not.toContain("stolen");
  await expect(readFile(join(service.folder, "hooked/stolen"))).rejects.toThrow(/ENOENT/);
});
