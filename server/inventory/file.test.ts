import { describe, expect, test } from "vitest";
import { InventoryError, parseInventory } from "./file.ts";

const start = `servers:
  - { id: 1, name: here, connection: local }
`;

const complaint = (text: string): string => {
  try {
    parseInventory(text, "inventory.yaml");
  } catch (error) {
    if (error instanceof InventoryError) return error.message;
    throw error;
  }
  return "";
};

test("an empty file is an empty inventory", () => {
  expect(parseInventory("", "inventory.yaml").servers).toEqual([]);
});

test("a list whose entries were all removed is an empty list", () => {
  const text = `${start}sites:\n  # - { id: 1, server: 1, name: shop, root: /srv/shop }\ndatabases:\n`;
  const { sites, databases, servers } = parseInventory(text, "inventory.yaml");
  expect([sites, databases, servers.length]).toEqual([[], [], 1]);
});

test("reads every kind of entry", () => {
  const inventory = parseInventory(
    `${start}
sites:
  - { id: 1, server: 1, name: shop, root: /srv/shop, artisan: php artisan, databases: [2] }
databases:
  - { id: 1, server: 1, name: shop, engine: postgres, url: env:SHOP_DATABASE_URL }
  - { id: 2, server: 1, name: small, engine: sqlite, path: ~/small.sqlite }
storage_providers:
  - { id: 1, name: disk, type: local, path: /var/backups, server: 1 }
  - { id: 2, name: offsite, type: s3, bucket: b, region: eu, access_key: env:A, secret_key: file:/etc/b }
notification_channels:
  - { id: 1, name: ops, type: slack, webhook: env:OPS }
  - { id: 2, name: mail, type: email, email: ops@example.com }
`,
    "inventory.yaml",
  );
  expect(inventory.storage_providers).toHaveLength(2);
  expect(inventory.notification_channels).toHaveLength(2);
});

describe("reports an error with its line and its reason", () => {
  test.each([
    ["servers: [", "line 1"],
    [`${start}  - { id: 1, name: again, connection: local }`, "line 3: The id 1 is used twice."],
    ["servers:\n  - { id: 1, connection: local }", "line 2: The servers.0.name field is required."],
    [
      "servers:\n  - id: 1\n    name: far\n    connection: { ssh: { host: a } }",
      "line 4: The ssh.user field is required.",
    ],
    [
      "servers:\n  - { id: 1, name: far, connection: near }",
      "line 2: A connection is “local” for this machine, or",
    ],
    [
      "servers:\n  - id: 1\n    name: far\n    connection:\n      ssh:\n        host: a\n        user: b\n        key: agent\n        host_key: SHA256:short",
      "line 9: A host key is its fingerprint",
    ],
    [
      "servers:\n  - id: 1\n    name: far\n    connection:\n      ssh:\n        host: -oProxyCommand=x\n        user: b\n        key: agent",
      "line 6: A host is a name or an address",
    ],
    [
      "servers:\n  - { id: 1, name: far, connection: { ssh: { host: a, user: b, key: agent } } }\nsites:\n  - { id: 1, server: 1, name: a, root: ~/a }",
      "line 4: A path on a server over SSH must start with “/”.",
    ],
    [
      `${start}sites:\n  - { id: 1, server: 7, name: a, root: /a }`,
      "line 4: There is no server 7.",
    ],
    [`${start}sites:\n  - { id: 1, server: 1, name: a, root: a }`, "A path must be absolute"],
    [
      "servers:\n  - { id: 1, name: here, connection: local, drills: { server: 7 } }",
      "line 2: There is no server 7.",
    ],
    [
      "servers:\n  - { id: 1, name: here, connection: local, drills: { server: here } }",
      "line 2: A drill place is the id of a server, or “local” for this machine.",
    ],
    [
      "servers:\n  - { id: 1, name: here, connection: local, drills: { server: local, mysql: secret } }",
      "line 2: A secret must be “env:NAME” or “file:PATH”.",
    ],
    ["servers:\n  - { id: 1, name: far }", "line 2: A connection is “local” for this machine, or"],
    [
      `${start}storage_providers:\n  - id: 1\n    name: disk\n    type: local\n    path: /a\n    server: 7`,
      "line 8: There is no server 7.",
    ],
    [
      "servers:\n  - { id: 1, name: far, connection: { ssh: { host: a, user: b, key: agent } } }\nstorage_providers:\n  - { id: 1, name: disk, type: local, server: 1, path: ~/a }",
      "line 4: A path on a server over SSH must start with “/”.",
    ],
    [
      `${start}storage_providers:\n  - { id: 1, name: s, type: s3, server: 1, bucket: b, access_key: env:A, secret_key: env:B }`,
      "line 4",
    ],
    ...["shop/backups", "my bucket"].map((bucket) => [
      `${start}storage_providers:\n  - { id: 1, name: s, type: s3, bucket: ${bucket}, access_key: env:A, secret_key: env:B }`,
      "line 4: A bucket is its name alone. Folders in it are the directories of backups.",
    ]),
    [
      `${start}storage_providers:\n  - { id: 1, name: s, type: s3, bucket: b, endpoint: "https://key:hunter2@s3.example.com", access_key: env:A, secret_key: env:B }`,
      "line 4: An endpoint has no login in it. Give the key as access_key and secret_key.",
    ],
    [`${start}sitez: []`, "line 3"],
    [`${start}sitez:`, "line 3: Unknown field “sitez”."],
    ["servers", "line 1: An inventory is made of lists, such as “servers:” and “sites:”."],
    ["- id: 1", "line 1: An inventory is made of lists, such as “servers:” and “sites:”."],
    [
      `${start}databases:\n  - { id: 1, server: 1, name: a, engine: postgres, url: "postgres://u:p@h/d" }`,
      "A secret must be “env:NAME” or “file:PATH”.",
    ],
    [
      "servers:\n  - { id: 1, name: far, supervisor: embedded, connection: { ssh: { host: a, user: b, key: agent } } }",
      "line 2: On a server over SSH, workers are kept up by its supervisord.",
    ],
    [
      "servers:\n  - { id: 1, name: far, supervisord_config: ~/a, connection: { ssh: { host: a, user: b, key: agent } } }",
      "line 2: A path on a server over SSH must start with “/”.",
    ],
    [
      "servers:\n  - { id: 1, name: a, connection: local, time_zone: Mars/Olympus }",
      "A time zone must be an IANA name",
    ],
  ])("%j", (text, expected) => {
    expect(complaint(text)).toContain(expected);
  });
});

test("an error does not repeat a secret that was written into the file", () => {
  const text = `${start}databases:\n  - { id: 1, server: 1, name: a, engine: mysql, url: "mysql://u:hunter2@h/d" }`;
  expect(complaint(text)).not.toContain("hunter2");
});
