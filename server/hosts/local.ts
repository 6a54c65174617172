// The host of the machine that the service runs on.
import { once } from "node:events";
import { connect } from "node:net";
import { totalmem } from "node:os";
import { PassThrough, Readable } from "node:stream";
import { accountName, ownAccount, type Account } from "./account.ts";
import { findFolderInside } from "./folder-inside.ts";
import type { LocalHost } from "./host.ts";
import { mayHang } from "./mounts.ts";
import { createPerformer } from "./perform-task.ts";
import { createRunner } from "./run.ts";

const bytesPerMb = 1024 * 1024;

/** @param environment of the host's commands, see `createRunner` */
export function createLocalHost(environment: Record<string, string>): LocalHost {
  const own = ownAccount();

  function hostOf(account: Account, isApart = account.uid !== own.uid): LocalHost {
    const isOther = account.uid !== own.uid;
    if (isOther && own.uid !== 0)
      throw new Error(
        `Quarterdeck runs as ${accountName(own)} and cannot run anything as ${accountName(account)}.`,
      );
    const performAs = createPerformer(account, environment);
    const perform: LocalHost["perform"] = (task, args, streams = {}) =>
      isApart
        ? performAs(task, args, streams)
        : task.perform(args, {
            input: streams.input ?? Readable.from([]),
            output: streams.output ?? new PassThrough().resume(),
            say: streams.say ?? (() => undefined),
            signal: streams.signal ?? new AbortController().signal,
          });
    return {
      account,
      isRemote: false,
      isOwn: !isApart,
      as: (other) => hostOf(other),
      apart: () => hostOf(account, true),
      run: createRunner(environment, isOther ? account : null),
      perform,
      folderInside: (root, folder) =>
        (mayHang(root) ? performAs : perform)(findFolderInside, { root, folder }, {}),
      async connect(to) {
        const socket = connect(to);
        await once(socket, "connect");
        return socket;
      },
      memoryMb: Math.floor(totalmem() / bytesPerMb),
    };
  }
  return hostOf(own);
}
