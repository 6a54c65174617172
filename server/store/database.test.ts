import { randomUUID } from "node:crypto";
import { expect, inject, test } from "vitest";
import { administer } from "../testing/service.ts";
import { openDatabase } from "./database.ts";

test("instances that start together migrate one after the other", async () => {
  const other = `test_${randomUUID().replaceAll("-", "")}`;
  await administer(`create database ${other}`);
  const instances = await Promise.all(
    Array.from({ length: 4 }, () =>
      openDatabase({ ...inject("postgres"), database: other }, () => undefined),
    ),
  );
  for (const instance of instances) {
    await expect(instance.ping()).resolves.toBeUndefined();
    await instance.close();
  }
  await administer(`drop database ${other} with (force)`);
});
