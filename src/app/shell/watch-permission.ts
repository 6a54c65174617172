// Watches the permissions of the current token, and sets `changeRefusal` for all controls that change something.
import { QueryObserver } from "@tanstack/react-query";
import type { Token } from "../../../contract/tokens.ts";
import { extraQuery, queryClient } from "../../api/query.ts";
import { changeRefusal } from "../../commands/permission.ts";

/** The abilities of a token never change; another token has another session, which begins with an empty cache. */
const staleMs = 60 * 60 * 1000;

/** @param token null where the service lacks the operation, so that only the service can refuse */
export const refusalOf = (token: Pick<Token, "abilities"> | null | undefined): string | undefined =>
  token === null || token === undefined || token.abilities.includes("*")
    ? undefined
    : "This token can only read.";

/** @returns a function that stops watching */
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
