// Carries out one step of a process by calls of supervisord, and interprets the faults.
import { messageOf } from "../../loggable-error.ts";
import { startCause } from "../supervisor/reasons.ts";
import type { Machine } from "./machine.ts";
import type { Rpc } from "./rpc.ts";
import type { Slot } from "./slot.ts";
import type { Step } from "./slot-step.ts";
import { RpcFault } from "./xml-rpc.ts";

/** Fault codes of supervisord, see `supervisor.xmlrpc.Faults`. */
const faults = {
  badName: 10,
  noFile: 20,
  notExecutable: 21,
  spawnError: 50,
  alreadyStarted: 60,
  notRunning: 70,
  alreadyAdded: 90,
  stillRunning: 91,
} as const;

const isFault = (error: unknown, ...codes: number[]) =>
  error instanceof RpcFault && codes.includes(error.code);

/**
 * @param name name of the process's group
 * @returns whether the step was taken
 * @throws the errors of `rpc`, except faults that concern only the step
 */
export async function takeStep(
  { rpc, machine }: { rpc: Rpc; machine: Machine },
  name: string,
  slot: Slot,
  step: Step,
): Promise<boolean> {
  slot.tells(step);
  try {
    switch (step.kind) {
      case "stop":
        await rpc("stopProcess", name, false);
        break;
      case "signal":
        await rpc("signalProcess", name, step.signal);
        break;
      case "kill":
        await rpc("stopProcess", name, false);
        await killGroup(machine, step.pid);
        await rpc("signalProcess", name, "KILL");
        break;
      case "removeGroup":
        await rpc("removeProcessGroup", name);
        break;
      case "addGroup":
        await rpc("addProcessGroup", name);
        break;
      case "start":
        await rpc("startProcess", name, false);
    }
  } catch (error) {
    if (isFault(error, faults.noFile, faults.notExecutable)) {
      slot.refuse(`${startCause(messageOf(error).replace(/^\w+: /, ""))}.`);
      return false;
    }
    const isGone = step.kind === "removeGroup" && isFault(error, faults.badName);
    const isDone = isFault(error, faults.alreadyAdded, faults.alreadyStarted, faults.spawnError);
    // The state has changed since the last poll; the next one shows it.
    if (isFault(error, faults.notRunning, faults.stillRunning)) return false;
    if (isFault(error, faults.badName) && !isGone && step.kind !== "addGroup") return false;
    if (!isGone && !isDone) throw error;
  }
  slot.noteStep(step);
  return true;
}

/** Kills the process group: supervisord makes each process a group leader, but `signalProcess` signals only the process. */
async function killGroup(machine: Machine, pid: number): Promise<void> {
  const argv = ["sh", "-c", 'kill -s KILL -- "-$1"', "sh", String(pid)] as const;
  // Not permitted where the process runs as another account; supervisord kills the process itself anyway.
  await machine.run({ argv }).catch(() => undefined);
}
