// Creates one real object of each kind that an operation can name: a running worker, a finished backup, a webhook with
// a delivery, tokens. For tests that go through the whole operation table.
import { mkdir, writeFile } from "node:fs/promises";
import { DatabaseSync } from "node:sqlite";
import { workerBody } from "./worker-body.ts";
import { ownUser } from "./own-user.ts";
import { soon } from "./soon.ts";

/** Kind of object that the id in a path names: the word before the id. */
export type ResourceKind =
  | "server"
  | "site"
  | "database"
  | "worker"
  | "backup-configuration"
  | "backup"
  | "site-webhook"
  | "webhook-delivery"
  | "notification-channel"
  | "storage-providers"
  | "token";

export type Resources = {
  ids: Record<ResourceKind, number>;
  tokens: { read: string; narrowed: string };
  webhookSecret: string;
};

/** Secrets of an operator, which must not appear in any output. */
export const plantedSecrets = {
  SHOP_DATABASE_URL: "postgres://shop:planted-database-password@127.0.0.1:9/shop",
  OPS_SLACK: "http://127.0.0.1:9/services/planted-channel-path/planted-channel-key",
  S3_KEY: "planted-storage-access-key",
  S3_SECRET: "planted-storage-secret-key",
};

/** Returns an inventory whose addresses all lead to this machine; port 9 is closed. */
export const oneOfEach = (folder: string) => `
servers:
  - { id: 1, name: here, connection: local }
  - { id: 2, name: there, connection: local }
sites:
  - { id: 1, server: 1, name: shop, root: ${folder}/shop, user: ${ownUser}, artisan: [sh, artisan], databases: [1, 2] }
databases:
  - { id: 1, server: 1, name: orders, engine: sqlite, path: ${folder}/orders.sqlite, user: ${ownUser} }
  - { id: 2, server: 1, name: shop, engine: postgres, url: env:SHOP_DATABASE_URL }
storage_providers:
  - { id: 1, name: this disk, type: local, path: ${folder}/copies }
  - { id: 2, name: offsite, type: s3, bucket: copies, endpoint: "http://127.0.0.1:9", access_key: env:S3_KEY, secret_key: env:S3_SECRET }
notification_channels:
  - { id: 1, name: ops, type: slack, webhook: env:OPS_SLACK }
  - { id: 2, name: on-call, type: email, email: on-call@example.com }
`;

export const backupBody = {
  name: "orders, nightly",
  frequency: "0 3 * * *",
  storage_provider_id: 1,
  backupable_type: "database",
  backupable_id: 1,
};

type Service = { call(method: string, path: string, body?: unknown): Promise<Response> };

/** @param folder the argument of `oneOfEach` */
export async function createResources(service: Service, folder: string): Promise<Resources> {
  const make = async <Body>(method: string, path: string, body?: unknown): Promise<Body> => {
    const response = await service.call(method, path, body);
    if (!response.ok) throw new Error(`${method} ${path}: ${await response.text()}`);
    return await response.json();
  };
  type Made = { id: number; status: string };
  const settled = (path: string, status: string) =>
    soon(async () => {
      const now = await make<Made>("GET", path);
      if (now.status !== status) throw new Error(`${path} is ${now.status}`);
    });

  await mkdir(`${folder}/copies`);
  await mkdir(`${folder}/shop`, { recursive: true });
  // Idles without using the CPU, because there may be many workers.
  await writeFile(`${folder}/shop/artisan`, "exec sleep 100000\n");
  const orders = new DatabaseSync(`${folder}/orders.sqlite`);
  orders.exec("create table if not exists orders (id integer primary key, what text)");
  orders.close();
  const worker = await make<Made>("POST", "/api/site/1/worker", workerBody);
  const path = "/api/server/1/backup-configuration";
  const configuration = await make<Made>("POST", path, backupBody);
  await settled(`/api/backup-configuration/${configuration.id}`, "installed");
  const backup = await make<Made>("POST", `/api/backup/${configuration.id}`);
  await settled(`/api/backup/${backup.id}`, "finished");
  const webhook = await make<Made & { secret: string }>("POST", "/api/site/1/webhook", {
    url: "http://127.0.0.1:9/hook",
  });
  const delivery = await make<Made>("POST", `/api/site-webhook/${webhook.id}/ping`);
  const read = await make<Made & { token: string }>("POST", "/api/tokens", {
    name: "reader",
    abilities: ["read"],
  });
  const narrowed = await make<Made & { token: string }>("POST", "/api/tokens", {
    name: "narrowed",
    abilities: ["*"],
    server_ids: [2],
  });
  return {
    ids: {
      server: 1,
      site: 1,
      database: 1,
      worker: worker.id,
      "backup-configuration": configuration.id,
      backup: backup.id,
      "site-webhook": webhook.id,
      "webhook-delivery": delivery.id,
      "notification-channel": 1,
      "storage-providers": 1,
      token: read.id,
    },
    tokens: { read: read.token, narrowed: narrowed.token },
    webhookSecret: webhook.secret,
  };
}

/** Returns the kind of object that the id in an operation's path names; null = the path has no id. */
export function kindOf(path: string): ResourceKind | null {
  const [, word, name] = /^\/api\/([a-z-]+)\/\{(\w+)\}/.exec(path) ?? [];
  if (name === "backupConfigurationId") return "backup-configuration";
  // The cast holds for all paths of the operation table; a new kind that is missing here fails the tests that go through it.
  return (word ?? null) as ResourceKind | null;
}

/** Returns the path of an operation with the ids of existing objects. */
export const pathTo = (path: string, ids: Record<ResourceKind, number>): string =>
  path.replace(/\{\w+\}/, () => String(ids[kindOf(path) ?? "server"]));
