// Lists and stops programs of a server's supervisord that Quarterdeck did not write.
import * as z from "zod/mini";
import { createRpc, type Rpc } from "./rpc.ts";
import { findWay } from "./installed.ts";
import type { Machine } from "./machine.ts";
import type { RpcValue } from "./xml-rpc.ts";

const info = z.object({
  group: z.string(),
  statename: z.string(),
  now: z.int(),
  stop: z.int(),
});

/** Older versions give fewer fields. */
const config = z.object({
  group: z.string(),
  command: z.optional(z.string()),
  /** Uid of the account; a text where none is configured. */
  uid: z.optional(z.union([z.int(), z.string()])),
});

type ForeignProcess = {
  group: string;
  /** State in supervisord's words. */
  state: string;
  /** Seconds since its last end, by the server's clock. */
  endedFor: number;
};

export type ForeignPrograms = {
  processes: ForeignProcess[];
  /** One entry for each configured process; a field is null where supervisord's version does not give it. */
  configured: { group: string; command: string | null; uid: number | "supervisord's" | null }[];
  /** Uid that supervisord runs as; null = unknown. */
  uid: number | null;
};

/** The server, and the configuration file of supervisord from the inventory. */
type SupervisordPlace = { machine: Machine; config: string | null };

/** Long enough for a supervisord that is stopping programs and responds late. */
const limitMs = 5000;

const list = <Item>(answer: RpcValue, schema: z.ZodMiniType<Item>): Item[] =>
  (Array.isArray(answer) ? answer : []).flatMap((item) => {
    const { data } = schema.safeParse(item);
    return data === undefined ? [] : [data];
  });

async function connect({ machine, config: told }: SupervisordPlace): Promise<Rpc> {
  const { socket, login } = await findWay(machine, told);
  return createRpc({
    openSocket: () => machine.openSocket(socket),
    whyClosed: machine.whyClosed,
    path: socket,
    login,
    limitMs,
  });
}

const look = async (rpc: Rpc): Promise<Omit<ForeignPrograms, "uid">> => ({
  processes: list(await rpc("getAllProcessInfo"), info).map(({ group, statename, now, stop }) => ({
    group,
    state: statename,
    endedFor: now - stop,
  })),
  configured: list(await rpc("getAllConfigInfo"), config).map(({ group, command, uid }) => ({
    group,
    command: command ?? null,
    uid: uid === undefined ? null : typeof uid === "number" ? uid : "supervisord's",
  })),
});

/** @throws the errors of `createRpc` and `findWay` */
export async function lookAtPrograms(place: SupervisordPlace): Promise<ForeignPrograms> {
  const rpc = await connect(place);
  const pid = Number(await rpc("getPID"));
  const { stdout } = await place.machine.run({
    argv: ["stat", "-c", "%u", `/proc/${pid}`],
    signal: AbortSignal.timeout(limitMs),
    isSmall: true,
  });
  return { ...(await look(rpc)), uid: /^\d+\n$/.test(stdout) ? Number(stdout) : null };
}

/** Shell script that exits with 1 where the section does not exist, or only in a comment. */
const hasSection =
  '[ ! -e "$1" ] && exit 1; lines=$(grep -F -- "$2" "$1") || exit; printf "%s\\n" "$lines" | grep -q "^[[:space:]]*\\["';

const toBeStopped = new Set(["STARTING", "RUNNING", "BACKOFF"]);
/** How long after its exit supervisord has started a process again, if it does so at all. */
const exitedSeconds = 5;

/** Whether no process of a program runs, and supervisord will not start one by itself. */
export const areStopped = (processes: readonly ForeignProcess[]): boolean =>
  processes.every(
    ({ state, endedFor }) =>
      state === "STOPPED" || state === "FATAL" || (state === "EXITED" && endedFor >= exitedSeconds),
  );

type ProgramStop = {
  /** Whether a file has the program's section; also true where the file cannot be read. */
  standsIn(file: string): Promise<boolean>;
  /** Empty where supervisord does not have the program. */
  processes: ForeignProcess[];
  /** The program's command; null = unknown. */
  command: string | null;
  /**
   * Stops running processes with the program's own `stopsignal` and `stopwaitsecs`, without waiting for their end. They stay
   * stopped until they are started on the server, or supervisord itself starts.
   */
  stop(): Promise<void>;
};

/** @throws the errors of `createRpc` and `findWay` */
export async function openProgram(place: SupervisordPlace, name: string): Promise<ProgramStop> {
  const rpc = await connect(place);
  const { processes, configured } = await look(rpc);
  const its = processes.filter(({ group }) => group === name);
  return {
    async standsIn(file) {
      const { exitCode } = await place.machine.run({
        argv: ["sh", "-c", hasSection, "sh", file, `[program:${name}]`],
        signal: AbortSignal.timeout(limitMs),
        isSmall: true,
      });
      return exitCode !== 1;
    },
    processes: its,
    command: configured.find(({ group }) => group === name)?.command ?? null,
    async stop() {
      if (its.some(({ state }) => toBeStopped.has(state)))
        await rpc("stopProcessGroup", name, false);
    },
  };
}
