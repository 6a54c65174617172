// Finds storage providers of the inventory that share files.
import { normalize } from "node:path/posix";
import { expandHome } from "./paths.ts";
import type { StorageProviderEntry } from "./rows.ts";

/** Returns a string that is a prefix of another provider's if that one lies inside this one. @param here ids of the servers that are this machine */
export function placeOf(entry: StorageProviderEntry, here: ReadonlySet<number>): string {
  if (entry.type === "s3") {
    const endpoint = entry.endpoint === undefined ? "" : new URL(entry.endpoint).href;
    return `s3 ${endpoint.replace(/\/+$/, "")} ${entry.bucket}/`;
  }
  if (entry.type === "rclone") {
    const remote = entry.remote.replace(/\/+$/, "");
    // A file in `box:` is `box:a`, not `box:/a`.
    return `rclone ${entry.config ?? ""} ${remote.endsWith(":") ? remote : `${remote}/`}`;
  }
  if (entry.type === "sftp") {
    const { host, port = 22, user } = entry.ssh;
    const path = normalize(`${entry.path}/`);
    // A file in `.` is `a`, not `./a`.
    return `sftp ${user}@${host}:${port} ${path === "./" ? "" : path}`;
  }
  return `${entry.server === undefined || here.has(entry.server) ? "here" : entry.server} ${normalize(`${expandHome(entry.path)}/`)}`;
}
