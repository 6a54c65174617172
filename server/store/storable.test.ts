import fc from "fast-check";
import { afterAll, beforeAll, expect, test } from "vitest";
import { isStorableText } from "../../contract/inputs.ts";
import { createTestDatabase, type TestDatabase } from "../testing/database.ts";
import { eq, sql } from "./drizzle.ts";
import { storableJson, toStorableText } from "./storable.ts";
import { activity } from "./tables/activity.ts";
import { events } from "./tables/events.ts";
import { settings } from "./tables/installation.ts";

/** Any text, or one that consists mostly of unstorable and escape characters. */
const anyText = fc.oneof(
  fc.string({ unit: "binary" }),
  fc
    .array(fc.constantFrom("\0", "\ud83e", "\udd9c", "a", "\\", '"', "\\u0000"))
    .map((all) => all.join("")),
);

test("makes every text storable, and leaves a storable one unchanged", () => {
  fc.assert(
    fc.property(anyText, (text) => {
      const storable = toStorableText(text);
      expect(isStorableText(storable)).toBe(true);
      if (isStorableText(text)) expect(storable).toBe(text);
      expect(storable).toHaveLength(text.length);
    }),
  );
});

test("makes all texts in the JSON of a value storable: values, names, and nested ones", () => {
  fc.assert(
    fc.property(anyText, (text) => {
      const value = { list: [text, { deep: text }], count: 1, none: null };
      const storable = toStorableText(text);
      expect(JSON.parse(storableJson(value))).toEqual({
        list: [storable, { deep: storable }],
        count: 1,
        none: null,
      });
      expect(JSON.parse(storableJson({ [`n${text}`]: 1 }))).toEqual({ [`n${storable}`]: 1 });
    }),
  );
});

let database: TestDatabase;
beforeAll(async () => {
  database = await createTestDatabase();
});
afterAll(() => database.close());

const awful = "a\0b\ud800c\udc00d 🦜 \\u0000";
const stored = "a\ufffdb\ufffdc\ufffdd 🦜 \\u0000";

test("stores every text, list of texts and JSON, with unstorable characters replaced", async () => {
  const { db } = database;
  await db.insert(settings).values({ key: awful, value: awful });
  // The same text finds the row, because values of comparisons are made storable too.
  const [setting] = await db.select().from(settings).where(eq(settings.key, awful));
  expect(setting).toEqual({ key: stored, value: stored });

  const event = { type: "site.deployed", server_id: 1, message_id: "m" } as const;
  const notification = { subject: awful, facts: [], moments: [], reason: awful, path: "/" };
  const [row] = await db
    .insert(events)
    .values({ ...event, data: { [awful]: [awful] }, notification })
    .returning();
  expect(row?.data).toEqual({ [stored]: [stored] });
  expect(row?.notification).toMatchObject({ subject: stored, reason: stored });

  const list = await db.execute(sql`select ${sql.param([awful, awful])}::text[] as texts`);
  expect(list.rows).toEqual([{ texts: [stored, stored] }]);
});

test("also in a transaction and a prepared statement", async () => {
  const { db } = database;
  await db.transaction(async (tx) => {
    await tx.insert(settings).values({ key: "in a transaction", value: awful });
    await tx.execute(
      sql`update settings set value = value || ${awful} where key = 'in a transaction'`,
    );
  });
  const prepared = db
    .select()
    .from(settings)
    .where(eq(settings.value, sql.placeholder("value")))
    .prepare("settings_by_value");
  expect(await prepared.execute({ value: awful + awful })).toEqual([
    { key: "in a transaction", value: stored + stored },
  ]);
});

test("stores other values unchanged", async () => {
  const { db } = database;
  const at = new Date("2026-01-31T09:30:00.123Z");
  const entry = { kind: "token", action: "made", actor_type: "service", actor_name: "x" } as const;
  const object = { object_type: "token", object_id: 7, object_name: "t" };
  const [row] = await db
    .insert(activity)
    .values({ ...entry, ...object, at })
    .returning();
  expect(row).toMatchObject({ at, object_id: 7, detail: null });
  const bytes = await db.execute(
    sql`select ${Buffer.from([0, 255])}::bytea as bytes, ${true}::boolean as yes`,
  );
  expect(bytes.rows).toEqual([{ bytes: Buffer.from([0, 255]), yes: true }]);
});
