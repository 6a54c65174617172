// One storage of each kind, for tests of what all kinds guarantee.
import { mkdir, mkdtemp, readdir, realpath, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { onTestFinished } from "vitest";
import { createRemoteServer } from "../../ssh/testing/remote-server.ts";
import type { SshTarget } from "../../ssh/target.ts";
import { createLocalStorage } from "../local.ts";
import { createRemoteStorage } from "../remote.ts";
import { createS3Storage } from "../s3.ts";
import type { ListedStorage, Storage } from "../storage.ts";
import { startS3 } from "./s3.ts";
import { openRclone, rcloneBucketOf, rcloneWith } from "./open-rclone.ts";
import { openSftp } from "./open-sftp.ts";
import { serveByRclone, type Served } from "./rclone-server.ts";

type Options = { isMarked?: boolean };

/** Call at the top of a test file. */
export function createEveryStorage() {
  const remote = createRemoteServer({ config: "Subsystem sftp internal-sftp" });
  const targetOf = async (): Promise<SshTarget> =>
    (await remote.sshd()).target({ user: (await remote.host()).account.name });
  return {
    remote,
    /** Storages in a folder whose files a test can inspect in `root`. */
    sftp: {
      "folder over SFTP": {
        open: async (root: string): Promise<ListedStorage> => openSftp(await targetOf(), root),
        argument: async () => JSON.stringify({ sftp: await targetOf() }),
      },
    },
    folders: {
      "folder here": {
        open: async (root: string, { isMarked = false }: Options = {}): Promise<Storage> =>
          createLocalStorage({ path: root, isMarked }),
        /** Argument from which a separate process opens it. */
        argument: async () => JSON.stringify("here"),
      },
      "folder over SSH": {
        open: async (root: string, options?: Options): Promise<Storage> =>
          createRemoteStorage({ host: await remote.host(), server: "far", root }, options),
        argument: async () => JSON.stringify({ ssh: await targetOf() }),
      },
    },
    openRclone,
    /** A folder by rclone. It has no marker, and links are handled by rclone. */
    rclone: {
      "folder by rclone": { open: openRclone, argument: async () => JSON.stringify("rclone") },
    },
    /** Opens what another rclone serves from a folder, as a service of that kind. */
    async openServed(kind: Served): Promise<{ storage: ListedStorage; root: string }> {
      const root = await makeRoot();
      const server = await serveByRclone(kind, root);
      onTestFinished(() => server.close());
      return { storage: rcloneWith(server.config, "served:"), root };
    },
    /** Opens an S3 bucket through rclone's S3 client. */
    async openRcloneBucket(): Promise<{ storage: ListedStorage; root: string }> {
      const root = await makeRoot();
      const gate = await startS3(root);
      onTestFinished(() => gate.close());
      return {
        storage: rcloneWith(rcloneBucketOf(gate.options), "bucket:copies/quarterdeck"),
        root,
      };
    },
    async openBucket(): Promise<{ storage: ListedStorage; root: string }> {
      const root = await makeRoot();
      const gate = await startS3(root);
      onTestFinished(() => gate.close());
      return { storage: createS3Storage(gate.options), root };
    },
  };
}

export async function makeRoot(): Promise<string> {
  const root = await realpath(await mkdtemp(join(tmpdir(), "quarterdeck-storage-")));
  onTestFinished(() => rm(root, { recursive: true, force: true }));
  const folder = join(root, "it's a “disk” $HOME");
  await mkdir(folder);
  return folder;
}

/** Names of the files that hold an object, or a part of one. */
export const contentsOf = async (root: string): Promise<string[]> =>
  (await readdir(root, { recursive: true, withFileTypes: true }))
    .filter((entry) => entry.isFile() && !/_S3rver_object_metadata|\.md5$/.test(entry.name))
    .map(({ name }) => name);
