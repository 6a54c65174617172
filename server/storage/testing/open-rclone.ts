// Opens rclone storages for tests; their config is passed as text.
import { dirname } from "node:path";
import { createLocalHost } from "../../hosts/local.ts";
import { createRcloneStorage } from "../rclone.ts";
import type { S3Options } from "../s3.ts";
import type { ListedStorage } from "../storage.ts";

const host = createLocalHost({ PATH: process.env["PATH"] ?? "", HOME: "/nowhere" });

export const rcloneWith = (text: string, remote: string, more = {}): ListedStorage =>
  createRcloneStorage({ host, config: { text }, remote, ...more });

/** Opens a folder of this machine with rclone's local backend. */
export const openRclone = async (root: string): Promise<ListedStorage> =>
  rcloneWith("[here]\ntype = local\n", `here:${root}`, { spoolFolder: dirname(root) });

export const rcloneBucketOf = ({ endpoint, accessKey, secretKey }: S3Options): string =>
  `[bucket]
type = s3
provider = Other
endpoint = ${endpoint}
access_key_id = ${accessKey}
secret_access_key = ${secretKey}
force_path_style = true
`;
