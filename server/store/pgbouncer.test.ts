// PgBouncer in front of the operator's own PostgreSQL. In transaction mode every transaction may run on another connection, so
// no code may depend on the state of a session, such as its locks or LISTEN.
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from "vitest";
import type { Worker } from "../../contract/workers/worker.ts";
import {
  hasPostgresServer,
  startPostgresServer,
  type PostgresServer,
} from "../backups/testing/postgres-server.ts";
import { isLongForm } from "../testing/long-form.ts";
import { hasPgbouncer, startPgbouncer } from "../testing/pgbouncer.ts";
import { createTestService } from "../testing/service.ts";
import { workerBody } from "../testing/worker-body.ts";
import { soon } from "../webhooks/testing/webhook-service.ts";
import { startReceiver } from "../webhooks/testing/receiver.ts";
import { openDatabase } from "./database.ts";
import { openSide } from "./move/side.ts";
import { openOwnServer } from "./own-server.ts";

describe.skipIf(!hasPostgresServer || !hasPgbouncer).each(["session", "transaction"] as const)(
  "behind PgBouncer in %s mode",
  (mode) => {
    let server: PostgresServer;
    let bouncer: Awaited<ReturnType<typeof startPgbouncer>>;

    beforeAll(async () => {
      server = await startPostgresServer();
      await server.createDatabase("own");
      bouncer = await startPgbouncer(server.url("own"), mode);
    });
    afterAll(async () => {
      await bouncer.stop();
      await server.stop();
    });

    test("instances that start together migrate one after the other, and leave no lock", async () => {
      const opened = await Promise.all(
        Array.from({ length: 4 }, async () =>
          openDatabase(await openOwnServer(bouncer.url), () => undefined),
        ),
      );
      // Locks of sessions would remain as long as PgBouncer keeps the sessions.
      expect(
        await server.query("own", "select * from pg_locks where locktype = 'advisory'"),
      ).toEqual([]);
      await Promise.all(opened.map(({ close }) => close()));
    });

    test("refuses a move, which needs its own session", async () => {
      const side = { connection: await openOwnServer(bouncer.url), embeddedIn: null };
      await expect(openSide(side)).rejects.toThrow(
        "A connection pooler such as PgBouncer stands in front of the database own at 127.0.0.1",
      );
    });

    // What works in transaction mode also works in session mode.
    if (mode === "session" && !isLongForm) return;
    test("a worker runs and a webhook is delivered", async () => {
      const receiver = await startReceiver();
      const service = await createTestService({ connection: await openOwnServer(bouncer.url) });
      onTestFinished(async () => {
        await service.close();
        await receiver.close();
      });
      const created = await service.json<Worker>("POST", "/api/site/1/worker", workerBody);
      expect(created.status).toBe(201);
      await soon(async () => {
        const { body } = await service.json<Worker>("GET", `/api/worker/${created.body.id}`);
        expect(body.status).toBe("installed");
      });
      const asked = Array.from({ length: 100 }, (_, place) =>
        service.call("GET", place % 2 === 0 ? "/api/site/1/workers" : "/api/server/1/sites"),
      );
      const statuses = (await Promise.all(asked)).map(({ status }) => status);
      expect(new Set(statuses)).toEqual(new Set([200]));
      const webhook = await service.json<{ id: number }>("POST", "/api/site/1/webhook", {
        name: "mine",
        url: receiver.url,
        events: ["backup.failed"],
      });
      expect(webhook.status).toBe(201);
      await service.call("POST", `/api/site-webhook/${webhook.body.id}/ping`);
      await soon(() => expect(receiver.arrivals).toHaveLength(1));
    });
  },
);
