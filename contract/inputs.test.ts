import * as z from "zod/mini";
import { expect, test } from "vitest";
import { createTokenBody } from "./bodies.ts";
import { updateBackupConfigurationBody } from "./backups/bodies.ts";
import { fileEntries, requestEntries } from "./inventory/entries.ts";
import { createWebhookBody } from "./webhooks/bodies.ts";
import "./validation-messages.ts";

const names = [
  createTokenBody.shape.name,
  updateBackupConfigurationBody.shape.name,
  fileEntries.servers.shape.name,
  requestEntries.sites.shape.name,
];

test.each([
  ["shop\u200b, nightly", "shop, nightly"],
  ["\u202aC:\\shop\u202c ", "C:\\shop"],
  ["invoice\u202egnp.exe", "invoicegnp.exe"],
  ["👨\u200d👩\u200d👧 nightly", "👨\u200d👩\u200d👧 nightly"],
  ["שלום \u200e(1)", "שלום \u200e(1)"],
])("stores the name %j as it is displayed", (given, kept) => {
  for (const name of names) expect(z.parse(name, given)).toBe(kept);
});

test("refuses a name without visible characters", () => {
  for (const name of names)
    for (const given of ["\u200b\u2060", " \ufeff ", "\u202e", "\u200e", "\u200d \u200f"])
      expect(name.safeParse(given).success, JSON.stringify(given)).toBe(false);
});

test.each(["\u200b", "\u200e", "\ufeff", " ", "\u00a0"])(
  "an address that is pasted with %j is stored without it",
  (pasted) => {
    const around = (text: string) => `${pasted}${text}${pasted}`;
    const secret = { secret: "x" };
    const hostKey = `SHA256:${"a".repeat(43)}`;
    const { storage_providers: storage, servers, notification_channels: channels } = requestEntries;
    const s3 = { name: "s3", type: "s3" as const, access_key: secret, secret_key: secret };
    const login = { host: "db-1", user: "ops", host_key: hostKey, key: "agent" };
    const sftp = { name: "box", type: "sftp" as const, path: "backups" };
    const email = { name: "ops", type: "email" as const };
    const cases: [z.ZodMiniType, object, object][] = [
      [
        storage,
        {
          ...s3,
          bucket: around("b"),
          region: around("eu"),
          endpoint: around("https://s3.example"),
        },
        { ...s3, bucket: "b", region: "eu", endpoint: "https://s3.example" },
      ],
      [
        storage,
        {
          ...sftp,
          ssh: {
            ...login,
            host: around(login.host),
            user: around(login.user),
            host_key: around(hostKey),
          },
        },
        { ...sftp, ssh: login },
      ],
      [
        servers,
        { name: "here", connection: "local", time_zone: around("Europe/Berlin") },
        { name: "here", connection: "local", time_zone: "Europe/Berlin" },
      ],
      [
        channels,
        { ...email, email: around("ops@example.com") },
        { ...email, email: "ops@example.com" },
      ],
      [
        createWebhookBody,
        { url: around("https://e.example/hook") },
        { url: "https://e.example/hook" },
      ],
    ];
    for (const [schema, given, kept] of cases) expect(z.parse(schema, given)).toEqual(kept);
  },
);
