// Reads from the kernel which processes live, lead a group, or have a worker's mark. See proc(5), credentials(7), kill(2).
import { closeSync, existsSync, openSync, readdirSync, readFileSync, readSync } from "node:fs";
import type { Clock } from "../../clock.ts";
import type { ControlGroups } from "./control-groups.ts";
import { type Look, scanProcesses } from "./process-scan.ts";
import { toError } from "../../to-error.ts";

/** The environment variable by which a worker's process and its descendants are found. */
export const markName = "QUARTERDECK_WORKER";

/** Without /proc processes cannot be found again, so workers stop with the service. */
export const supportsAdoption = existsSync("/proc/self/stat");

export const markOf = (instance: string, worker: number, number: number, nonce: string): string =>
  `${instance}/${worker}/${number}/${nonce}`;

/**
 * The process that a slot started, which leads its own session and process group.
 * A pid alone can be another process tomorrow; with the kernel's start time it cannot.
 */
export type Leader = {
  pid: number;
  /** Clock ticks since boot; null on a system without /proc. */
  startTime: string | null;
};

type ProcessStat = { group: number; session: number; startTime: string };

export type MarkedProcess = ProcessStat & {
  pid: number;
  /** Its user, because any user can set any mark in the environment of their processes. */
  uid: number;
  worker: number;
  number: number;
  /** Unique for each start, shared by a leader and its descendants; empty where only the control group is known. */
  nonce: string;
  /** Whether the process is in the slot's control group, whatever its environment says. */
  isEnclosed: boolean;
};

/** The service has no file descriptors or memory left, which says nothing about a process. */
const shortages = new Set(["EMFILE", "ENFILE", "ENOMEM"]);

/**
 * @returns null for a process that is gone or belongs to another user
 * @throws where nothing can be read now
 */
const read = (path: string): string | null => {
  try {
    return readFileSync(path, "latin1");
  } catch (error) {
    if (shortages.has(toError(error).code ?? "")) throw error;
    return null;
  }
};

/** A process that cannot be read counts as living; otherwise, the slot would start a second one. */
const unlessUnknown = (look: () => boolean): boolean => {
  try {
    return look();
  } catch {
    return true;
  }
};

/** Id of the boot, because a stored start time is valid for one boot only. */
export const bootId = (): string => read("/proc/sys/kernel/random/boot_id")?.trim() ?? "";

/** Returns the fields from `state` on. The name before it may contain spaces and parentheses, so only the last one ends it. */
const fieldsOf = (stat: string): string[] => stat.slice(stat.lastIndexOf(")") + 2).split(" ");

const startTimeIn = (stat: string | null): string | null =>
  stat === null ? null : (fieldsOf(stat)[19] ?? null);

/** Returns the fields of /proc/<pid>/stat from `state` on; null where the process has ended or is a zombie. */
function livingFieldsOf(pid: number): string[] | null {
  const stat = read(`/proc/${pid}/stat`);
  if (stat === null) return null;
  const fields = fieldsOf(stat);
  const [state = "X"] = fields;
  const threads = Number(fields[17]);
  // A process whose first thread has ended shows as a zombie while its other threads work on.
  return "Xx".includes(state) || (state === "Z" && threads <= 1) ? null : fields;
}

/** @returns null for a process that does not live */
function statOf(pid: number): ProcessStat | null {
  const fields = livingFieldsOf(pid);
  if (fields === null) return null;
  const [, , group, session] = fields;
  return { group: Number(group), session: Number(session), startTime: fields[19] ?? "" };
}

const allPids = (): number[] =>
  supportsAdoption
    ? readdirSync("/proc")
        .map(Number)
        .filter((pid) => pid > 1)
    : [];

/** How much of an environment is searched for the mark. That of another program may have megabytes. */
const lookedAtBytes = 256 * 1024;

const looked = Buffer.alloc(lookedAtBytes);

const goneCodes = new Set(["ENOENT", "ESRCH"]);

/** Returns "" for a zombie, a kernel thread, or a process that is executing a new program; null without permission to read it. */
function environmentOf(pid: number): string | null {
  try {
    const file = openSync(`/proc/${pid}/environ`, "r");
    try {
      return looked.toString("latin1", 0, readSync(file, looked, 0, lookedAtBytes, 0));
    } finally {
      closeSync(file);
    }
  } catch (error) {
    const code = toError(error).code ?? "";
    if (shortages.has(code)) throw error;
    return goneCodes.has(code) ? "" : null;
  }
}

function uidOf(pid: number): number | null {
  const uid = /^Uid:\s+(\d+)/m.exec(read(`/proc/${pid}/status`) ?? "")?.[1];
  return uid === undefined ? null : Number(uid);
}

type Mark = Pick<MarkedProcess, "worker" | "number" | "nonce">;

/** Finds the mark of this installation in an environment; null = there is none. */
function markIn(text: string, instance: string): Mark | null {
  const environment = `\0${text}`;
  // A variable begins after the zero byte of the one before.
  const start = `\0${markName}=${instance}/`;
  const at = environment.indexOf(start);
  if (at === -1) return null;
  const end = environment.indexOf("\0", at + 1);
  const mark = environment.slice(at + start.length, end === -1 ? undefined : end);
  const [worker, number, nonce] = mark.split("/");
  if (nonce === undefined || !/^[1-9]\d*$/.test(number ?? "")) return null;
  return { worker: Number(worker), number: Number(number), nonce };
}

