// Starts Debian's supervisord for `comparison.test.ts`, and drives it over its socket.
import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Program } from "../../processes/process-manager.ts";
import { createRpc } from "../../supervisord/rpc.ts";
import { RpcFault } from "../../supervisord/xml-rpc.ts";

export const hasSupervisord = spawnSync("supervisord", ["--version"]).status === 0;

export type Supervisord = {
  start(name: string): Promise<void>;
  stop(name: string): Promise<void>;
  /** Returns all states that the program entered, in order. */
  history(name: string): string[];
  pid(name: string): Promise<number>;
  close(): Promise<void>;
};

const sectionOf = (name: string, program: Program) => `
[program:${name}]
command=${program.args.join(" ")}
directory=${program.directory ?? program.root}
autostart=false
autorestart=true
startsecs=${program.startsecs}
startretries=${program.startretries}
stopwaitsecs=${program.stopwaitsecs}
stopsignal=${program.stopsignal}
stopasgroup=true
killasgroup=true
redirect_stderr=true
stdout_logfile=${program.directory ?? program.root}/log
`;

/** @param programs by name; their arguments must need no quotes */
export async function startSupervisord(programs: Map<string, Program>): Promise<Supervisord> {
  const folder = mkdtempSync(join(tmpdir(), "quarterdeck-supervisord-"));
  const path = (name: string) => join(folder, name);
  writeFileSync(
    path("supervisord.conf"),
    `[supervisord]
nodaemon=true
${process.geteuid?.() === 0 ? "user=root" : ""}
logfile=${path("log")}
pidfile=${path("pid")}
childlogdir=${folder}
[unix_http_server]
file=${path("socket")}
[rpcinterface:supervisor]
supervisor.rpcinterface_factory=supervisor.rpcinterface:make_main_rpcinterface
[eventlistener:listener]
command=${process.execPath} ${join(import.meta.dirname, "supervisord-listener.ts")} ${path("events")}
events=PROCESS_STATE
buffer_size=10000
${[...programs].map(([name, program]) => sectionOf(name, program)).join("")}`,
  );
  const daemon = spawn("supervisord", ["-c", path("supervisord.conf")], { stdio: "ignore" });
  // `supervisorctl` would start Python, which takes about 200 ms, for each command.
  const call = createRpc({
    openSocket: async () => path("socket"),
    path: path("socket"),
    login: null,
    limitMs: 20_000,
  });

  const deadlineMs = Date.now() + 20_000;
  while (!existsSync(path("events")) && Date.now() < deadlineMs)
    await new Promise((resolve) => setTimeout(resolve, 50));

  // supervisord checks its processes whenever a request wakes it, and sleeps for up to a second otherwise.
  const nudge = setInterval(() => void call("getState").catch(() => {}), 50);

  return {
    async start(name) {
      await call("startProcess", name, false).catch((error: unknown) => {
        // The program was started, and had ended before the response.
        if (!(error instanceof RpcFault) || !error.message.includes("SPAWN_ERROR")) throw error;
      });
    },
    async stop(name) {
      await call("stopProcess", name, false);
    },
    history: (name) =>
      readFileSync(path("events"), "utf8")
        .split("\n")
        .flatMap((line) => (line.startsWith(`${name} `) ? [line.slice(name.length + 1)] : [])),
    async pid(name) {
      const info = await call("getProcessInfo", name);
      return typeof info === "object" && info !== null && "pid" in info ? Number(info.pid) : 0;
    },
    async close() {
      const ended = once(daemon, "exit");
      daemon.kill("SIGTERM");
      await ended;
      clearInterval(nudge);
      rmSync(folder, { recursive: true, force: true });
    },
  };
}
