// The service backs itself up each night: as a job, with retention and a drill, and reports failures.
import { mkdir, readdir, readFile, rename, rm, rmdir } from "node:fs/promises";
import { join } from "node:path";
import { zstdDecompressSync } from "node:zlib";
import { Decrypter, generateX25519Identity, identityToRecipient } from "age-encryption";
import { afterAll, beforeAll, expect, test } from "vitest";
import type { Overview } from "../../contract/overview.ts";
import { createApp } from "../app.ts";
import { checkSelfBackup } from "../doctor/self-backup.ts";
import { createLocalHost } from "../hosts/local.ts";
import { createSecretReader } from "../inventory/secrets.ts";
import { createInventoryStore } from "../inventory/store.ts";
import { scrape } from "../metrics/testing/exposition.ts";
import { readSmtpUrl } from "../notifications/channels/smtp-url.ts";
import { type MailServer, startMailServer } from "../notifications/channels/testing/mail-server.ts";
import { createServers } from "../ssh/servers.ts";
import { markerName } from "../storage/marker.ts";
import { openUnchanged, type OpenDatabase } from "../store/database.ts";
import { createFakeClock } from "../testing/fake-clock.ts";
import { createTestService, oneSite, type TestService } from "../testing/service.ts";
import { createNightly } from "./nightly.ts";
import { soon } from "../testing/soon.ts";
import { inLongForm } from "../testing/long-form.ts";

const dayMs = 24 * 3600 * 1000;
const clock = createFakeClock();
const servers = createServers({
  local: createLocalHost({ PATH: process.env["PATH"] ?? "", HOME: "/" }),
  environment: {},
  inventoryFolder: "/",
});

let service: TestService;
let opened: OpenDatabase;
let copies: string;
let mail: MailServer;
let lastGood = "";
let identity: string;
let recipient: string;

beforeAll(async () => {
  mail = await startMailServer();
  identity = await generateX25519Identity();
  recipient = await identityToRecipient(identity);
  service = await createTestService({
    inventory: (folder) => `${oneSite(folder)}
storage_providers:
  - { id: 1, name: disk, type: local, path: ${folder}/copies }
  - { id: 2, name: encrypted, type: local, path: ${folder}/encrypted, recipients: [${recipient}] }
notification_channels:
  - { id: 1, name: on-call, type: email, email: on-call@example.com }
  - { id: 2, name: deployments, type: email, email: dev@example.com }
  - { id: 3, name: unused, type: email, email: nobody@example.com }
`,
    smtp: readSmtpUrl(`smtp://127.0.0.1:${mail.port}`),
  });
  await service.call("PUT", "/api/site/1/notifications", { channels: [1] });
  await service.call("PUT", "/api/server/1/notifications", { channels: [1, 2] });
  await service.call("PUT", "/api/server/1/notification-events", {
    channels: [{ id: 2, events: ["server.unreachable"] }],
  });
  copies = join(service.folder, "copies");
  await mkdir(copies);
  // Records the values that are written meanwhile.
  await service.query("create table written as select value from settings limit 0");
  await service.query(`create function note_written() returns trigger language plpgsql
    as $$ begin insert into written values (new.value); return new; end $$`);
  await service.query(
    "create trigger note_written after update on settings for each row execute function note_written()",
  );
  opened = await openUnchanged({ ...service.connection, max: 3 });
});
afterAll(async () => {
  await opened.close();
  await servers.close();
  await service.close();
  await mail.close();
});

const nightly = (recipients: string | null = null, providerId = 1) =>
  createNightly({
    ...service.options,
    settings: { providerId, keep: 2, recipients },
    db: opened.db,
    servers,
    host: createLocalHost({ PATH: process.env["PATH"] ?? "", HOME: service.folder }),
    secrets: createSecretReader({}, service.folder),
    marks: createInventoryStore(opened.db),
    clock,
  });

const stored = async () => (await readdir(join(copies, "quarterdeck"))).sort();
const timeline = () =>
  service.query<{ action: string; outcome: string; detail: string }>(
    "select action, outcome, detail from activity where object_type = 'installation' order by id",
  );
const doctor = (aheadMs = 0) => checkSelfBackup(opened.db, clock.now() + aheadMs);

test("keeps a backup after a test restore, although only the recipient can open it later", async () => {
  expect(await doctor()).toMatchObject({ state: "warning" });
  clock.jump(dayMs);
  lastGood = new Date(clock.now()).toISOString();
  await nightly(await identityToRecipient(await generateX25519Identity())).run();
  const night = new Date(clock.now()).toISOString().slice(0, 19).replaceAll(":", "");
  expect(await stored()).toEqual([`${night}Z.tar.zst.age`, `${night}Z.tar.zst.age.json`]);
  expect(await timeline()).toEqual([
    {
      action: "finished",
      outcome: "good",
      detail: expect.stringContaining("restored as a trial"),
    },
  ]);
  expect(await doctor()).toMatchObject({ state: "ok" });
  expect(await doctor(1.5 * dayMs)).toMatchObject({ state: "ok" });
  expect(await doctor(2.1 * dayMs)).toMatchObject({ state: "warning" });
  expect(await readdir(service.folder)).not.toContain("self-drill");
});

