// Programs of a server's supervisord that Quarterdeck did not write: what supervisord says of them, and their stop.
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

/** Older versions say less. */
const config = z.object({
  group: z.string(),
  command: z.optional(z.string()),
  /** Of the account; a text where none is configured. */
  uid: z.optional(z.union([z.int(), z.string()])),
});

type ForeignProcess = {
  group: string;
  /** supervisord's word for its state. */
  state: string;
  /** Seconds since it ended last, by the server's clock. */
  endedFor: number;
};

export type ForeignPrograms = {
  processes: ForeignProcess[];
  /** One for each process of what supervisord has read of its configuration; null = its version does not say that. */
  configured: { group: string; command: string | null; uid: number | "supervisord's" | null }[];
  /** Of the account that supervisord runs as; null = that could not be found out. */
  uid: number | null;
};

/** Where supervisord is, of the server's entry in the inventory. */
type SupervisordPlace = { machine: Machine; config: string | null };

/** A supervisord that is busy with stops answers late. */
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

/** @throws what `createRpc` throws, or `findWay` */
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

/** Ends with 1 where it is not there, or in a comment only. */
const hasSection =
  '[ ! -e "$1" ] && exit 1; lines=$(grep -F -- "$2" "$1") || exit; printf "%s\\n" "$lines" | grep -q "^[[:space:]]*\\["';

const toBeStopped = new Set(["STARTING", "RUNNING", "BACKOFF"]);
/** One that has just exited is started again by then, if it is to be. */
const exitedSeconds = 5;

/** Whether nothing of a program runs, and nothing of it comes up by itself. */
export const areStopped = (processes: readonly ForeignProcess[]): boolean =>
  processes.every(
    ({ state, endedFor }) =>
      state === "STOPPED" || state === "FATAL" || (state === "EXITED" && endedFor >= exitedSeconds),
  );

type ProgramStop = {
  /** Whether a file has its section, or may have it. */
  standsIn(file: string): Promise<boolean>;
  /** None where supervisord does not have it. */
  processes: ForeignProcess[];
  /** What supervisord runs for it; null = it does not say. */
  command: string | null;
  /**
   * Ends what is up, as its own `stopsignal` and `stopwaitsecs` say, and does not wait for that. It stays down until somebody
   * starts it, or supervisord itself starts.
   */
  stop(): Promise<void>;
};

/** @throws what `createRpc` throws, or `findWay` */
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
