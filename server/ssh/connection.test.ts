import { spawn } from "node:child_process";
import { once } from "node:events";
import { chmod, readFile, rm } from "node:fs/promises";
import { createServer } from "node:net";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { expect, onTestFinished, test } from "vitest";
import { makeMemoryFolder } from "../testing/memory-folder.ts";
import { isAlive, sendSignal } from "../testing/signals.ts";
import { HostKeyUnconfirmed } from "./host-keys.ts";
import { openRemoteHost } from "./remote-host.ts";
import { ServerAway } from "./server-away.ts";
import { connectTo } from "./testing/connect.ts";
import { createSharedSshd, startSshd } from "./testing/sshd.ts";
import { soon } from "../testing/soon.ts";

const shared = createSharedSshd();

const caught = async (promise: Promise<unknown>): Promise<unknown> =>
  promise.then(
    () => null,
    (error: unknown) => error,
  );

const otherKey = `SHA256:${"A".repeat(43)}`;

test("reports the account and the latency of the server", async () => {
  const sshd = await shared();
  const connection = await connectTo(sshd);
  expect(await connection.identify()).toMatchObject({ name: sshd.user, system: "Linux" });
  expect(await connection.ping()).toBeLessThan(5000);
});

test("a quick command needs no session, and a slow one blocks no other command or ping", async () => {
  const sshd = await startSshd({ config: "MaxSessions 1" });
  const connection = await connectTo(sshd);
  const odd = "a  'b' \"c\" $(d) \\ é";
  expect(await connection.firstLine(["printf", "%s", odd], 5000)).toBe(odd);
  expect(await connection.firstLine(["nosuchprogram"], 5000)).toBe("");
  const late = caught(connection.firstLine(["sleep", "100000"], 500));
  expect(await connection.firstLine(["echo", "soon"], 5000)).toBe("soon");
  expect(await connection.ping()).toBeLessThan(5000);
  expect(await late).toMatchObject({ message: "sleep took longer than 0.5 s." });
  expect(await caught(connection.firstLine(["echo", "\n"], 5000))).toBeInstanceOf(Error);
  // The command has ended, and so have the shells that ran it.
  const zombies = 'ps -o stat= --ppid "$(ps -o pgid= -p $$ | tr -d " ")" | grep -c Z';
  await expect.poll(() => connection.firstLine(["sh", "-c", zombies], 5000)).toBe("0");
});

test("a slow quick command ends with the connection", async () => {
  const connection = await connectTo(await shared());
  const folder = await makeMemoryFolder("quarterdeck-quick-");
  onTestFinished(() => rm(folder, { recursive: true }));
  // The login account may differ from the test's account.
  await chmod(folder, 0o777);
  const script = `echo $$ >${folder}/pid; exec sleep 100000`;
  const late = caught(connection.firstLine(["sh", "-c", script], 500));
  const pid = await soon(async () => {
    const [line = ""] = (await readFile(join(folder, "pid"), "utf8")).split("\n");
    expect(line).not.toBe("");
    return Number(line);
  });
  await late;
  expect(isAlive(pid)).toBe(true);
  await connection.close();
  await expect.poll(() => isAlive(pid), { timeout: 60_000 }).toBe(false);
});

test("a server without a pinned key runs nothing, and the offered key is reported", async () => {
  const sshd = await shared();
  const error = await caught((await connectTo(sshd, { hostKey: null })).identify());
  if (!(error instanceof HostKeyUnconfirmed)) throw error;
  expect(error.isChanged).toBe(false);
  expect(error.offered.map(({ fingerprint }) => fingerprint)).toEqual([sshd.fingerprint]);
  expect(error.message).toContain(sshd.fingerprint);
});

test("reports keys of all types, any of which can be pinned, whichever others the server has", async () => {
  const sshd = await startSshd({ hostKeys: ["ed25519", "ecdsa", "rsa"] });
  const error = await caught((await connectTo(sshd, { hostKey: null })).identify());
  if (!(error instanceof HostKeyUnconfirmed)) throw error;
  const [ed25519, ecdsa, rsa] = sshd.fingerprints;
  expect(error.offered).toMatchObject([
    { type: "ssh-ed25519", fingerprint: ed25519 },
    { type: "ecdsa-sha2-nistp256", fingerprint: ecdsa },
    { type: "ssh-rsa", fingerprint: rsa },
  ]);
  for (const hostKey of sshd.fingerprints) {
    const connection = await connectTo(sshd, { hostKey });
    expect(await connection.identify()).toMatchObject({ name: sshd.user });
    await connection.close();
  }
});

