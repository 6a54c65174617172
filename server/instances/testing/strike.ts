// Causes one fault after the other. Instances recover while the next faults happen; at least one other instance is always
// unaffected.
import { setTimeout as wait } from "node:timers/promises";
import type { Fault, FaultKind } from "./fault-plan.ts";
import type { FaultRig, FaultyInstance } from "./fault-rig.ts";

type Takeover = { kind: FaultKind; from: string; servers: number[]; tookMs: number };

/** Timeout of a takeover; the test itself checks the guaranteed time. */
const hopelessMs = 120_000;

export function createStriker({ postgres, instances, exits, ask, restart }: FaultRig) {
  const takeovers: Takeover[] = [];

  /** Returns the servers over SSH whose leases an instance holds, each with the id of the instance's run. */
  const heldBy = ({ name }: FaultyInstance) =>
    ask<{ server_id: number; instance_id: string }>(
      `select server_id, instance_id from server_leases lease join instances on instances.id = lease.instance_id
       where instances.name = $1 and until > clock_timestamp() and lease.home is null`,
      [name],
    );

  /** Whether the instance's heartbeat is current. */
  const lives = async ({ name }: FaultyInstance) =>
    (await ask("select from instances where name = $1 and until > clock_timestamp()", [name]))
      .length > 0;

  /** Waits for an instance that can be hit while another one keeps running. */
  async function choose({ kind, target }: Fault): Promise<FaultyInstance> {
    for (;;) {
      if (exits.length > 0) throw new Error(exits.join(" "));
      const able: FaultyInstance[] = [];
      for (const one of instances) if (!one.isHit && (await lives(one))) able.push(one);
      const fit: FaultyInstance[] = [];
      for (const one of able) if (!isLong(kind) || (await heldBy(one)).length > 0) fit.push(one);
      const chosen = fit[Math.floor(target * fit.length)];
      if (chosen !== undefined && able.length > 1) return chosen;
      await wait(250);
    }
  }

  /** Resolves once other live instances hold the leases of all servers of an instance. */
  async function takenOver(kind: FaultKind, from: FaultyInstance, hit: () => unknown) {
    const held = await heldBy(from);
    const beganMs = performance.now();
    await hit();
    const servers = held.map(({ server_id }) => server_id);
    for (;;) {
      const taken = await ask<{ server_id: number; instance_id: string }>(
        `select server_id, instance_id from server_leases lease join instances on instances.id = lease.instance_id
         where server_id = any($1) and until > clock_timestamp()`,
        [servers],
      );
      const tookMs = performance.now() - beganMs;
      const left = held.filter(
        (one) =>
          !taken.some(
            (now) => now.server_id === one.server_id && now.instance_id !== one.instance_id,
          ),
      );
      if (left.length === 0) return void takeovers.push({ kind, from: from.name, servers, tookMs });
      if (tookMs > hopelessMs)
        throw new Error(`After ${kind} nobody took ${JSON.stringify(left)} of ${from.name}.`);
      await wait(100);
    }
  }

  const postgresEnds: Partial<Record<FaultKind, () => Promise<void>>> = {
    "restart PostgreSQL": postgres.shutDown,
    "crash PostgreSQL": postgres.crash,
  };

  async function hit({ kind, lengthMs }: Fault, target: FaultyInstance): Promise<void> {
    const { link, service, name } = target;
    switch (kind) {
      case "kill":
        await takenOver(kind, target, () => service.end("SIGKILL"));
        await wait(lengthMs);
        return restart(target);
      case "stop":
        await takenOver(kind, target, () => service.child.kill("SIGSTOP"));
        await wait(lengthMs);
        return void service.child.kill("SIGCONT");
      case "silence connections":
        await takenOver(kind, target, link.silence);
        await wait(lengthMs);
        return link.mend();
      case "refuse connections":
        link.refuse();
        await wait(lengthMs);
        return link.mend();
      case "end connections":
        return void (await ask(
          "select pg_terminate_backend(pid) from pg_stat_activity where usename = $1",
          [name],
        ));
      case "restart PostgreSQL":
      case "crash PostgreSQL":
        throw new Error(`${kind} hits no instance.`);
    }
  }

  return {
    takeovers,
    /** @returns `isOver` resolves after the recovery, which the next fault does not wait for */
    async strike(fault: Fault): Promise<{ target: string; isOver: Promise<void> }> {
      await wait(fault.afterMs);
      const ofPostgres = postgresEnds[fault.kind];
      if (ofPostgres !== undefined) {
        await ofPostgres();
        await wait(fault.lengthMs / 2);
        await postgres.start();
        return { target: "", isOver: Promise.resolve() };
      }
      const target = await choose(fault);
      target.isHit = true;
      return {
        target: target.name,
        isOver: hit(fault, target).finally(() => (target.isHit = false)),
      };
    },
  };
}

/** Whether the fault lasts so long that other instances take the servers over. */
const isLong = (kind: FaultKind) =>
  kind === "kill" || kind === "stop" || kind === "silence connections";
