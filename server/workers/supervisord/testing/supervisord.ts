// Starts Debian's supervisord, with a folder of program files, for one test file.
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createRpc } from "../rpc.ts";
import type { RpcArgument, RpcValue } from "../xml-rpc.ts";

export type TestSupervisord = {
  folder: string;
  /** Its configuration file. */
  config: string;
  /** Folder of program files. */
  programs: string;
  socket: string;
  call(method: string, ...args: RpcArgument[]): Promise<RpcValue>;
  /** Returns the pid of supervisord. */
  pid(): number;
  start(): Promise<void>;
  /** Stops supervisord with all of its processes, like the service manager of a machine. */
  stop(): Promise<void>;
  close(): Promise<void>;
};

/** Returns a configuration with all paths in `folder`. @param option an additional line of the main section */
export const configIn = (folder: string, option: string): string => `; As Debian's.
[unix_http_server]
file=%(here)s/socket ; (the path to the socket file)
chmod=0700

[supervisord]
${option}
logfile=${folder}/supervisord.log ; (main log file)
pidfile=${folder}/pid
childlogdir=${folder}/log

[rpcinterface:supervisor]
supervisor.rpcinterface_factory = supervisor.rpcinterface:make_main_rpcinterface

[supervisorctl]
serverurl=unix://%(here)s/socket

[include]
files = conf.d/*.conf
`;

/** @param environment environment of supervisord */
export async function startSupervisord(
  environment: Record<string, string> = {},
): Promise<TestSupervisord> {
  const folder = mkdtempSync(join(tmpdir(), "quarterdeck-supervisord-"));
  const path = (name: string) => join(folder, name);
  mkdirSync(path("conf.d"));
  mkdirSync(path("log"));
  writeFileSync(
    path("supervisord.conf"),
    configIn(folder, `nodaemon=true${process.geteuid?.() === 0 ? "\nuser=root" : ""}`),
  );
  const socket = path("socket");
  const call = createRpc({
    openSocket: async () => socket,
    path: socket,
    login: null,
    // Programs may end slowly, and the machine may be busy.
    limitMs: 60_000,
  });
  let daemon: ChildProcess | null = null;

  async function start() {
    const { PATH = "" } = process.env;
    daemon = spawn("supervisord", ["-c", path("supervisord.conf")], {
      stdio: "ignore",
      env: { PATH, LANG: "C.UTF-8", ...environment },
    });
    const deadlineMs = Date.now() + 20_000;
    while (Date.now() < deadlineMs) {
      if (existsSync(socket) && (await call("getState").catch(() => null)) !== null) return;
      await new Promise((resolve) => setTimeout(resolve, 50));
    }
    throw new Error("supervisord did not start");
  }

  async function stop() {
    if (daemon === null || daemon.exitCode !== null || daemon.signalCode !== null) return;
    const ended = once(daemon, "exit");
    daemon.kill("SIGCONT");
    daemon.kill("SIGTERM");
    await ended;
  }

  await start();
  return {
    folder,
    config: path("supervisord.conf"),
    programs: path("conf.d"),
    socket,
    call,
    pid: () => daemon?.pid ?? 0,
    start,
    stop,
    async close() {
      await stop();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}