test.each(["ecdsa", "rsa"] as const)(
  "uses a server whose only key is %s with that",
  async (kind) => {
    const sshd = await startSshd({ hostKeys: [kind] });
    expect(await (await connectTo(sshd)).identify()).toMatchObject({ name: sshd.user });
    const error = await caught((await connectTo(sshd, { hostKey: otherKey })).identify());
    expect(error).toMatchObject({ isChanged: true, offered: [{ fingerprint: sshd.fingerprint }] });
  },
);

test("refuses a key that is not the pinned one, and runs nothing", async () => {
  const sshd = await shared();
  const error = await caught((await connectTo(sshd, { hostKey: otherKey })).identify());
  if (!(error instanceof HostKeyUnconfirmed)) throw error;
  expect(error.isChanged).toBe(true);
  expect(error.message).toContain("has changed");
});

test("a key that changes while the service runs stops everything until it is the pinned one again", async () => {
  const sshd = await startSshd();
  const connection = await connectTo(sshd);
  const host = await openRemoteHost(connection);
  await host.run({ argv: ["true"] });
  await sshd.rekey();
  // The old connection is gone, and with it the key that it trusted.
  await soon(async () => {
    connection.retryNow();
    expect(await caught(host.run({ argv: ["true"] }))).toBeInstanceOf(HostKeyUnconfirmed);
  });
});

test("reports an account that does not accept the key, with what to do", async () => {
  const sshd = await shared();
  const other = await startSshd();
  const error = await caught((await connectTo(sshd, { keyFile: other.keyFile })).identify());
  expect(error).toMatchObject({ name: "ServerAway", kind: "refused" });
  expect(String(error)).toContain("authorized_keys");
  const none = await caught((await connectTo(sshd, { keyFile: "/no/such/key" })).identify());
  expect(String(none)).toContain("/no/such/key");
});

test.each([
  ["and says nothing", "exit 7", "."],
  ["and says why", "echo This account is closed.; exit 1", ": This account is closed."],
])("reports a login whose shell runs no command %s", async (_, command, said) => {
  const sshd = await startSshd({ config: `ForceCommand ${command}` });
  const error = await caught((await connectTo(sshd)).identify());
  expect(error).toMatchObject({
    name: "ServerAway",
    message: `127.0.0.1:${sshd.port} accepted the login of ${sshd.user}, and ran no command for it${said} Check the shell of that account and the files that it reads at its start.`,
  });
});

test("reports a stopped server at once, and uses it again when it is back, at once for a waiting caller", async () => {
  const sshd = await startSshd();
  const connection = await connectTo(sshd);
  const host = await openRemoteHost(connection);
  await sshd.stop();
  await soon(async () =>
    expect(await caught(host.run({ argv: ["true"] }))).toMatchObject({ kind: "network" }),
  );
  await sshd.start();
  expect(await connection.identify({ isPatient: true })).toMatchObject({ name: sshd.user });
  expect(await host.run({ argv: ["true"] })).toMatchObject({ exitCode: 0 });
});

test("detects a hanging server, and replaces its connection", async () => {
  const sshd = await startSshd();
  const connection = await connectTo(sshd, {}, 1500);
  const host = await openRemoteHost(connection);
  const goOn = await sshd.hang();
  onTestFinished(goOn);
  const error = await caught(host.run({ argv: ["true"] }));
  expect(error).toMatchObject({ kind: "silent" });
  expect(await caught(connection.ping())).toBeInstanceOf(ServerAway);
  await goOn();
  await soon(async () => {
    connection.retryNow();
    expect(await host.run({ argv: ["true"] })).toMatchObject({ exitCode: 0 });
  });
});

test("gives up a port that sends nothing in time", async () => {
  const sshd = await shared();
  const silent = createServer().listen(0, "127.0.0.1");
  onTestFinished(() => void silent.close());
  await once(silent, "listening");
  const address = silent.address();
  const port = typeof address === "object" && address !== null ? address.port : 0;
  const connection = await connectTo(sshd, { port });
  const startMs = performance.now();
  expect(await caught(connection.identify())).toMatchObject({ kind: "network" });
  expect(performance.now() - startMs).toBeLessThan(25_000);
});

