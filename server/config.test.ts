import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { ConfigError, publicUrlProblem, readConfig, readSecretFiles } from "./config.ts";

test("an empty environment leads to the defaults, and root has another data folder", () => {
  expect(readConfig({}, false)).toMatchObject({
    port: 4000,
    host: "127.0.0.1",
    databaseUrl: null,
    token: null,
    rateLimit: 600,
    workersOnStop: "by signal",
    publicUrl: null,
    upstream: null,
    allow: null,
    smtp: null,
    keepDays: 90,
    selfBackup: null,
    logLevel: "info",
  });
  expect(readConfig({}, true)).toMatchObject({
    dataFolder: "/var/lib/quarterdeck",
    inventoryFile: "/var/lib/quarterdeck/inventory.yaml",
  });
});

test("reads each variable, and treats an empty one as not set", () => {
  const environment = {
    PORT: "80",
    HOST: "",
    QUARTERDECK_DATA: "/srv/data",
    QUARTERDECK_INVENTORY: "/etc/inventory.yaml",
    QUARTERDECK_RATE_LIMIT: "0",
    QUARTERDECK_WORKERS: "keep",
    QUARTERDECK_PUBLIC_URL: "https://ops.example.com/",
    QUARTERDECK_UPSTREAM: "https://other.example.com/base/",
    QUARTERDECK_ALLOW: "127.0.0.0/8, 10.1.2.3",
    QUARTERDECK_INVENTORY_READONLY: "1",
    QUARTERDECK_KEEP_DAYS: "7",
    QUARTERDECK_SELF_BACKUP: "3",
    QUARTERDECK_SELF_BACKUP_KEEP: "14",
    QUARTERDECK_SELF_BACKUP_RECIPIENT: "age1x",
    SMTP_URL: "smtps://user:pass@mail.example.com",
    LOG_LEVEL: "warn",
  };
  expect(readConfig(environment, true)).toMatchObject({
    port: 80,
    host: "127.0.0.1",
    dataFolder: "/srv/data",
    inventoryFile: "/etc/inventory.yaml",
    rateLimit: 0,
    workersOnStop: "keep",
    publicUrl: "https://ops.example.com",
    upstream: "https://other.example.com/base",
    isInventoryReadOnly: true,
    allow: "127.0.0.0/8, 10.1.2.3",
    smtp: { host: "mail.example.com", port: 465, isSecure: true },
    keepDays: 7,
    selfBackup: { providerId: 3, keep: 14, recipients: "age1x" },
    logLevel: "warn",
  });
  expect(readConfig({ LOG_LEVEL: "" }, true)).toMatchObject({ logLevel: "info" });
});

test.each([
  ["PORT", "http"],
  ["PORT", "65536"],
  ["QUARTERDECK_TOKEN", "too short"],
  ["QUARTERDECK_RATE_LIMIT", "-1"],
  ["QUARTERDECK_WORKERS", "maybe"],
  ["QUARTERDECK_PUBLIC_URL", "ftp://ops.example.com"],
  ["QUARTERDECK_PUBLIC_URL", "https://user:secret@ops.example.com"],
  ["QUARTERDECK_PUBLIC_URL", "https://ops.example.com/?page=1"],
  ["QUARTERDECK_INSTANCE_URL", "http://10.0.0.5:4000/#a"],
  ["QUARTERDECK_UPSTREAM", "ops.example.com"],
  ["QUARTERDECK_UPSTREAM", "https://user:secret@ops.example.com"],
  ["QUARTERDECK_UPSTREAM", "https://ops.example.com/?page=1"],
  ["QUARTERDECK_ALLOW", "10.0.0.0/8, the office"],
  ["QUARTERDECK_SELF_BACKUP_RECIPIENT", ", ,"],
  ["QUARTERDECK_KEEP_DAYS", "0"],
  ["QUARTERDECK_SELF_BACKUP", "disk"],
  ["QUARTERDECK_SELF_BACKUP_KEEP", "0"],
  ["QUARTERDECK_INVENTORY_READONLY", "yes"],
  ["SMTP_URL", "mail.example.com"],
  ["LOG_LEVEL", "verbose"],
])("refuses %s=%s with the name of the variable", (name, value) => {
  const read = () => readConfig({ [name]: value }, false);
  expect(read).toThrow(ConfigError);
  expect(read).toThrow(name);
});

test.each([
  [null, false],
  ["https://ops.example.com", false],
  ["https://ops.example.com:8443", false],
  ["https://example.com/ops", true],
])("accepts only a public address without a path: %s", (publicUrl, isProblem) => {
  const problem = publicUrlProblem(publicUrl);
  if (isProblem) expect(problem).toContain(publicUrl);
  else expect(problem).toBeNull();
});

test("the token, the database and the mail server may be read from files, and nothing else", async () => {
  const folder = await mkdtemp(join(tmpdir(), "quarterdeck-config-"));
  onTestFinished(() => rm(folder, { recursive: true }));
  const files = {
    QUARTERDECK_TOKEN: "a token of 32 characters or more, chosen",
    DATABASE_URL: "postgres://me:secret@db/quarterdeck",
    SMTP_URL: "smtp://user:pass@mail.example.com",
  };
  const environment: Record<string, string> = { HOST: "file:/etc/hostname" };
  for (const [name, content] of Object.entries(files)) {
    await writeFile(join(folder, name), `${content}\n`);
    environment[name] = `file:${join(folder, name)}`;
  }
  expect(readConfig(readSecretFiles(environment), false)).toMatchObject({
    token: files.QUARTERDECK_TOKEN,
    databaseUrl: files.DATABASE_URL,
    smtp: { host: "mail.example.com" },
    host: "file:/etc/hostname",
  });

  const missing = join(folder, "missing");
  const read = (path: string) => readSecretFiles({ DATABASE_URL: `file:${path}` });
  expect(() => read(missing)).toThrow(ConfigError);
  expect(() => read(missing)).toThrow(`DATABASE_URL: couldn't read ${missing} (ENOENT).`);
  await writeFile(missing, "\n");
  expect(() => read(missing)).toThrow(`DATABASE_URL: ${missing} is empty.`);
});

test.each([
  ["postgres://me@db/q", "postgres://me@db/q?password=a%26b"],
  ["postgres://me@/q?host=/run", "postgres://me@/q?host=/run&password=a%26b"],
  ["postgres://me:own@db/q", "postgres://me:own@db/q"],
  ["postgres://db/q?password=own", "postgres://db/q?password=own"],
])("PGPASSWORD is used for a database unless %s contains a password", (url, expected) => {
  const environment = { DATABASE_URL: url, PGPASSWORD: "a&b" };
  expect(readConfig(environment, false).databaseUrl).toBe(expected);
});
