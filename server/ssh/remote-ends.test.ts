// Commands on a server that are aborted or interrupted, and the processes that they started.
import { randomBytes } from "node:crypto";
import { Readable, Writable } from "node:stream";
import { finished } from "node:stream/promises";
import { describe, expect, test } from "vitest";
import { isRoot } from "../testing/machine.ts";
import { ServerAway } from "./server-away.ts";
import {
  caught,
  inPieces,
  expectGone,
  expectRunning,
  openOn,
  openServer,
  uniqueSeconds,
} from "./testing/remote-commands.ts";
import { createSharedSshd } from "./testing/sshd.ts";
import { soon } from "../testing/soon.ts";

/** The server accepts new sessions after a cut. */
const shared = createSharedSshd();

describe("nothing is left running on the server", () => {
  test.each([
    ["that waits", undefined],
    // More than all pipes on the way can hold.
    ["that does not read its input", () => Readable.from(inPieces(randomBytes(20_000_000)))],
  ])("when a command %s is aborted, whatever it started", async (_, input) => {
    const { host, sshd } = await openOn(await shared());
    const seconds = uniqueSeconds();
    const abort = new AbortController();
    const running = host.run({
      argv: ["sh", "-c", `sleep ${seconds} & sleep ${seconds}; true`],
      signal: abort.signal,
      ...(input === undefined ? {} : { input: input() }),
    });
    running.catch(() => undefined);
    await expectRunning(sshd, seconds);
    abort.abort(new Error("enough"));
    await expect(running).rejects.toThrow("enough");
    await expectGone(sshd, seconds);
    expect(await host.run({ argv: ["true"] })).toMatchObject({ exitCode: 0 });
  });

  test.each([
    ["that waits", undefined],
    ["that does not read its input", () => Readable.from(inPieces(randomBytes(20_000_000)))],
  ])("when the connection of a command %s is cut, which is an error", async (_, input) => {
    const { host, sshd } = await openOn(await shared());
    const seconds = uniqueSeconds();
    const running = host.run({
      argv: ["sh", "-c", `sleep ${seconds} & sleep ${seconds}; true`],
      ...(input === undefined ? {} : { input: input() }),
    });
    running.catch(() => undefined);
    await expectRunning(sshd, seconds);
    await sshd.cut();
    expect(await caught(running)).toBeInstanceOf(ServerAway);
    await expectGone(sshd, seconds);
  });

  test("and a truncated output never counts as complete", async () => {
    const { host, sshd } = await openOn(await shared());
    for (let round = 1; round <= 5; round += 1) {
      let bytes = 0;
      const output = new Writable({
        write(piece: Buffer, _encoding, done) {
          bytes += piece.length;
          done();
        },
      });
      const over = caught(finished(output));
      const running = caught(host.run({ argv: ["cat", "/dev/zero"], output }));
      await soon(() => expect(bytes).toBeGreaterThan(round * 1_000_000));
      await sshd.cut();
      expect(await running).toBeInstanceOf(ServerAway);
      expect(await over).not.toBeNull();
    }
  });
});

describe.runIf(isRoot)("as another account", () => {
  test("a command runs if sudo allows it, and ends when it is aborted", async () => {
    const { sshd, host } = await openServer({ sudoers: "deploy ALL=(shop) NOPASSWD: ALL" });
    const shop = host.as({ uid: 64_101, gid: 64_101, name: "shop", home: "/" });
    const who = await shop.run({
      argv: ["sh", "-c", 'id -un; cd; pwd; cat; echo "$WORD"'],
      input: Readable.from(["read\n"]),
      environment: { WORD: "said" },
    });
    expect(who.stdout).toBe(`shop\n${sshd.folder}/shop\nread\nsaid\n`);
    const seconds = uniqueSeconds();
    const abort = new AbortController();
    const running = shop.run({ argv: ["sleep", seconds], signal: abort.signal });
    running.catch(() => undefined);
    await expectRunning(sshd, seconds);
    abort.abort();
    await expect(running).rejects.toThrow("aborted");
    await expectGone(sshd, seconds);
    const other = shop.run({ argv: ["sleep", seconds] });
    other.catch(() => undefined);
    await expectRunning(sshd, seconds);
    await sshd.cut();
    expect(await caught(other)).toBeInstanceOf(ServerAway);
    await expectGone(sshd, seconds);
  });

  test("a missing permission is reported with the line that grants it", async () => {
    const { host } = await openOn(await shared());
    const shop = host.as({ uid: 64_101, gid: 64_101, name: "shop", home: "/" });
    await expect(shop.run({ argv: ["id"] })).rejects.toThrow("deploy ALL=(shop) NOPASSWD: ALL");
  });
});
