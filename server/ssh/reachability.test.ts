import { readFile, writeFile } from "node:fs/promises";
import { userInfo } from "node:os";
import { expect, test, type TestContext, vi } from "vitest";
import type { Overview } from "../../contract/overview.ts";
import type { Server, ServerStatus } from "../../contract/servers.ts";
import type { Worker } from "../../contract/workers/worker.ts";
import { createApp } from "../app.ts";
import { createTestService, type TestService } from "../testing/service.ts";
import { inLongForm, isLongForm } from "../testing/long-form.ts";
import { ownUser } from "../testing/own-user.ts";
import { workerBody } from "../testing/worker-body.ts";
import { startReceiver } from "../webhooks/testing/receiver.ts";
import {
  startSupervisord,
  type TestSupervisord,
} from "../workers/supervisord/testing/supervisord.ts";
import { sshEntry } from "./testing/entry.ts";
import { startSshd, type TestSshd } from "./testing/sshd.ts";
import { soon } from "../testing/soon.ts";

// Each wait in these tests has its own deadline.
vi.setConfig({ testTimeout: 300_000 });

/** The tests take minutes, so they run concurrently; the current test is then known only from its context. */
type Context = Pick<TestContext, "onTestFinished">;

const startServer = ({ onTestFinished }: Context) => startSshd({ cleanUp: onTestFinished });

/** @param supervisord of the server, which root then logs in to; it runs a worker of site 2 */
async function startService(
  { onTestFinished }: Context,
  sshd: TestSshd,
  { hostKey, supervisord }: { hostKey?: null; supervisord?: TestSupervisord } = {},
) {
  const server =
    supervisord === undefined
      ? sshEntry(sshd, hostKey)
      : `${sshEntry(sshd, hostKey, userInfo().username)}, supervisord_config: ${supervisord.config}`;
  const service = await createTestService({
    inventory: (folder) => `
servers:
  - { id: 1, name: here, connection: local }
  - { id: 2, name: web-1, connection: ${server} }
sites:
  - { id: 1, server: 1, name: local, root: ${folder}/shop, user: ${ownUser} }
  - { id: 2, server: 2, name: shop, ${supervisord === undefined ? `root: ${sshd.folder}/shop` : `root: ${folder}/shop, user: ${ownUser}, artisan: [sh, artisan]`} }
  - { id: 3, server: 2, name: blog, root: ${sshd.folder}/shop }
notification_channels:
  - { id: 1, name: ops, type: email, email: ops@example.com }
`,
  });
  onTestFinished(() => service.close());
  return {
    service,
    /** Requests only the server, because `status` would also read the machine's facts. */
    isReachable: (reachable: boolean) =>
      inTime(async () =>
        expect((await service.json<Server>("GET", "/api/server/2")).body).toMatchObject({
          reachable,
        }),
      ),
    status: async () => (await service.json<ServerStatus>("GET", "/api/server/2/status")).body,
  };
}

/** The promise is that an unreachable server shows within 30 s. It takes 28 s, and more while other tests load the processors. */
const inTime = (look: () => Promise<void>) => soon(look, isLongForm ? 30_000 : 60_000);

test.concurrent("shows what servers have; one that becomes unreachable with all its workers is shown and reported once, and so is its return", async (context) => {
  const [sshd, supervisord] = await Promise.all([startServer(context), startSupervisord()]);
  context.onTestFinished(() => supervisord.close());
  const { service, isReachable, status } = await startService(context, sshd, { supervisord });
  const receiver = await startReceiver();
  context.onTestFinished(() => receiver.close());
  await service.json("POST", "/api/site/2/webhook", { url: receiver.url });
  for (const owner of ["site/2", "site/3", "server/2"])
    await service.json("PUT", `/api/${owner}/notifications`, { channels: [1] });
  await isReachable(true);
  const workersAre = (wanted: Worker["status"]) =>
    inTime(async () => {
      const { body } = await service.json<{ data: Worker[] }>("GET", "/api/site/2/workers");
      expect(body.data.map(({ status }) => status)).toEqual([wanted, wanted]);
    });
  for (const processes of [1, 2])
    expect(
      await service.json("POST", "/api/site/2/worker", { ...workerBody, processes }),
    ).toMatchObject({ status: 201 });
  await workersAre("installed");
  await inTime(async () => {
    const { facts } = await status();
    expect(facts?.memory).toBeGreaterThan(0);
    expect(facts?.disk).toBeGreaterThan(0);
    expect(facts?.tools.find(({ name }) => name === "tar")?.version).toContain("tar");
  });
  expect((await status()).latency).toBeGreaterThan(0);
  const here = await service.json<ServerStatus>("GET", "/api/server/1/status");
  expect(here.body).toMatchObject({ connection: "local", reachable: true, host_key: null });
  expect(here.body.facts?.processors).toBeGreaterThan(0);

  await sshd.stop();
  // The connection that was being made is lost first.
  await inTime(async () =>
    expect((await service.json<Server>("GET", "/api/server/2")).body).toMatchObject({
      reachable: false,
      unreachable_since: expect.any(String),
      status_reason: expect.stringContaining("refused the connection"),
    }),
  );
  await inTime(async () =>
    expect(receiver.arrivals.map(({ body }) => JSON.parse(body).type)).toEqual([
      "server.unreachable",
    ]),
  );
  await workersAre("unreachable");
  // No other event is undispatched.
  const undispatched = () => service.query("select type from events where dispatched_at is null");
  await inTime(async () => expect(await undispatched()).toEqual([]));
  expect(receiver.arrivals).toHaveLength(1);
  const onOverview = async () =>
    (await service.json<Overview>("GET", "/api/overview")).body.servers?.find(({ id }) => id === 2);
  // The second problem is the channel: no mail server is set.
  await inTime(async () =>
    expect(await onOverview()).toMatchObject({
      health: "failing",
      problems: 2,
      unreachable: { what: "server", reason: expect.stringContaining("refused the connection") },
      sites: [{ health: "unreachable" }, { health: "unreachable" }],
    }),
  );
  // One message, although three entries have the channel, and two workers are unreachable as well.
  expect(await service.query("select title from channel_messages")).toEqual([
    { title: "Server unreachable: web-1" },
  ]);

  await sshd.start();
  await isReachable(true);
  await workersAre("installed");
  await inTime(async () =>
    expect(receiver.arrivals.map(({ body }) => JSON.parse(body).type)).toEqual([
      "server.unreachable",
      "server.recovered",
    ]),
  );
  await inTime(async () => expect(await undispatched()).toEqual([]));
  expect(receiver.arrivals).toHaveLength(2);
  expect(await service.query("select title from channel_messages order by id")).toEqual([
    { title: "Server unreachable: web-1" },
    { title: "Server recovered: web-1" },
  ]);
  await inTime(async () =>
    expect(await onOverview()).toMatchObject({
      problems: 1,
      unreachable: null,
      sites: [{ health: "attention" }, { health: "attention" }],
    }),
  );
});

