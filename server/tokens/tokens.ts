// Creates the room: sign-in by token, code or link.
import type { Clock } from "../clock.ts";
import type { FindCaller, RedeemCode } from "../http/authentication.ts";
import type { Caller, Route } from "../http/route.ts";
import type { Database } from "../store/database.ts";
import { createCodeStore } from "./code-store.ts";
import { createOneTimeLinks, type OneTimeLinks } from "./one-time-links.ts";
import { tokenRoutes } from "./routes.ts";
import { createTokenService } from "./service.ts";
import { createSignIn } from "./sign-in.ts";
import { createTokenStore } from "./store.ts";

export type Tokens = {
  routes: Route[];
  findCaller: FindCaller;
  redeemCode: RedeemCode;
  links: OneTimeLinks;
  /** Returns the caller of a token; null if it is no longer valid. */
  callerOf(tokenId: number): Promise<Caller | null>;
  /** Creates, replaces or removes the operator's token to match the environment. */
  prepare(chosen: string | null): Promise<void>;
  /** Returns a new code for the first sign-in; null where an owner can already sign in with a token. */
  issueCode(): Promise<string | null>;
  /** Returns a new sign-in code for an operator who has lost all tokens; the previous code stops working. */
  replaceCode(): Promise<string>;
};

export function createTokens({ db, clock }: { db: Database; clock: Clock }): Tokens {
  const store = createTokenStore(db);
  const service = createTokenService(store, clock);
  const signIn = createSignIn({ codes: createCodeStore(db), tokens: store, clock });
  const links = createOneTimeLinks({ db, tokens: service, clock });
  return {
    routes: tokenRoutes(service, signIn),
    findCaller: service.findCaller,
    redeemCode: links.redeem,
    links,
    callerOf: service.callerOf,
    prepare: service.prepare,
    issueCode: signIn.issueCode,
    replaceCode: signIn.replaceCode,
  };
}
