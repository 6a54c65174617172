// `quarterdeck verify` on storages that a service has filled, without the service and its database.
import { execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import {
  appendFile,
  cp,
  mkdir,
  mkdtemp,
  open,
  readFile,
  rm,
  symlink,
  writeFile,
} from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, expect, onTestFinished, test } from "vitest";
import { createBackupTestService } from "../backups/testing/backup-service.ts";
import { serve } from "../net/testing/receivers.ts";
import { startS3, type Gate } from "../storage/testing/s3.ts";
import { keptCode } from "../testing/kept-code.ts";
import { runHere } from "./testing/run-here.ts";
import { verifyCommand } from "./verify.ts";

const program = fileURLToPath(new URL("quarterdeck.ts", import.meta.url));

let root: string;
let copies: string;
let bucketFolder: string;
let s3: Gate;
/** Keys of the files in the folder, oldest first; and of the file in the bucket. */
let keys: string[] = [];
let inBucket = "";

beforeAll(async () => {
  root = await mkdtemp(join(tmpdir(), "quarterdeck-verify-"));
  copies = join(root, "copies");
  bucketFolder = join(root, "bucket");
  s3 = await startS3(bucketFolder);
  const service = await createBackupTestService(
    { secrets: { S3_ACCESS: s3.options.accessKey, S3_SECRET: s3.options.secretKey } },
    { providers: () => `  - { id: 3, type: s3, name: offsite, ${accessOf(s3)} }` },
  );
  const { id } = await service.installed();
  keys = [(await service.run(id)).path, (await service.run(id)).path];
  const site = { storage_provider_id: 3, backupable_type: "site" };
  inBucket = (await service.run((await service.installed(site)).id)).path;
  for (const key of keys.flatMap((name) => [name, `${name}.json`]))
    await cp(join(service.folder, "copies", key), join(copies, key));
  await service.close();
});
afterAll(async () => {
  await s3?.close();
  await rm(root, { recursive: true, force: true });
});

const accessOf = ({ options }: Gate) =>
  `bucket: copies, endpoint: "${options.endpoint}", access_key: env:S3_ACCESS, secret_key: env:S3_SECRET`;

async function verifyByProgram(...args: string[]) {
  const child = spawn(process.execPath, [program, "verify", ...args], {
    env: {
      PATH: process.env["PATH"],
      QUARTERDECK_DATA: join(root, "no-data"),
      ...keptCode,
    },
  });
  onTestFinished(() => void child.kill("SIGKILL"));
  const ended = once(child, "close");
  const [stdout, stderr] = await Promise.all([text(child.stdout), text(child.stderr)]);
  // For a program that was not killed, the first value is its exit code.
  const [code] = (await ended) as [number];
  return { code, stdout, stderr };
}

const verify = (args: readonly string[], environment: Record<string, string> = {}) =>
  runHere(verifyCommand, args, { QUARTERDECK_DATA: join(root, "no-data"), ...environment });

/** Changes a stored file or its manifest until the end of the test. */
async function change(name: string, how: (path: string) => Promise<unknown>): Promise<void> {
  const path = join(copies, name);
  const before = await readFile(path);
  onTestFinished(() => writeFile(path, before));
  await how(path);
}

const [older, newer] = [() => keys[0] ?? "", () => keys[1] ?? ""];

test("finds all files valid, and leaves the folder unchanged", async () => {
  const { code, stdout, stderr } = await verifyByProgram(copies);
  expect(stderr).toBe("");
  expect(stdout).toMatch(
    /^2 stored files in \/.*copies checked \([\d.]+ (?:bytes|kB)\), all sound\.\n$/,
  );
  expect(code).toBe(0);
});

