// Requests about a server go to the instance that looks after it: what its processes do is known there alone. Which token
// asks was checked by the instance that took the request, and comes along with a secret that all of them share.
import { timingSafeEqual } from "node:crypto";
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
      // It passed to another instance meanwhile, and would go round until that has settled.
      if (isPeer(c)) throw new LeaseLost();
      const owner = await leases.ownerOf(serverId);
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
