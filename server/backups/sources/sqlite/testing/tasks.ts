// For the tests with a hostile site's account: runs many operations of the SQLite source in one process of that account.
import { rm, symlink } from "node:fs/promises";
import { PassThrough, Readable } from "node:stream";
import { buffer } from "node:stream/consumers";
import { defineTask } from "../../../../hosts/task.ts";
import { createSqliteSource, type SqliteOptions } from "../source.ts";
import { workWithoutThread } from "../work.ts";

type Siege = {
  options: SqliteOptions;
  tries: number;
  /** Content to restore, in Base64. */
  copy: string;
  /** Text that no backup may contain. */
  secret: string;
  /** Target of links at the names that a restore uses beside the database. */
  link?: string;
};

/** @returns how many backups and restores succeeded, and how many backups contained the secret */
export const besiegeSqlite = defineTask(
  import.meta.url,
  "besiegeSqlite",
  async ({ options, tries, copy, secret, link }: Siege, { signal }) => {
    workWithoutThread();
    const source = createSqliteSource(options);
    const attempt = { id: 7, say: () => undefined, signal };
    const counts = { backups: 0, restores: 0, leaks: 0 };
    for (let number = 0; number < tries; number += 1) {
      if (link !== undefined) {
        const name = `${options.path}.quarterdeck-restore-7${number % 2 === 0 ? "" : "-note"}`;
        await rm(name, { force: true });
        await symlink(link, name);
      }
      const into = new PassThrough();
      const content = buffer(into).catch(() => Buffer.alloc(0));
      if (await isDone(source.dump(into, attempt))) counts.backups += 1;
      if ((await content).includes(secret)) counts.leaks += 1;
      if (await isDone(source.restore(Readable.from([Buffer.from(copy, "base64")]), attempt)))
        counts.restores += 1;
    }
    return counts;
  },
);

const isDone = (work: Promise<unknown>): Promise<boolean> =>
  work.then(
    () => true,
    () => false,
  );