test("detects a changed, a truncated and a missing file", async () => {
  await change(older(), async (path) => {
    const file = await open(path, "r+");
    await file.write(Buffer.from("?"), 0, 1, 20);
    await file.close();
  });
  await change(newer(), (path) => appendFile(path, "x"));
  const two = await verify([copies]);
  expect(two.stdout).toContain(`damaged: ${older()}\n  Checksum mismatch`);
  expect(two.stdout).toMatch(new RegExp(`damaged: ${newer()}\\n  .* has \\d+ bytes instead of`));
  expect(two.stderr).toContain("2 of 2 stored files in");
  expect(two.code).toBe(1);

  await rm(join(copies, newer()));
  const { stdout, code } = await verify(["--json", copies]);
  expect(code).toBe(1);
  expect(JSON.parse(stdout)).toMatchObject({
    storage: copies,
    sound: 0,
    problems: [
      { key: older(), kind: "damaged" },
      { key: newer(), kind: "missing", reason: `${newer()} is missing.` },
    ],
  });
});

test.each([
  ["cut off", (text: string) => text.slice(0, 100), "is no manifest, or damaged"],
  ["of a newer version", (text: string) => text.replace(`"version": 1`, `"version": 3`), "newer"],
  ["of another file", (text: string) => text.replace(`"name": "`, `"name": "x`), "manifest of x"],
])("detects a manifest that is %s", async (_, edit, words) => {
  await change(`${older()}.json`, async (path) =>
    writeFile(path, edit(await readFile(path, "utf8"))),
  );
  const { code, stdout } = await verify([copies]);
  expect(stdout).toContain(`unreadable manifest: ${older()}\n`);
  expect(stdout).toContain(words);
  expect(code).toBe(1);
});

test("lists files without a manifest and partial files, neither of which is an error", async () => {
  await change(`${older()}.json`, (path) => rm(path));
  const piece = join(copies, "x.tar.zst.partial");
  await writeFile(piece, "x");
  onTestFinished(() => rm(piece));
  const { code, stdout } = await verify([copies]);
  expect(stdout).toContain(
    `Not checked, no manifest (of an earlier version, or their run isn't over):\n  ${older()}`,
  );
  expect(stdout).toContain("\n  x.tar.zst.partial\n");
  expect(stdout).toContain("1 stored file in");
  expect(code).toBe(0);
});

test("fails if nothing was checked", async () => {
  const empty = await mkdtemp(join(root, "empty-"));
  const nothing = await verify([empty]);
  expect(nothing.stderr).toContain(
    `Nothing was checked: there is no stored file with a manifest in ${empty}.`,
  );
  expect(nothing.code).toBe(1);
  const gone = await verify([join(root, "gone")]);
  expect(gone.stderr).toMatch(/gone.* is not there/);
  expect(gone.code).toBe(1);
});

test("checks a bucket with keys of the environment, completely or below a prefix", async () => {
  const access = {
    AWS_ACCESS_KEY_ID: s3.options.accessKey,
    AWS_SECRET_ACCESS_KEY: s3.options.secretKey,
    AWS_ENDPOINT_URL: s3.options.endpoint ?? "",
  };
  const all = await verify(["s3://copies"], access);
  expect(all.stderr).toBe("");
  expect(all.stdout).toMatch(/^1 stored file in bucket copies at .* all sound\.\n$/);
  const [folder = ""] = inBucket.split("/");
  expect((await verify([`s3://copies/${folder}/`], access)).code).toBe(0);
  const none = await verify(["s3://copies/elsewhere", "--json"], access);
  expect(none.code).toBe(1);
  expect(JSON.parse(none.stdout)).toMatchObject({ sound: 0, problems: [] });
  const wrong = await verify(["s3://copies"], { ...access, AWS_ACCESS_KEY_ID: "nobody" });
  expect(wrong.stderr).toMatch(/bucket copies at .* Correct AWS_ACCESS_KEY_ID\./);
  expect(wrong.code).toBe(1);
});

