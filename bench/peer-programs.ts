// The programs of Debian that this service is compared with, by the shell commands of their documentation.
import { rm } from "node:fs/promises";
import { shellMs } from "./shell-ms.ts";

/** A source of backups. */
export type Subject = {
  title: string;
  type: "database" | "site";
  /** Changes 1 % of it. */
  change(round: number): Promise<unknown>;
  /** Removes it before a restore. */
  empty(): Promise<unknown>;
  /**
   * What a peer reads: a path, or the output of a shell command on its standard input, with a command that loads what it
   * restores.
   */
  source: { path: string } | { dump: string; load: string };
};

export type Tool = {
  name: string;
  /** Where it stores backups. */
  folder: string;
  /** Starts again with an empty repository. */
  renew(subject: Subject): Promise<unknown>;
  /** Both return their duration in milliseconds. */
  back(subject: Subject): Promise<number>;
  restore(subject: Subject): Promise<number>;
};

/** A program of Debian, with the shell commands from its documentation. */
type Peer = {
  name: string;
  initialize: string;
  back: (subject: Subject) => string;
  restore: (subject: Subject) => string;
};

export const restic = (repository: string): Peer => ({
  name: "restic",
  initialize: "restic init -q --repository-version 2",
  back: ({ source }) =>
    "path" in source
      ? `restic backup -q ${source.path}`
      : `${source.dump} | restic backup -q --stdin --stdin-filename shop.dump`,
  restore: ({ source }) =>
    "path" in source
      ? `restic restore -q latest --target / && sync -f ${repository}`
      : `restic dump -q latest shop.dump | ${source.load}`,
});

export const borg = (repository: string): Peer => ({
  name: "borg",
  initialize: `borg init --encryption none ${repository}`,
  back: ({ source }) =>
    "path" in source
      ? `borg create --compression zstd,3 ${repository}::{now:%s.%f} ${source.path}`
      : `${source.dump} | borg create --compression zstd,3 --stdin-name shop.dump ${repository}::{now:%s.%f} -`,
  restore: ({ source }) => {
    const newest = `$(borg list --last 1 --short ${repository})`;
    return "path" in source
      ? `cd / && borg extract ${repository}::${newest} && sync -f ${repository}`
      : `borg extract --stdout ${repository}::${newest} | ${source.load}`;
  },
});

export const borgmatic = (repository: string, folder: string): Peer => {
  const command = (type: Subject["type"], rest: string) =>
    `borgmatic --config ${folder}/borgmatic-${type}.yaml -v -1 ${rest}`;
  return {
    name: "borgmatic",
    initialize: `borg init --encryption none ${repository}`,
    back: ({ type }) => command(type, "create"),
    restore: ({ type }) =>
      type === "site"
        ? `${command(type, "extract --archive latest --destination /")} && sync -f ${repository}`
        : command(type, "restore --archive latest"),
  };
};

export const borgmaticConfiguration = (repository: string, source: string) => `
location:
  source_directories: [${source}]
  repositories: [${repository}]
storage: { compression: "zstd,3" }
`;

export const toolOf = (
  { name, initialize, back, restore: restoring }: Peer,
  folder: string,
): Tool => ({
  name,
  folder,
  async renew() {
    await rm(folder, { recursive: true, force: true });
    await shellMs(initialize, {});
  },
  back: (subject) => shellMs(back(subject), {}),
  restore: (subject) => shellMs(restoring(subject), {}),
});
