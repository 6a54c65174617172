// Queries of the settings. Tokens are an extra: null for a service without management of tokens.
import { addOperations } from "../api/client.ts";
import { lateOperations } from "../../contract/late-operations.ts";
import type { Page } from "../../contract/paging.ts";
import type { Token } from "../../contract/tokens.ts";
import { hasStatus } from "../api/api-error.ts";
import { pageQuery } from "../api/page-query.ts";
import { type DataQuery, extraQuery } from "../api/query.ts";

addOperations(lateOperations);

/** `forbidden`: the current token may not manage tokens; the rest of the page is still useful. */
export type Tokens = Page<Token> | "forbidden" | null;

export function tokensQuery(page: number): DataQuery<Tokens> {
  const { queryKey, queryFn } = extraQuery("listTokens", {}, pageQuery(page));
  return {
    queryKey,
    queryFn: () =>
      queryFn().catch((error: unknown) => {
        if (hasStatus(error, 403)) return "forbidden" as const;
        throw error;
      }),
  };
}

/** The service's description of itself. */
export const installationQuery = () => extraQuery("showInstallation", {});

/** The current token. */
export const currentTokenQuery = () => extraQuery("showCurrentToken", {});

export const isList = (tokens: Tokens | undefined): tokens is Page<Token> =>
  typeof tokens === "object" && tokens !== null;
