// Tests the same process manager with its supervisord on a server that is reached by OpenSSH.
import { expect, onTestFinished, test } from "vitest";
import { openRemoteHost } from "../../ssh/remote-host.ts";
import { connectTo } from "../../ssh/testing/connect.ts";
import { startSshd } from "../../ssh/testing/sshd.ts";
import { programOf, shell, soon } from "../supervisor/testing/supervisor.ts";
import { readText, writeText } from "./files.ts";
import type { Machine } from "./machine.ts";
import { createNames } from "./program-file.ts";
import { createRemoteMachine } from "./remote-machine.ts";
import { createRpc } from "./rpc.ts";
import { makeManager } from "./testing/manager.ts";
import { configIn } from "./testing/supervisord.ts";

test("a worker on a server keeps running during a cut connection, without a gap in its log", async (context) => {
  const sshd = await startSshd();
  const connection = await connectTo(sshd);
  const host = await openRemoteHost(connection);
  const remote = createRemoteMachine(() => ({ connection }));
  let lines = 0;
  const machine: Machine = {
    ...remote,
    async firstLine(argv, limitMs) {
      const line = await connection.firstLine(argv, limitMs);
      lines += 1;
      return line;
    },
  };
  const folder = `${host.account.home}/supervisord`;
  await host.run({ argv: ["mkdir", "-p", `${folder}/conf.d`, `${folder}/log`] });
  const config = `${folder}/supervisord.conf`;
  await writeText(machine, config, configIn(folder, ""));
  // Processes in the command's group end with the command; supervisord writes its pid once it has left the group.
  const launch = 'supervisord -c "$1" && while [ ! -s "$2" ]; do sleep 0.1; done';
  await host.run({ argv: ["sh", "-c", launch, "sh", config, `${folder}/pid`] });
  const socket = `${folder}/socket`;
  const call = createRpc({
    openSocket: () => machine.openSocket(socket),
    path: socket,
    login: null,
    limitMs: 10_000,
  });
  const state = () => call("getState").catch((error: unknown) => String(error));
  await expect.poll(state, soon).toMatchObject({ statename: "RUNNING" });
  onTestFinished(async () => void (await call("shutdown")));

  const manager = makeManager(context, { config }, { machine });
  await manager.resume([]);
  const counting = "n=0; while :; do n=$((n + 1)); echo line $n; sleep 0.2; done";
  const { account } = host;
  manager.start(programOf(1, { args: shell(counting), root: host.account.home, account }));
  await expect.poll(() => manager.state(1), soon).toBe("RUNNING");
  const pid = manager.processes(1)[0]?.pid;

  const looks = () => manager.asked().filter((argv) => argv.join(" ").includes("sha256sum")).length;
  const before = { lines, looks: looks() };
  await expect.poll(() => lines, soon).toBeGreaterThan(before.lines + 2);
  // Unchanged files need no session.
  expect(looks()).toBe(before.looks);
  const file = `${folder}/conf.d/${createNames(manager.instance).fileOf(1, ".conf")}`;
  const written = await readText(machine, file);
  await writeText(machine, file, `${written}\n; changed`);
  await expect.poll(() => manager.notice(1), soon).toContain("was changed on the server");
  await writeText(machine, file, written ?? "");
  await expect.poll(() => manager.notice(1), soon).toBeNull();

  let text = "";
  let offset = 0;
  const follow = async () => {
    const part = await manager.readLog(1, { offset });
    text += part.text;
    offset = part.end;
    return text.split("\n").length;
  };
  await expect.poll(follow, soon).toBeGreaterThan(3);
  const count = text.split("\n").length;
  await sshd.cut();
  await expect.poll(follow, soon).toBeGreaterThan(count + 10);
  const read = text.trimEnd().split("\n");
  expect(read).toEqual(read.map((_, index) => `line ${index + 1}`));
  await expect.poll(() => manager.away(1), soon).toBeNull();
  expect(manager.processes(1)[0]?.pid).toBe(pid);
  await manager.remove(1);
  const { stdout } = await host.run({
    argv: ["find", folder, "-path", "*/quarterdeck-test*", "-type", "f"],
  });
  expect(stdout).toBe("");
}, 180_000);