test.concurrent("shows an unconfirmed host key, with nothing else of the server, and a changed one stops everything there", async (context) => {
  const sshd = await startServer(context);
  const { service, status } = await startService(context, sshd, { hostKey: null });
  await inTime(async () =>
    expect(await status()).toMatchObject({
      reachable: false,
      facts: null,
      host_key: {
        state: "unconfirmed",
        pinned: null,
        offered: [{ type: "ssh-ed25519", fingerprint: sshd.fingerprint }],
      },
    }),
  );
  // The server never responded, so no event says that it was lost.
  expect(await service.query("select type from events")).toEqual([]);
  const text = await readFile(service.inventoryFile, "utf8");
  await writeFile(
    service.inventoryFile,
    text.replace(sshEntry(sshd, null), sshEntry(sshd, sshd.fingerprint)),
  );
  await inTime(async () =>
    expect(await status()).toMatchObject({ reachable: true, host_key: { state: "confirmed" } }),
  );

  const pinned = sshd.fingerprint;
  await sshd.rekey();
  await inTime(async () =>
    expect(await status()).toMatchObject({
      reachable: false,
      status_reason: expect.stringContaining("has changed"),
      host_key: { state: "changed", pinned, offered: [{ fingerprint: sshd.fingerprint }] },
    }),
  );
});

test.concurrent("an account that was unknown while its server was unreachable is found once it is back, and a hanging server is shown until it responds", async (context) => {
  const sshd = await startServer(context);
  await sshd.stop();
  const { service, isReachable } = await startService(context, sshd);
  const account = async () =>
    (await service.json<{ account: string | null }>("GET", "/api/site/2")).body.account;
  expect(await account()).toBeNull();
  await sshd.start();
  await inTime(async () => expect(await account()).toBe(sshd.user));

  await isReachable(true);
  const goOn = await sshd.hang();
  context.onTestFinished(goOn);
  await isReachable(false);
  await goOn();
  await isReachable(true);
});

/** Replaces a part of the inventory, and has it read. */
async function changeInventory(service: TestService, part: string, other: string): Promise<void> {
  const text = await readFile(service.inventoryFile, "utf8");
  await writeFile(service.inventoryFile, text.replace(part, other));
  service.app.readInventory();
}

inLongForm(() => {
  test.concurrent("a connection that ends with its changed entry or with the service reports nothing about the server", async (context) => {
    const [sshd, other] = await Promise.all([startServer(context), startServer(context)]);
    const { service, isReachable, status } = await startService(context, sshd);
    await isReachable(true);
    /** Resolves once the server was asked and has not responded yet. */
    const hangWhileAsked = async (hung: TestSshd, part: string, name: string) => {
      context.onTestFinished(await hung.hang());
      // Saving the inventory makes the service check all servers.
      await changeInventory(service, `name: ${part}`, `name: ${name}`);
      await inTime(async () =>
        expect((await service.json("GET", "/api/site/3")).body).toMatchObject({ name }),
      );
    };
    const events = () => service.query("select type from events");

    await hangWhileAsked(sshd, "blog", "journal");
    await changeInventory(service, sshEntry(sshd), sshEntry(other));
    await inTime(async () =>
      expect(await status()).toMatchObject({
        reachable: true,
        place: expect.stringContaining(String(other.port)),
        latency: expect.any(Number),
      }),
    );
    expect(await events()).toEqual([]);

    await hangWhileAsked(other, "journal", "diary");
    await service.app.close("keep");
    service.app = await createApp(service.options);
    expect(await events()).toEqual([]);
  });
});