test("retention includes a file before its upload and its drill, which a kill may end", async () => {
  const written = await service.query<{ value: string }>("select value from written");
  const newest = (await stored()).at(-2);
  const file = { provider_id: 1, key: `quarterdeck/${newest}`, is_good: false };
  const records = written.map(({ value }) => JSON.parse(value).stored);
  expect(records).toContainEqual([{ ...file, is_left: true }]);
  expect(records).toContainEqual([file]);
});

test("is due after a missed night", async () => {
  const one = nightly();
  expect(await one.isDue()).toBe(false);
  clock.jump(2 * dayMs + 1);
  expect(await one.isDue()).toBe(true);
  expect(await doctor()).toMatchObject({ state: "warning" });
  expect(await one.problem()).toMatchObject({ state: "overdue", reason: null });
});

test("a failure is shown on the timeline, by doctor and on the overview, and sent to channels, and earlier files stay; of two at once only one is made, which ends it", async () => {
  const before = await stored();
  await rename(copies, `${copies}-away`);
  await nightly().run();
  await rename(`${copies}-away`, copies);
  expect((await timeline()).at(-1)).toMatchObject({ action: "failed", outcome: "bad" });
  expect(await nightly().problem()).toMatchObject({
    state: "failed",
    reason: expect.stringContaining(copies),
  });
  const mailsOf = (subject: string) =>
    soon(() => {
      const found = mail.mails.filter(({ headers }) => headers.get("subject") === subject);
      expect(found.length).toBeGreaterThan(0);
      return found;
    });
  // Sent once, although a site and a server use the channel; and not to channels without backup events.
  const [told, ...more] = await mailsOf("Backup failed: Quarterdeck");
  expect([told?.to, more]).toEqual([["on-call@example.com"], []]);
  expect(told?.plain).toContain(copies);
  expect(told?.plain).toContain("Last good one");
  const { state, message } = await doctor();
  expect([state, message]).toEqual(["failed", expect.stringContaining(copies)]);
  expect(message).toContain(`The last good one is of ${lastGood}.`);
  expect(await stored()).toEqual(before);

  // A message that is also about a server is still hidden from a token for that server alone.
  await service.query(`with same as (
      insert into events (type, server_id, message_id, data, notification, dispatched_at)
      select type, 1, 'msg_of_server', data, notification, now() from events where server_id is null
      order by id desc limit 1 returning id)
    insert into channel_message_events select max(m.id), (select id from same) from channel_messages m`);
  const { body: narrow } = await service.json<{ token: string }>("POST", "/api/tokens", {
    name: "web",
    abilities: ["read"],
    server_ids: [1],
  });
  const channelsSeen = async (token?: string) =>
    (await service.call("GET", "/api/notification-channels", undefined, token)).text();
  expect(await channelsSeen()).toContain("Backup failed: Quarterdeck");
  expect(await channelsSeen(narrow.token)).toContain("on-call");
  expect(await channelsSeen(narrow.token)).not.toContain("Backup failed: Quarterdeck");
  const made = "(select id from events where message_id = 'msg_of_server')";
  await service.query(`delete from channel_message_events where event_id = ${made}`);
  await service.query("delete from events where message_id = 'msg_of_server'");

  clock.jump(dayMs);
  const entries = (await timeline()).length;
  await Promise.all([nightly().run(), nightly().run()]);
  expect(await timeline()).toHaveLength(entries + 1);
  expect(await nightly().isDue()).toBe(false);
  expect(await doctor()).toMatchObject({ state: "ok" });
  expect(await nightly().problem()).toBeNull();
  await mailsOf("Backup finished: Quarterdeck");
  const night = new Date(clock.now()).toISOString().slice(0, 19).replaceAll(":", "");
  expect(await stored()).toEqual([...before, `${night}Z.tar.zst`, `${night}Z.tar.zst.json`]);
});

test("is not stored on the mount point of an unmounted disk, even if nothing else is stored there", async () => {
  const before = await stored();
  const failsWhileAway = async (words: RegExp) => {
    await rename(copies, `${copies}-disk`);
    await mkdir(copies);
    clock.jump(dayMs);
    await nightly().run();
    expect((await timeline()).at(-1)).toMatchObject({
      action: "failed",
      detail: expect.stringMatching(words),
    });
    expect(await readdir(copies)).toEqual([]);
    await rmdir(copies);
    await rename(`${copies}-disk`, copies);
  };
  await failsWhileAway(/is away: the file \.quarterdeck-storage/);
  // The state that earlier versions left.
  await rm(join(copies, markerName));
  await service.query("update storage_providers set marked_path = null");
  await failsWhileAway(/is away: none of the backups/);
  expect(await stored()).toEqual(before);
  clock.jump(dayMs);
  await nightly().run();
  expect((await timeline()).at(-1)).toMatchObject({ action: "finished" });
  expect(await readdir(copies)).toContain(markerName);
});