test("says to correct the region where it came from: a variable or the inventory", async () => {
  const { port } = await serve((_request, response) =>
    response.writeHead(301).end("<Error><Code>PermanentRedirect</Code></Error>"),
  );
  const inventory = join(root, "moved.yaml");
  const access = `bucket: copies, endpoint: "http://127.0.0.1:${port}", access_key: env:KEY, secret_key: env:KEY`;
  await writeFile(inventory, `storage_providers:\n  - { id: 1, type: s3, name: x, ${access} }\n`);
  const listed = await verify(["s3://copies"], { KEY: "x", QUARTERDECK_INVENTORY: inventory });
  expect(listed.stderr).toContain("Correct the region or the endpoint in the inventory.");
  const keys = { AWS_ACCESS_KEY_ID: "x", AWS_SECRET_ACCESS_KEY: "x" };
  for (const name of ["AWS_ENDPOINT_URL", "AWS_ENDPOINT_URL_S3"]) {
    const given = await verify(["s3://copies"], { ...keys, [name]: `http://127.0.0.1:${port}` });
    expect(given.stderr).toContain(`is in another region. Correct AWS_REGION or ${name}.`);
  }
});

test("checks a bucket of the inventory, and reports keys that are missing in both", async () => {
  const inventory = join(root, "inventory.yaml");
  await writeFile(
    inventory,
    `storage_providers:\n  - { id: 1, type: s3, name: offsite, ${accessOf(s3)} }\n`,
  );
  const secrets = { S3_ACCESS: s3.options.accessKey, S3_SECRET: s3.options.secretKey };
  const known = await verify(["s3://copies"], { ...secrets, QUARTERDECK_INVENTORY: inventory });
  expect(known.stderr).toBe("");
  expect(known.code).toBe(0);
  const other = await verify(["s3://others"], { QUARTERDECK_INVENTORY: inventory });
  expect(other.stderr).toMatch(
    /inventory\.yaml has no storage provider for it\. Set AWS_ACCESS_KEY_ID/,
  );
  const nowhere = await verify(["s3://copies"]);
  expect(nowhere.stderr).toMatch(/No access to bucket copies: .*inventory\.yaml/);
  expect([other.code, nowhere.code]).toEqual([1, 1]);
});

test("refuses unknown arguments", async () => {
  const { code, stderr } = await verifyByProgram(copies, "--quick");
  expect(stderr).toMatch(/^verify has no option --quick; see .+ verify --help\.\n$/);
  expect(code).toBe(2);
  expect((await verify(["ftp://copies"])).stderr).toContain("neither a folder nor s3://");
});

test("neither hangs nor fails on special files, and prints no escape sequence", async () => {
  const folder = await mkdtemp(join(root, "odd-"));
  const manifest = (name: string) =>
    JSON.stringify({
      format: "quarterdeck-backup",
      version: 1,
      name,
      size: 0,
      sha256: "0".repeat(64),
    });
  const names = ["folder", "link", "pipe"].map((name) => `${name}.tar.zst`);
  for (const name of names) await writeFile(join(folder, `${name}.json`), manifest(name));
  await mkdir(join(folder, "folder.tar.zst"));
  await symlink("/dev/zero", join(folder, "link.tar.zst"));
  execFileSync("mkfifo", [join(folder, "pipe.tar.zst")]);
  await writeFile(join(folder, "a\u001b[2J\nsound.tar.zst"), "");
  await writeFile(
    join(folder, "lie.tar.zst.json"),
    manifest("x\u001b[2J\n1 stored file, all sound"),
  );
  await writeFile(join(folder, "deep.tar.zst.json"), "[".repeat(1_000_000));
  const { code, stdout, stderr } = await verify([folder]);
  for (const name of names) expect(stdout).toContain(`missing: ${name}\n`);
  expect(stdout).toContain("unreadable manifest: deep.tar.zst\n");
  expect(stdout).not.toContain("\u001b");
  expect(stdout).not.toMatch(/^sound|^1 stored/m);
  expect(stderr).toContain("5 of 5 stored files in");
  expect(code).toBe(1);
});
