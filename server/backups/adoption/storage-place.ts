// Tells which storage providers of the inventory share files.
import { normalize } from "node:path/posix";
import { expandHome } from "../../inventory/paths.ts";
import type { StorageProviderEntry } from "../../inventory/store.ts";

/** That of one provider begins with that of another where it lies inside of it. @param here ids of the servers that are this machine */
export function placeOf(entry: StorageProviderEntry, here: ReadonlySet<number>): string {
  if (entry.type === "s3") {
    const endpoint = entry.endpoint === undefined ? "" : new URL(entry.endpoint).href;
    return `s3 ${endpoint.replace(/\/+$/, "")} ${entry.bucket}/`;
  }
  if (entry.type === "rclone") {
    const remote = entry.remote.replace(/\/+$/, "");
    // What is in `box:` is `box:a`, not `box:/a`.
    return `rclone ${entry.config ?? ""} ${remote.endsWith(":") ? remote : `${remote}/`}`;
  }
  if (entry.type === "sftp") {
    const { host, port = 22, user } = entry.ssh;
    const path = normalize(`${entry.path}/`);
    // What is in `.` is `a`, not `./a`.
    return `sftp ${user}@${host}:${port} ${path === "./" ? "" : path}`;
  }
  return `${entry.server === undefined || here.has(entry.server) ? "here" : entry.server} ${normalize(`${expandHome(entry.path)}/`)}`;
}
