// One step of a process, as calls of supervisord; what it has against it is taken for what it means.
import { messageOf } from "../../loggable-error.ts";
import { startCause } from "../supervisor/reasons.ts";
import type { Machine } from "./machine.ts";
import type { Rpc } from "./rpc.ts";
import type { Slot } from "./slot.ts";
import type { Step } from "./slot-step.ts";
import { RpcFault } from "./xml-rpc.ts";

/** supervisord's own, see `supervisor.xmlrpc.Faults`. */
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
 * @param name of the process's group
 * @returns whether the step was taken
 * @throws what `rpc` throws, where that says nothing of the step
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
    // It has come further than was known; the next look shows where.
    if (isFault(error, faults.notRunning, faults.stillRunning)) return false;
    if (isFault(error, faults.badName) && !isGone && step.kind !== "addGroup") return false;
    if (!isGone && !isDone) throw error;
  }
  slot.noteStep(step);
  return true;
}

/** supervisord makes each process the leader of a group, and sends a signal to the process alone. */
async function killGroup(machine: Machine, pid: number): Promise<void> {
  const argv = ["sh", "-c", 'kill -s KILL -- "-$1"', "sh", String(pid)] as const;
  // Not permitted where supervisord runs as another account. The process itself is killed by supervisord all the same.
  await machine.run({ argv }).catch(() => undefined);
}
