// A real S3 service with object lock: the gateway of a Ceph cluster of one monitor and one store in memory.
import { execFile, spawn, type ChildProcess } from "node:child_process";
import { randomUUID } from "node:crypto";
import { once } from "node:events";
import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import {
  CreateBucketCommand,
  type DefaultRetention,
  ListObjectVersionsCommand,
  PutBucketPolicyCommand,
  PutObjectLockConfigurationCommand,
  S3Client,
} from "@aws-sdk/client-s3";
import { vi } from "vitest";
import { freePort } from "../../testing/free-port.ts";
import type { S3Options } from "../s3.ts";

const run = promisify(execFile);

export type Radosgw = {
  options: Omit<S3Options, "bucket">;
  createBucket(name: string, hasLocks?: boolean): Promise<void>;
  /** Sets the bucket's default retention. */
  lockByDefault(bucket: string, retention: DefaultRetention): Promise<void>;
  /** Denies an action of S3, or all that start with the given prefix, in the bucket. */
  deny(bucket: string, action: string): Promise<void>;
  /** Returns keys of all versions in the bucket, including deleted ones. */
  versions(bucket: string): Promise<string[]>;
  close(): Promise<void>;
};

const key = { accessKeyId: "QUARTERDECK", secretAccessKey: "not-a-secret" };

const confOf = (folder: string, ports: { monitor: number; gateway: number }) => `[global]
fsid = ${randomUUID()}
mon host = v2:127.0.0.1:${ports.monitor}
mon initial members = a
public addr = 127.0.0.1
auth cluster required = none
auth service required = none
auth client required = none
osd objectstore = memstore
osd pool default size = 1
osd pool default pg num = 1
osd pool default pg autoscale mode = off
osd crush chooseleaf type = 0
mon allow pool size one = true
mon data avail crit = 1
mon data avail warn = 1
run dir = ${folder}
admin socket = ${folder}/$name.asok
pid file = ${folder}/$name.pid
log file = ${folder}/$name.log
[mon.a]
mon data = ${folder}/mon
[osd.0]
osd data = ${folder}/osd
[client.rgw]
# Its default is a secure connection, which needs authentication.
ms mon client mode = crc
rgw frontends = beast endpoint=127.0.0.1:${ports.gateway}
rgw thread pool size = 16
rgw run sync thread = false
rgw enable lc threads = false
`;

/** Takes ten seconds; needs the packages ceph-mon, ceph-osd and radosgw. */
export async function startRadosgw(): Promise<Radosgw> {
  const folder = await mkdtemp(join(tmpdir(), "quarterdeck-ceph-"));
  const started: ChildProcess[] = [];
  async function close() {
    for (const child of started.toReversed()) {
      child.kill("SIGKILL");
      if (child.exitCode === null && child.signalCode === null) await once(child, "exit");
    }
    await rm(folder, { recursive: true, force: true });
  }
  try {
    return { ...(await startIn(folder, started)), close };
  } catch (error) {
    await close();
    throw error;
  }
}

/** @param started receives the processes */
async function startIn(folder: string, started: ChildProcess[]): Promise<Omit<Radosgw, "close">> {
  const ports = { monitor: await freePort(), gateway: await freePort() };
  await mkdir(join(folder, "mon"));
  await mkdir(join(folder, "osd"));
  const conf = join(folder, "ceph.conf");
  await writeFile(conf, confOf(folder, ports));
  const env = { ...process.env, CEPH_CONF: conf };
  async function start(program: string, ...args: string[]): Promise<void> {
    const child = spawn(program, [...args, "-f"], { env, stdio: "ignore" });
    // Fails where the program is not installed.
    await once(child, "spawn");
    started.push(child);
  }
  const tool = (program: string, ...args: string[]) => run(program, args, { env, timeout: 60_000 });

  const monitors = join(folder, "monitors");
  const address = `[v2:127.0.0.1:${ports.monitor}]`;
  await tool("monmaptool", "--create", "--addv", "a", address, monitors);
  await tool("ceph-mon", "-i", "a", "--mkfs", "--monmap", monitors);
  await start("ceph-mon", "-i", "a");
  const store = randomUUID();
  await tool("ceph-osd", "-i", "0", "--mkfs", "--osd-uuid", store);
  await tool("ceph", "osd", "new", store, "0");
  await start("ceph-osd", "-i", "0");
  await start("radosgw", "-n", "client.rgw");
  const endpoint = `http://127.0.0.1:${ports.gateway}`;
  await vi.waitFor(() => fetch(endpoint), { timeout: 60_000, interval: 200 });
  const { accessKeyId, secretAccessKey } = key;
  const login = [`--access-key=${accessKeyId}`, `--secret-key=${secretAccessKey}`];
  const user = ["user", "create", "--uid=deploy", "--display-name=deploy", ...login];
  await tool("radosgw-admin", "-n", "client.rgw", ...user);
  const client = new S3Client({
    region: "us-east-1",
    endpoint,
    forcePathStyle: true,
    credentials: key,
  });

  return {
    options: {
      region: "us-east-1",
      endpoint,
      accessKey: accessKeyId,
      secretKey: secretAccessKey,
    },
    async createBucket(Bucket, hasLocks = true) {
      await client.send(new CreateBucketCommand({ Bucket, ObjectLockEnabledForBucket: hasLocks }));
    },
    async lockByDefault(Bucket, DefaultRetention) {
      const configuration = { ObjectLockEnabled: "Enabled", Rule: { DefaultRetention } } as const;
      await client.send(
        new PutObjectLockConfigurationCommand({ Bucket, ObjectLockConfiguration: configuration }),
      );
    },
    async deny(Bucket, action) {
      const denied = { Effect: "Deny", Principal: "*", Action: `s3:${action}` };
      const Resource = [`arn:aws:s3:::${Bucket}`, `arn:aws:s3:::${Bucket}/*`];
      const policy = { Version: "2012-10-17", Statement: [{ ...denied, Resource }] };
      await client.send(new PutBucketPolicyCommand({ Bucket, Policy: JSON.stringify(policy) }));
    },
    async versions(Bucket) {
      const { Versions: found = [] } = await client.send(new ListObjectVersionsCommand({ Bucket }));
      return found.flatMap(({ Key }) => Key ?? []);
    },
  };
}
