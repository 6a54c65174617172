// The tokens of the service: permissions, creation, and expiry.
import { useQuery } from "@tanstack/react-query";
import type { Page } from "../../contract/paging.ts";
import type { Token } from "../../contract/tokens.ts";
import { ErrorText } from "../app/ErrorText.tsx";
import { LinkButton } from "../app/LinkButton.tsx";
import { PageLinks } from "../app/PageLinks.tsx";
import { paths } from "../paths.ts";
import { Button } from "../ui/button/Button.tsx";
import { EmptyState } from "../ui/feedback/EmptyState.tsx";
import { Icon } from "../ui/Icon.tsx";
import { Panel } from "../ui/page/Panel.tsx";
import { Skeleton } from "../ui/feedback/Skeleton.tsx";
import { isList, type Tokens, tokensQuery } from "./queries.ts";
import { TokenTable } from "./TokenTable.tsx";

function TokenList({ list: { data, meta }, page }: { list: Page<Token>; page: number }) {
  if (data.length === 0)
    return (
      <EmptyState
        title={`Page ${page} is empty`}
        action={<LinkButton to={paths.settings()}>First page</LinkButton>}
      />
    );
  return (
    <>
      <TokenTable tokens={data} />
      <PageLinks meta={meta} pathOf={paths.settings} />
    </>
  );
}

/** Explains why there is no list. */
function NoTokens({ tokens }: { tokens: Exclude<Tokens, Page<Token>> }) {
  return tokens === null ? (
    <EmptyState title="No tokens" art="tokens">
      This service doesn't list its tokens. Create and revoke tokens on the service's machine.
    </EmptyState>
  ) : (
    <EmptyState title="No permission" art="tokens">
      To manage tokens, connect with a token that has full access to all servers.
    </EmptyState>
  );
}

export function TokensPanel({ page }: { page: number }) {
  const { data: tokens, error, refetch } = useQuery(tokensQuery(page));
  return (
    <Panel
      title="Tokens"
      actions={
        isList(tokens) && (
          <LinkButton
            to={paths.newToken()}
            variant="primary"
            size="sm"
            command={{ label: "New token" }}
          >
            <Icon name="plus" />
            New token
          </LinkButton>
        )
      }
    >
      {isList(tokens) ? (
        <TokenList list={tokens} page={page} />
      ) : tokens !== undefined ? (
        <NoTokens tokens={tokens} />
      ) : error !== null ? (
        <EmptyState
          title="Couldn't load tokens"
          action={<Button onClick={() => void refetch()}>Try again</Button>}
        >
          <ErrorText error={error} />
        </EmptyState>
      ) : (
        <div className="p-4">
          <Skeleton width="w-40" />
        </div>
      )}
    </Panel>
  );
}
