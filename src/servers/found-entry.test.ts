import { expect, test } from "vitest";
import { requestEntries } from "../../contract/inventory/entries.ts";
import { databaseEntry, placeOf } from "./found-entry.ts";

const login = { user: "shop", password: "secret" };

test("a discovered entry is accepted by the service, and its place contains no secret", () => {
  const found = { engine: "mysql", port: 3306, socket: null } as const;
  expect(requestEntries.databases.safeParse(databaseEntry(1, found, login, "shop")).success).toBe(
    true,
  );
  expect(placeOf(found)).toBe("MySQL or MariaDB on port 3306");
});
