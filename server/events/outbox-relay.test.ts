import pino from "pino";
import { afterAll, beforeAll, expect, onTestFinished, test } from "vitest";
import { sql } from "../store/drizzle.ts";
import { createTestDatabase, type TestDatabase } from "../testing/database.ts";
import { createFakeClock } from "../testing/fake-clock.ts";
import { noteStatements, withStatements, type Statement } from "../testing/note-statements.ts";
import type { EventRow } from "./event.ts";
import { createOutboxRelay } from "./outbox-relay.ts";

let database: TestDatabase;
let stopNoting: () => void;
beforeAll(async () => {
  stopNoting = noteStatements();
  database = await createTestDatabase();
});
afterAll(async () => {
  stopNoting();
  await database.close();
});

test("polls each second for events without a notification, with one statement if there are none", async () => {
  const clock = createFakeClock();
  const statements: Statement[] = [];
  const dispatched: EventRow[] = [];
  const relay = createOutboxRelay({
    db: database.db,
    receivers: [],
    onDispatched: (events) => void dispatched.push(...events),
    clock,
    log: pino({ level: "silent" }),
  });
  onTestFinished(() => relay.stop());
  withStatements(statements, relay.wake);
  const lookAgain = () => withStatements(statements, () => clock.advance(1000));
  for (const looks of [1, 2, 3])
    await expect
      .poll(() => {
        if (statements.length < looks) lookAgain();
        return statements.length;
      })
      .toBe(looks);
  await database.db.execute(sql`insert into servers (id, name, entry) values (1, 'web', '{}')`);
  await database.db.execute(
    sql`insert into events (type, server_id, message_id, data, notification)
      values ('server.recovered', 1, 'msg_1', '{}', '{}')`,
  );
  await expect
    .poll(() => {
      lookAgain();
      return dispatched.map(({ type }) => type);
    })
    .toEqual(["server.recovered"]);
});
