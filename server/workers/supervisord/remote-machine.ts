// Gives the process manager of a supervisord access to its server over SSH, as the account that logs in.
import type { Connection } from "../../ssh/connection.ts";
import { openRemoteHost } from "../../ssh/remote-host.ts";
import { ServerAway } from "../../ssh/server-away.ts";
import type { Machine } from "./machine.ts";

type Way = { connection: Connection; path: string; forward: ReturnType<Connection["forward"]> };

const limitMs = 10_000;

const connect = [
  "import socket, sys",
  "s = socket.socket(socket.AF_UNIX)",
  "s.settimeout(2)",
  "try: s.connect(sys.argv[1])",
  'except ConnectionRefusedError: print("ECONNREFUSED")',
].join("\n");

/** Shell script that prints why a socket cannot be connected to, which sshd does not report. */
const look = [
  '[ -x "$(dirname -- "$1")" ] || { echo EACCES; exit; }',
  '[ -S "$1" ] || { echo ENOENT; exit; }',
  '[ -w "$1" ] || { echo EACCES; exit; }',
  // A server with supervisord has Python, because supervisord needs it.
  `python3 -c '${connect}' "$1" 2>/dev/null`,
  "exit 0",
].join("\n");

/** @param find returns the server from the inventory; without it there, the methods throw `ServerAway` */
export function createRemoteMachine(find: () => { connection: Connection } | null): Machine {
  let way: Way | null = null;

  function connection(): Connection {
    const found = find();
    if (found === null) throw new ServerAway("setup", "The server is no longer one over SSH.");
    return found.connection;
  }

  const run: Machine["run"] = async (command) =>
    (await openRemoteHost(connection(), { signal: command.signal })).run(command);

  function forward(path: string): Way["forward"] {
    const current = connection();
    if (way?.connection === current && way.path === path) return way.forward;
    const made = { connection: current, path, forward: current.forward(path) };
    const forget = () => {
      if (way === made) way = null;
    };
    way = made;
    const watch = async () => {
      const { lost } = await made.forward;
      lost.addEventListener("abort", forget, { once: true });
      if (lost.aborted) forget();
    };
    watch().catch(forget);
    return made.forward;
  }

  return {
    run,
    openSocket: async (path) => (await forward(path)).path,
    async whyClosed(path) {
      const { stdout } = await run({
        argv: ["sh", "-c", look, "sh", path],
        signal: AbortSignal.timeout(limitMs),
      });
      return stdout.trim() || null;
    },
    firstLine: async (argv, ms) => connection().firstLine(argv, ms),
    environment: {},
  };
}
