// For tests of commands on servers: a server of a test's own, and what still runs on it.
import { expect } from "vitest";
import { openRemoteHost } from "../remote-host.ts";
import { connectTo } from "./connect.ts";
import { startSshd, type TestSshd } from "./sshd.ts";
import { soon } from "../../testing/soon.ts";

export const openServer = async (options?: Parameters<typeof startSshd>[0]) =>
  openOn(await startSshd(options));

export async function openOn(sshd: TestSshd) {
  const connection = await connectTo(sshd);
  return { sshd, connection, host: await openRemoteHost(connection) };
}

/** A number that nothing else on this machine has in its command line. */
export const uniqueSeconds = () => String(10_000_000 + Math.floor(Math.random() * 80_000_000));

export const expectRunning = (sshd: TestSshd, text: string) =>
  soon(async () => expect(await sshd.findRunning(text)).not.toEqual([]), 20_000);
export const expectGone = (sshd: TestSshd, text: string) =>
  soon(async () => expect(await sshd.findRunning(text)).toEqual([]), 20_000);

export const caught = async (promise: Promise<unknown>): Promise<unknown> =>
  promise.then(
    () => null,
    (error: unknown) => error,
  );

export function* inPieces(bytes: Buffer) {
  for (let at = 0; at < bytes.length; at += 65_521) yield bytes.subarray(at, at + 65_521);
}
