import { afterAll, beforeAll, expect, test } from "vitest";
import { systemClock } from "../clock.ts";
import { createTestDatabase, type TestDatabase } from "../testing/database.ts";
import { createContacts } from "./contacts.ts";

let database: TestDatabase;
beforeAll(async () => {
  database = await createTestDatabase();
  await database.db.execute(
    `insert into servers (id, name, entry) values (1, 'web-1', '{"connection": "local"}')`,
  );
});
afterAll(() => database.close());

test("reports what two instances detect at once about a new server once", async () => {
  const contacts = createContacts({ db: database.db, clock: systemClock });
  const note = () => contacts.note({ id: 1, place: null }, "It is away.");
  await Promise.all([note(), note(), note()]);
  const { rows } = await database.db.execute("select type from events");
  expect(rows).toEqual([{ type: "server.unreachable" }]);
});
