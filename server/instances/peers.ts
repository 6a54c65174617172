// Forwards requests about a server to the instance that looks after it, because only that one knows the state of its processes.
// The first instance has authenticated the token, and sends its id along with its own secret, whose hash is in the database.
import { setTimeout as wait } from "node:timers/promises";
import type { Context } from "hono";
import { errorMessage } from "../../contract/errors.ts";
import type { ApiEnvironment } from "../http/every-request.ts";
import type { Caller } from "../http/route.ts";
import { ServiceError, unavailable } from "../http/service-error.ts";
import { createForwarder, UpstreamError } from "../upstream/forward.ts";
import { hashSecret } from "../tokens/secret.ts";
import { LeaseLost, noOwner, type Leases } from "./leases.ts";

const secretHeader = "x-quarterdeck-peer";
const callerHeader = "x-quarterdeck-caller";
const originHeader = "x-quarterdeck-origin";
/** The other instance has its own deadlines; this one is for an instance that hangs. */
const firstByteMs = 30_000;
/** How long to wait for an owner: a server that changes hands has a new one within moments. */
const settlesMs = 5000;
const looksEveryMs = 100;

type PeersOptions = {
  leases: Pick<Leases, "has" | "ownerOf">;
  /** The secret of this instance. */
  secret: string;
  /** Whether a live instance on this database has the secret of this hash. */
  isInstance(secretHash: string): Promise<boolean>;
  /** @returns null for a token that is no longer valid */
  callerOf(tokenId: number): Promise<Caller | null>;
  publicUrl: string | null;
};

export type Peers = {
  /** Returns the caller of a request that another instance forwarded; null = the request comes from a client. */
  callerOf(c: Context<ApiEnvironment>): Promise<Caller | null>;
  /**
   * Returns the origin that the client used, as the forwarding instance saw it; null = the request comes from a client. To be
   * called after `callerOf`.
   */
  originOf(c: Context<ApiEnvironment>): string | null;
  /**
   * Forwards a request to the instance that looks after the server. To be called after `callerOf`.
   * @param isReadable whether this instance can respond from the database where no instance looks after the server
   * @returns null where this instance has to respond
   */
  pass(
    c: Context<ApiEnvironment>,
    caller: Caller,
    serverId: number,
    isReadable: boolean,
  ): Promise<Response | null>;
};

/** For a single instance, which handles all requests. */
export const noPeers: Peers = {
  callerOf: async () => null,
  originOf: () => null,
  pass: async () => null,
};

/** @returns null where the time ran out */
async function settled<Result>(look: () => Promise<Result | null>): Promise<Result | null> {
  const untilMs = performance.now() + settlesMs;
  for (;;) {
    const seen = await look();
    if (seen !== null || performance.now() > untilMs) return seen;
    await wait(looksEveryMs);
  }
}

export function createPeers(options: PeersOptions): Peers {
  const { leases, secret, isInstance, publicUrl } = options;
  const forwarders = new Map<string, ReturnType<typeof createForwarder>>();

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
    async callerOf(c) {
      const given = c.req.header(secretHeader);
      if (given === undefined || !(await isInstance(hashSecret(given)))) return null;
      c.set("isForwarded", true);
      return options.callerOf(Number(c.req.header(callerHeader)));
    },
    originOf: (c) => (c.get("isForwarded") ? (c.req.header(originHeader) ?? null) : null),
    async pass(c, caller, serverId, isReadable) {
      if (leases.has(serverId)) return null;
      // The database may already name this instance as the owner before it has started to look after the server. Forwarding the
      // request again would send it in circles.
      if (c.get("isForwarded")) {
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
