// For tests of commands on servers: starts a server, and checks which commands still run on it.
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

/** Returns a number that probably no other command line on this machine contains. */
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