test("uses a jump host, whose key is pinned as well", async () => {
  const jump = await shared();
  const sshd = await startSshd();
  const { port, user, keyFile, fingerprint } = jump;
  const hop = { host: "127.0.0.1", port, user, keyFile, hostKey: fingerprint };
  const host = await openRemoteHost(await connectTo(sshd, { jump: hop }));
  expect((await host.run({ argv: ["id", "-un"] })).stdout).toBe(`${sshd.user}\n`);
  const wrong = await connectTo(sshd, { jump: { ...hop, hostKey: otherKey } });
  expect(await caught(wrong.identify())).toMatchObject({ hop: "jump", isChanged: true });
});

test("forwards a socket on the server to a file here", async () => {
  const sshd = await shared();
  const connection = await connectTo(sshd);
  const host = await openRemoteHost(connection);
  const path = `${sshd.folder}/service.sock`;
  const server = createServer((socket) => socket.end("hello")).listen({ path, writableAll: true });
  onTestFinished(() => void server.close());
  await once(server, "listening");
  const forward = await connection.forward(path);
  const { stdout } = await host.run({ argv: ["true"] }).then(async () => {
    const child = spawn(process.execPath, [
      "-e",
      `require("net").connect(process.argv[1]).pipe(process.stdout)`,
      forward.path,
    ]);
    let stdout = "";
    child.stdout.on("data", (text: Buffer) => (stdout += text.toString()));
    await once(child, "close");
    return { stdout };
  });
  expect(stdout).toBe("hello");
  await forward.close();
});

test("reports a socket requested on a closing connection as lost", async () => {
  const sshd = await shared();
  const connection = await connectTo(sshd);
  await connection.ping();
  const [client] = await sshd.findRunning(`-p ${sshd.port}`);
  sendSignal(client, "SIGSTOP");
  const asked = caught(connection.forward(`${sshd.folder}/service.sock`));
  await soon(async () =>
    expect(await sshd.findRunning(`${sshd.folder}/service.sock`)).not.toEqual([]),
  );
  sendSignal(client, "SIGKILL");
  expect(await asked).toMatchObject({ kind: "lost", message: expect.stringContaining("was lost") });
});

test("reports a socket requested on a closed connection as lost", async () => {
  const sshd = await shared();
  const connection = await connectTo(sshd);
  await connection.ping();
  const [client] = await sshd.findRunning(`-p ${sshd.port}`);
  sendSignal(client, "SIGKILL");
  // The client has not noticed yet that the master exited.
  expect(await caught(connection.forward(`${sshd.folder}/service.sock`))).toMatchObject({
    kind: "lost",
    message: expect.stringContaining("was lost"),
  });
});

test("reports a server as lost whose connection closes before its forwarded socket is used", async () => {
  const sshd = await shared();
  const connection = await connectTo(sshd);
  const host = await openRemoteHost({
    ...connection,
    async forward(to) {
      const forward = await connection.forward(to);
      const [client] = await sshd.findRunning(`-p ${sshd.port}`);
      sendSignal(client, "SIGKILL");
      await soon(() => expect(forward.lost.aborted).toBe(true));
      // As in the moment before the service notices.
      return { ...forward, lost: new AbortController().signal };
    },
  });
  expect(await caught(host.connect({ host: "127.0.0.1", port: 9 }))).toMatchObject({
    kind: "lost",
    message: `The connection to ${connection.place} was lost.`,
  });
});

test("a killed service leaves nothing running, here or on the server", async () => {
  const sshd = await shared();
  const seconds = String(10_000_000 + Math.floor(Math.random() * 80_000_000));
  const script = fileURLToPath(new URL("testing/run-and-wait.ts", import.meta.url));
  const child = spawn(process.execPath, [script, JSON.stringify(sshd.target()), seconds], {
    stdio: ["ignore", "inherit", "inherit"],
  });
  const running = () => sshd.findRunning(seconds);
  const clients = () => sshd.findRunning(`-p ${sshd.port}`);
  await soon(async () => expect((await running()).length).toBeGreaterThan(2), 30_000);
  sendSignal(child.pid, "SIGKILL");
  await soon(async () => {
    expect(await running()).toEqual([]);
    expect(await clients()).toEqual([]);
  });
});
