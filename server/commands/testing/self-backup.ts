// An installation with rows in every table and secrets in several places, and two backups of itself.
import { spawn } from "node:child_process";
import { once } from "node:events";
import { chmod, mkdir, readdir, realpath, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { generateX25519Identity, identityToRecipient } from "age-encryption";
import type pg from "pg";
import { connectToRunning, startEmbeddedPostgres } from "../../store/embedded/embedded-postgres.ts";
import { patientArtisan } from "../../testing/artisan.ts";
import { makeMemoryFolder } from "../../testing/memory-folder.ts";
import { ownUser } from "../../testing/own-user.ts";
import { startService } from "../../testing/service-process.ts";
import { backupSelfCommand } from "../backup-self.ts";
import { fillJobTables, fillTables, readContent } from "./filled-database.ts";
import { keptCode } from "../../testing/kept-code.ts";
import { runHere } from "./run-here.ts";

const program = fileURLToPath(new URL("../quarterdeck.ts", import.meta.url));
const silent = { info: () => undefined, warn: () => undefined, error: () => undefined };
/** Secrets in a file beside the inventory, in a file elsewhere, and of webhooks from `fillTables`. */
export const planted = { beside: "correct horse", elsewhere: "battery staple", webhook: "whsec_1" };

/** Runs a command of the program. */
export function start(args: readonly string[], environment: Record<string, string>) {
  const child = spawn(process.execPath, [program, ...args], {
    env: {
      PATH: process.env["PATH"],
      HOME: process.env["HOME"],
      ...keptCode,
      ...environment,
    },
  });
  let output = "";
  for (const stream of [child.stdout, child.stderr])
    stream.on("data", (chunk: Buffer) => (output += chunk.toString()));
  return {
    child,
    ended: once(child, "close").then(([code]: (number | null)[]) => ({ code, output })),
  };
}

/**
 * @returns the output
 * @throws Error when the command failed
 */
async function backUp(storage: string, environment: Record<string, string>) {
  const { code, stdout, stderr } = await runHere(backupSelfCommand, [storage], environment);
  if (code !== 0) throw new Error(stderr);
  return stdout;
}

export async function withEmbedded<T>(
  folder: string,
  work: (connection: pg.ClientConfig) => Promise<T>,
): Promise<T> {
  const postgres = await startEmbeddedPostgres({ folder: join(folder, "postgres"), log: silent });
  try {
    return await work(postgres.connection);
  } finally {
    await postgres.stop();
  }
}

/** Returns the newest file in the storage. */
export const storedIn = async (folder: string): Promise<string> => {
  const names = await readdir(join(folder, "quarterdeck"));
  const newest = names
    .filter((name) => !name.endsWith(".json"))
    .sort()
    .at(-1);
  return join(folder, "quarterdeck", newest ?? "");
};

/** Creates an installation in `old`, with backups in `plain`, made while the service runs, and in `sealed`, encrypted. */
export async function makeInstallation() {
  const root = await realpath(await makeMemoryFolder("quarterdeck-self-"));
  // The embedded database's account needs access, or its data is stored elsewhere.
  await chmod(root, 0o711);
  const at = (...names: string[]) => join(root, ...names);
  const identity = await generateX25519Identity();
  const recipient = await identityToRecipient(identity);
  await writeFile(at("identity"), `# a comment\n${identity}\n`);
  for (const name of ["shop", "old/secrets", "elsewhere", "plain", "sealed", "again", "recipients"])
    await mkdir(at(name), { recursive: true });
  await writeFile(at("shop/artisan"), patientArtisan);
  await writeFile(at("old/secrets/slack"), planted.beside);
  await writeFile(at("elsewhere/url"), planted.elsewhere);
  await writeFile(
    at("old/inventory.yaml"),
    `# A comment stays.
servers:
  - { id: 1, name: here, connection: local }
sites:
  - { id: 1, server: 1, name: shop, root: ${root}/shop, user: ${ownUser}, artisan: [sh, artisan] }
databases:
  - { id: 1, server: 1, name: shop, engine: sqlite, path: ${root}/shop/shop.sqlite, user: ${ownUser} }
  - { id: 2, server: 1, name: crm, engine: postgres, url: "file:${root}/elsewhere/url" }
storage_providers:
  - { id: 1, name: disk, type: local, path: ${root}/plain }
  - { id: 2, name: gone, type: local, path: ${root}/no-such-folder }
  - { id: 3, name: recipients, type: local, path: ${root}/recipients, recipients: [${recipient}] }
notification_channels:
  - { id: 1, name: ops, type: slack, webhook: file:secrets/slack }
  - { id: 2, name: dev, type: slack, webhook: env:DEV_WEBHOOK }
`,
  );
  const data = { QUARTERDECK_DATA: at("old") };
  const service = await startService(at("old"));
  let said: string;
  try {
    await fillTables(await connectToRunning(at("old/postgres")), 300);
    said = await backUp("1", data);
  } finally {
    await service.end("SIGTERM");
  }
  const content = await withEmbedded(at("old"), async (connection) => {
    await fillJobTables(connection);
    return readContent(connection);
  });
  const encrypted = { ...data, QUARTERDECK_SELF_BACKUP_RECIPIENT: recipient };
  const saidEncrypted = await backUp(at("sealed"), encrypted);
  return {
    root,
    at,
    identity,
    recipient,
    content,
    said,
    saidEncrypted,
    remove: () => rm(root, { recursive: true, force: true }),
  };
}