test("is encrypted in a storage with recipients, even without recipients of its own", async () => {
  const folder = join(service.folder, "encrypted");
  await mkdir(folder);
  clock.jump(dayMs);
  await nightly(null, 2).run();
  expect((await timeline()).at(-1)).toMatchObject({ action: "finished" });
  const [name = "", manifest = ""] = (await readdir(join(folder, "quarterdeck"))).sort();
  expect(name).toMatch(/Z\.tar\.zst\.age$/);
  expect(JSON.parse(await readFile(join(folder, "quarterdeck", manifest), "utf8"))).toMatchObject({
    encryption: "age",
    has_secrets: false,
  });
  const decrypter = new Decrypter();
  decrypter.addIdentity(identity);
  const sealed = await readFile(join(folder, "quarterdeck", name));
  const opened = zstdDecompressSync(await decrypter.decrypt(sealed));
  expect(opened.includes("tables/activity.copy")).toBe(true);
});

test("is still due after the end of the service interrupted it", async () => {
  clock.jump(2 * dayMs);
  const before = await timeline();
  const one = nightly();
  const running = one.run();
  await Promise.all([expect(running).rejects.toThrow(/stopping|aborted/), one.stop()]);
  expect(await nightly().isDue()).toBe(true);
  expect(await timeline()).toEqual(before);
});

test("a backup that can't be restored fails the drill, and displaces only another such one", async () => {
  // A broken index allows what the drill's database rejects.
  await service.query("alter table rate_limits drop constraint rate_limits_pkey");
  await service.query("insert into rate_limits (key) values ('twice'), ('twice')");
  const before = await stored();
  let night = "";
  for (let nights = 0; nights < 2; nights += 1) {
    clock.jump(dayMs);
    await nightly().run();
    night = new Date(clock.now()).toISOString().slice(0, 19).replaceAll(":", "");
  }
  await service.query("delete from rate_limits");
  await service.query("alter table rate_limits add primary key (key)");
  expect(await stored()).toEqual([...before, `${night}Z.tar.zst`, `${night}Z.tar.zst.json`]);
  expect((await timeline()).at(-1)).toMatchObject({
    action: "failed",
    detail: expect.stringMatching(/duplicate key/),
  });
});

inLongForm(() => {
  test("an instance without its settings leaves the job to others, and one with them makes up for it", async () => {
    const before = (await timeline()).length;
    const files = await stored();
    // A nightly job for an instance that does not know this queue.
    await service.query(
      "insert into pgboss.job (name, data, keep_until) values ('self-backup', '{}', now() + interval '1 day')",
    );
    const setUp = { providerId: 1, keep: 2, recipients: null };
    await service.app.close("stop");
    service.app = await createApp({ ...service.options, selfBackup: setUp });
    await soon(async () => expect(await timeline()).toHaveLength(before + 1));
    expect((await timeline()).at(-1)).toMatchObject({ action: "finished" });
    // The two newest good files stay, and everything after the first of them.
    expect(await stored()).toEqual([...files.slice(2), expect.any(String), expect.any(String)]);
    const figures = async () => {
      const { value } = await scrape(service);
      const ofName = (name: string) => value(`quarterdeck_self_backup_${name}`);
      return [ofName("last_success_timestamp_seconds"), ofName("failed")];
    };
    const [lastSuccess = 0, hasFailed] = await figures();
    expect(Math.abs(Date.now() / 1000 - lastSuccess)).toBeLessThan(120);
    expect(hasFailed).toBe(0);
    const overview = async () => (await service.json<Overview>("GET", "/api/overview")).body;
    expect((await overview()).self_backup).toBeNull();
    await service.query(
      `update settings set value = jsonb_set(value::jsonb, '{failure}', '{"at":"2026-01-31T03:23:00.000Z","reason":"The disk is full."}')::text
     where key = 'self_backup'`,
    );
    expect((await overview()).self_backup).toEqual({
      state: "failed",
      reason: "The disk is full.",
      at: "2026-01-31T03:23:00.000000Z",
    });
    expect(await figures()).toEqual([lastSuccess, 1]);
    const { body: narrow } = await service.json<{ token: string }>("POST", "/api/tokens", {
      name: "one server",
      abilities: ["read"],
      server_ids: [1],
    });
    const seen = await service.call("GET", "/api/overview", undefined, narrow.token);
    expect(await seen.json()).not.toHaveProperty("self_backup");
  });
});
