// Tests the first start as an operator sees it: the terminal, and the link in it.
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import type { NewToken } from "../../contract/tokens.ts";
import { administer, createDatabase, databaseUrl } from "../testing/service.ts";
import { startService } from "../testing/service-process.ts";

test("prints a one-time link to the terminal and not into the log, until a user has signed in", async () => {
  const folder = await mkdtemp(join(tmpdir(), "quarterdeck-first-"));
  const database = await createDatabase();
  onTestFinished(async () => {
    await administer(`drop database ${database} with (force)`);
    await rm(folder, { recursive: true });
  });
  const start = async () => {
    const service = await startService(folder, {
      DATABASE_URL: databaseUrl(database),
      QUARTERDECK_TOKEN: "",
    });
    const printed = async () => {
      // The line with the address comes before the one with the link.
      await expect.poll(service.output).toMatch(/Quarterdeck is ready/);
      await expect.poll(service.output).toMatch(/\/#code=|is ready: http/);
      return /\/#code=(\w+)/.exec(service.output())?.[1] ?? null;
    };
    return { service, code: await printed() };
  };

  const missed = await start();
  expect(missed.code).toMatch(/^\w{28}$/);
  expect(missed.service.output()).toContain("The link works once, for 10 minutes:");
  expect(missed.service.output()).toContain("each start prints a new link");
  const log = missed.service
    .output()
    .split("\n")
    .filter((line) => line.startsWith("{"));
  expect(log.join("\n")).toContain('"msg":"ready"');
  expect(log.join("\n")).not.toContain(missed.code);
  await missed.service.end("SIGTERM");

  const second = await start();
  expect(second.code).not.toBe(missed.code);
  const signIn = (code: string | null) =>
    fetch(`${second.service.url}/api/sign-in`, {
      method: "POST",
      headers: { "Content-Type": "application/json" },
      body: JSON.stringify({ code }),
    });
  expect((await signIn(missed.code)).status).toBe(422);
  const response = await signIn(second.code);
  expect(response.status).toBe(201);
  const { token }: NewToken = await response.json();
  const used = await fetch(`${second.service.url}/api/tokens`, {
    headers: { Authorization: `Bearer ${token}` },
  });
  expect(used.status).toBe(200);
  expect(second.service.output()).not.toContain(token.split("|")[1]);
  await second.service.end("SIGTERM");

  const third = await start();
  expect(third.code).toBeNull();
  await third.service.end("SIGTERM");
});
