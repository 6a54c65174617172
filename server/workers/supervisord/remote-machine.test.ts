// Messages for operators about a supervisord that cannot be reached over SSH.
import { chmod } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { connectTo } from "../../ssh/testing/connect.ts";
import { startSshd } from "../../ssh/testing/sshd.ts";
import { connectSeconds } from "../../ssh/target.ts";
import { isRoot } from "../../testing/machine.ts";
import { isAlive, sendSignal } from "../../testing/signals.ts";
import { soon } from "../../testing/soon.ts";
import { createContact } from "./contact.ts";
import { createRemoteMachine } from "./remote-machine.ts";
import { makeManager } from "./testing/manager.ts";
import { startSupervisord, type TestSupervisord } from "./testing/supervisord.ts";

let supervisord: TestSupervisord;
beforeAll(async () => {
  supervisord = await startSupervisord();
});
afterAll(() => supervisord?.close());

/** Returns the message for the account that logs in; null if supervisord responds. @param sshdConfig lines of sshd_config */
async function ask(sshdConfig = ""): Promise<string | null> {
  const connection = await connectTo(await startSshd({ config: sshdConfig }));
  const machine = createRemoteMachine(() => ({ connection }));
  const contact = createContact({
    machine,
    config: supervisord.config,
    names: { prefix: "quarterdeck-test" },
    nowMs: Date.now,
  });
  try {
    const { rpc } = await contact.connect();
    await rpc("getState");
    return null;
  } catch (error) {
    contact.failed(error);
    return contact.away()?.reason ?? null;
  }
}

test.runIf(isRoot)(
  "reports an account without access to the socket, with what grants it",
  async () => {
    await chmod(supervisord.folder, 0o755);
    const noRight = `No permission to use supervisord's socket ${supervisord.socket}. Give the account access with chmod and chown in the [unix_http_server] section of its configuration (“chmod=0770” and “chown=root:GROUP”), then: systemctl restart supervisor`;
    expect(await ask()).toBe(noRight);
    await chmod(supervisord.socket, 0o777);
    expect(await ask()).toBeNull();
    // Closes a folder on the path, too.
    await chmod(supervisord.folder, 0o744);
    expect(await ask()).toBe(
      `Couldn't read ${supervisord.config}: the folder ${supervisord.folder} is closed to the account.`,
    );
  },
);

test("reports an sshd that forwards no sockets", async () => {
  await chmod(supervisord.folder, 0o755);
  await chmod(supervisord.socket, 0o777);
  expect(await ask("AllowStreamLocalForwarding no")).toContain("AllowStreamLocalForwarding");
});

test("a hanging server blocks no request, no start and no stop of the service", async (context) => {
  const sshd = await startSshd();
  const connection = await connectTo(sshd);
  const machine = createRemoteMachine(() => ({ connection }));
  const manager = makeManager(context, supervisord, { machine });
  const goOn = await sshd.hang();
  const startMs = performance.now();
  expect(await manager.refusal(1)).toBeNull();
  await manager.resume([]);
  await manager.stopAll();
  // The time after which `ssh` gives up a server.
  expect(performance.now() - startMs).toBeLessThan(connectSeconds * 1000);
  await goOn();
  const missing = makeManager(context, { config: "/nowhere/supervisord.conf" }, { machine });
  await expect
    .poll(() => missing.refusal(1), { timeout: 60_000 })
    .toContain("/nowhere/supervisord.conf is not on this server");
});

test("reports a socket that a killed supervisord left", async () => {
  await chmod(supervisord.folder, 0o755);
  await chmod(supervisord.socket, 0o777);
  sendSignal(supervisord.pid(), "SIGKILL");
  await soon(() => expect(isAlive(supervisord.pid())).toBe(false));
  expect(await ask()).toBe(
    `supervisord is not running: nothing listens on ${supervisord.socket}. Start it on the server: systemctl start supervisor`,
  );
  await supervisord.start();
});

test("reports a missing socket with the command that starts supervisord", async () => {
  await chmod(supervisord.folder, 0o755);
  await supervisord.stop();
  expect(await ask()).toBe(
    `supervisord is not running: its socket ${join(supervisord.folder, "socket")} is not there. Start it on the server: systemctl start supervisor`,
  );
});
