// Tests calls to Debian's supervisord.
import { writeFileSync } from "node:fs";
import { Agent } from "node:http";
import { connect, createServer } from "node:net";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { soon } from "../supervisor/testing/supervisor.ts";
import { passing } from "./observed.ts";
import { createRpc } from "./rpc.ts";
import { startSupervisord, type TestSupervisord } from "./testing/supervisord.ts";

async function start() {
  const supervisord = await startSupervisord();
  onTestFinished(() => supervisord.close());
  const agent = new Agent({ keepAlive: true });
  onTestFinished(() => agent.destroy());
  return { supervisord, agent };
}

const callsOf = ({ socket }: Pick<TestSupervisord, "socket">, agent: Agent) =>
  createRpc({
    openSocket: async () => socket,
    path: socket,
    login: null,
    limitMs: 60_000,
    agent,
    passing,
  });

test("calls reuse a connection, and open another one if it was closed meanwhile", async () => {
  const { supervisord, agent } = await start();
  let connections = 0;
  const socket = join(supervisord.folder, "counted");
  const counting = createServer((from) => {
    connections += 1;
    const to = connect(supervisord.socket);
    from.pipe(to).pipe(from);
    for (const one of [from, to]) one.on("error", () => from.destroy());
  });
  await new Promise<void>((resolve) => counting.listen(socket, resolve));
  onTestFinished(() => void counting.close());
  const call = callsOf({ socket }, agent);
  for (let times = 0; times < 5; times += 1)
    expect(await call("getState")).toMatchObject({ statename: "RUNNING" });
  expect(connections).toBe(1);
  await supervisord.stop();
  await supervisord.start();
  expect(await call("getState")).toMatchObject({ statename: "RUNNING" });
  expect(connections).toBe(2);
});

test("a response stays the same value as long as nothing happens, however much time passes", async () => {
  const { supervisord, agent } = await start();
  writeFileSync(
    join(supervisord.programs, "one.conf"),
    "[program:one]\ncommand=sleep 300\nstartsecs=0\n",
  );
  await supervisord.call("reloadConfig");
  await supervisord.call("addProcessGroup", "one");
  const call = callsOf(supervisord, agent);
  const all = () => call("getAllProcessInfo");
  await expect.poll(all, soon).toMatchObject([{ statename: "RUNNING" }]);
  const first = await all();
  const uptime = () => supervisord.call("getProcessInfo", "one");
  await expect.poll(uptime, soon).toMatchObject({ description: expect.stringMatching(/:0[2-9]$/) });
  expect(await all()).toBe(first);
  await supervisord.call("stopProcess", "one", true);
  expect(await all()).toMatchObject([{ statename: "STOPPED" }]);
});
