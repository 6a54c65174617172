// Requests about a server go to the instance that looks after it: what its processes do is known there alone. Which token
// asks was checked by the instance that took the request, and comes along with a secret that all of them share.
import { timingSafeEqual } from "node:crypto";
import { setTimeout as wait } from "node:timers/promises";
import type { Context } from "hono";
import { errorMessage } from "../../contract/errors.ts";
import type { ApiEnvironment } from "../http/every-request.ts";
import type { Caller } from "../http/route.ts";
import { ServiceError, unavailable } from "../http/service-error.ts";
import { createForwarder, UpstreamError } from "../upstream/forward.ts";
import { LeaseLost, noOwner, type Leases } from "./leases.ts";

const secretHeader = "x-quarterdeck-peer";
const callerHeader = "x-quarterdeck-caller";
const originHeader = "x-quarterdeck-origin";
/** The other instance has deadlines of its own; this is for one that hangs. */
const firstByteMs = 30_000;
/** A server that passes from one instance to another is looked after again within moments. */
const settlesMs = 5000;
const looksEveryMs = 100;

type PeersOptions = {
  leases: Pick<Leases, "has" | "ownerOf">;
  /** What the instances of this database know each other by. */
  secret: string;
  /** @returns null for a token that is no longer valid */
  callerOf(tokenId: number): Promise<Caller | null>;
  publicUrl: string | null;
};

export type Peers = {
  /** Whose request another instance passed on; null = it comes from a client. */
  callerOf(c: Context<ApiEnvironment>): Promise<Caller | null>;
  /** Where the client reaches the service, as the instance that took its request saw it; null = it comes from a client. */
  originOf(c: Context<ApiEnvironment>): string | null;
  /**
   * Passes a request on to the instance that looks after the server.
   * @param isReadable whether this one can answer it from the database where nobody does
   * @returns null where this instance is to answer
   */
  pass(
    c: Context<ApiEnvironment>,
    caller: Caller,
    serverId: number,
    isReadable: boolean,
  ): Promise<Response | null>;
};

/** One instance alone: everything is its own. */
export const noPeers: Peers = {
  callerOf: async () => null,
  originOf: () => null,
  pass: async () => null,
};

/** @returns null where nothing has settled in time */
async function settled<Result>(look: () => Promise<Result | null>): Promise<Result | null> {
  const untilMs = performance.now() + settlesMs;
  for (;;) {
    const seen = await look();
    if (seen !== null || performance.now() > untilMs) return seen;
    await wait(looksEveryMs);
  }
}

export function createPeers({ leases, secret, callerOf, publicUrl }: PeersOptions): Peers {
  const expected = Buffer.from(secret);
  const forwarders = new Map<string, ReturnType<typeof createForwarder>>();

  function isPeer(c: Context<ApiEnvironment>): boolean {
    const given = Buffer.from(c.req.header(secretHeader) ?? "");
    return given.length === expected.length && timingSafeEqual(given, expected);
  }

  function forwarderTo(address: string, name: string) {
    const existing = forwarders.get(address);
    if (existing !== undefined) return existing;
    const made = createForwarder(address, publicUrl, {
      name: `The instance ${name} at ${address}`,
    });
    forwarders.set(address, made);
    return made;
  }

  return {
    callerOf: async (c) => (isPeer(c) ? callerOf(Number(c.req.header(callerHeader))) : null),
    originOf: (c) => (isPeer(c) ? (c.req.header(originHeader) ?? null) : null),
    async pass(c, caller, serverId, isReadable) {
      if (leases.has(serverId)) return null;
      // The database says that it is this one's before this one has begun with it. Passed on, the request would go round.
      if (isPeer(c)) {
        if (await settled(async () => leases.has(serverId) || null)) return null;
        throw new LeaseLost();
      }
      const look = () => leases.ownerOf(serverId);
      const owner = isReadable ? await look() : await settled(look);
      if (owner === "this" || (owner === null && isReadable)) return null;
      if (owner === null) throw noOwner();
      try {
        return await forwarderTo(owner.address, owner.name)(c.req.raw, c.env, firstByteMs, {
          [secretHeader]: secret,
          [callerHeader]: String(caller.tokenId),
          [originHeader]: publicUrl ?? new URL(c.req.url).origin,
        });
      } catch (error) {
        if (!(error instanceof UpstreamError)) throw error;
        if (error.status === 404) throw new ServiceError("not_found", errorMessage.not_found);
        throw unavailable(
          `${error.message} It looks after this server. Check its QUARTERDECK_INSTANCE_URL.`,
          5,
        );
      }
    },
  };
}
