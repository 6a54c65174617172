// Asks what the token in use may do, and says so where everything that changes something looks.
import { QueryObserver } from "@tanstack/react-query";
import type { Token } from "../../contract/tokens.ts";
import { extraQuery, queryClient } from "../api/query.ts";
import { changeRefusal } from "../commands/permission.ts";

/** Abilities do not change while a token lives; another token has another session, which begins with an empty cache. */
const staleMs = 60 * 60 * 1000;

/** @param token null where the service has no such operation: then the service is the one to say */
export const refusalOf = (token: Pick<Token, "abilities"> | null | undefined): string | undefined =>
  token === null || token === undefined || token.abilities.includes("*")
    ? undefined
    : "This token can only read.";

/** @returns what ends it */
export function watchPermission(): () => void {
  const query = { ...extraQuery("showCurrentToken", {}), staleTime: staleMs };
  const observer = new QueryObserver(queryClient, query);
  const stop = observer.subscribe(({ data }) => changeRefusal.set(refusalOf(data)));
  changeRefusal.set(refusalOf(observer.getCurrentResult().data));
  return () => {
    stop();
    changeRefusal.set(undefined);
  };
}