/** Bit of the flags in /proc/<pid>/stat, see PF_KTHREAD in the kernel's include/linux/sched.h. */
const kernelThreadFlag = 0x00200000;

/** Classifies a process with an empty environment. */
function lookAtEmpty(pid: number): "other" | "ended" | "changing" {
  const fields = livingFieldsOf(pid);
  if (fields === null) return "ended";
  const isKernelThread = (Number(fields[6]) & kernelThreadFlag) !== 0;
  // During execve(2), a process has no environment until the new program is loaded (`env_end` is 0).
  return !isKernelThread && fields[48] === "0" ? "changing" : "other";
}

/**
 * Lists living processes of this installation's workers, by mark or control group. Reads all of /proc, which takes milliseconds.
 */
export function markedProcesses(instance: string, groups: ControlGroups): MarkedProcess[] {
  const slotOf = groups.lookup();
  return scanProcesses(allPids, (pid): Look<MarkedProcess> => {
    const environment = environmentOf(pid);
    const mark = markIn(environment ?? "", instance);
    const slot = slotOf(pid);
    // The control group is set by the kernel; the environment is under the process's control.
    const isSame = slot === null || (mark?.worker === slot.worker && mark.number === slot.number);
    const known = isSame ? mark : { ...slot, nonce: "" };
    if (known === null) return environment === "" ? lookAtEmpty(pid) : "other";
    const uid = uidOf(pid);
    const stat = statOf(pid);
    if (uid === null || stat === null) return "ended";
    return { found: { ...stat, ...known, pid, uid, isEnclosed: slot !== null } };
  });
}

/**
 * Shares one scan of /proc among simultaneous callers: a thousand slots that stop together cost one. Each scan begins after it
 * was requested.
 */
export function createMarkScanner(instance: string, groups: ControlGroups, clock: Clock) {
  let next: Promise<Map<number, MarkedProcess[]>> | null = null;
  return (): Promise<Map<number, MarkedProcess[]>> =>
    (next ??= new Promise((resolve, reject) => {
      clock.after(scanLagMs, () => {
        next = null;
        try {
          resolve(Map.groupBy(markedProcesses(instance, groups), ({ worker }) => worker));
        } catch (error) {
          reject(error);
        }
      });
    }));
}

const scanLagMs = 10;

/** Identifies a child that was just started and cannot have been reaped, so that the start time is its own. */
export function leaderOf(pid: number): Leader {
  try {
    return { pid, startTime: startTimeIn(read(`/proc/${pid}/stat`)) };
  } catch {
    return { pid, startTime: null };
  }
}

export const isAlive = (leader: Leader): boolean =>
  leader.startTime !== null &&
  unlessUnknown(() => statOf(leader.pid)?.startTime === leader.startTime);

/**
 * Whether the program itself runs, and no longer `env` or `setpriv`, which change the folder and the account before they execute it.
 * A hanging mount delays that.
 */
export function hasBegun({ pid }: Leader): boolean {
  let stat: string | null = null;
  try {
    stat = read(`/proc/${pid}/stat`);
  } catch {
    // Nothing can be read now. It counts as begun, because most programs have.
  }
  return !/^\d+ \((?:env|setpriv)\) /.test(stat ?? "");
}

/** Whether a process of the leader's group lives, including the leader. */
export function hasGroup(leader: Leader): boolean {
  try {
    process.kill(-leader.pid, 0);
  } catch (error) {
    // On Linux, EPERM means that the group exists but may not be signaled; on macOS, that it has only zombies.
    if (!supportsAdoption || toError(error).code !== "EPERM") return false;
  }
  if (!supportsAdoption || isAlive(leader)) return true;
  // Zombies that no process reaps (no init in the container) accept signals, and must not delay a stop.
  // The session, which the leader created as well, distinguishes its group from a later one of the same number.
  return unlessUnknown(() =>
    allPids().some((pid) => {
      const stat = statOf(pid);
      return stat !== null && stat.group === leader.pid && stat.session === leader.pid;
    }),
  );
}

/** @returns null, or why the signal could not be sent; null also where the process has ended */
export function signalProcess(pid: number, signal: NodeJS.Signals): string | null {
  try {
    process.kill(pid, signal);
    return null;
  } catch (error) {
    const { code, message } = toError(error);
    return code === "ESRCH" ? null : message;
  }
}

/** Signals the whole group, after checking that its number still belongs to it. */
export const signalGroup = (leader: Leader, signal: NodeJS.Signals): string | null =>
  hasGroup(leader) ? signalProcess(-leader.pid, signal) : null;

/** Signals the leader alone, if it still lives. */
export const signalLeader = (leader: Leader, signal: NodeJS.Signals): string | null =>
  !supportsAdoption || isAlive(leader) ? signalProcess(leader.pid, signal) : null;
