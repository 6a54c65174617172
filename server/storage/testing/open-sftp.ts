// A storage of a login over SFTP, by this machine's ssh.
import { createLocalHost } from "../../hosts/local.ts";
import type { SshTarget } from "../../ssh/target.ts";
import { createSftpStorage } from "../sftp.ts";
import type { ListedStorage } from "../storage.ts";

const environment = { PATH: process.env["PATH"] ?? "", HOME: "/nowhere" };

export const openSftp = (target: SshTarget, path: string, more = {}): ListedStorage =>
  createSftpStorage({ host: createLocalHost(environment), environment, target, path, ...more });
