// Who may talk to the service: each token with what it may do, since when, and until when.
import { useQuery } from "@tanstack/react-query";
import type { Page } from "../../contract/paging.ts";
import type { Token } from "../../contract/tokens.ts";
import { TroubleText } from "../app/TroubleText.tsx";
import { everyServerQuery } from "../app/inventory.ts";
import { LinkButton } from "../app/LinkButton.tsx";
import { PageLinks } from "../app/PageLinks.tsx";
import { paths } from "../paths.ts";
import { Button } from "../ui/Button.tsx";
import { EmptyState } from "../ui/EmptyState.tsx";
import { Icon } from "../ui/Icon.tsx";
import { Panel } from "../ui/Panel.tsx";
import { Skeleton } from "../ui/Skeleton.tsx";
import { HeadCell, Table } from "../ui/Table.tsx";
import { isList, type Tokens, tokensQuery } from "./queries.ts";
import { TokenRow } from "./TokenRow.tsx";

function TokenTable({ list: { data, meta }, page }: { list: Page<Token>; page: number }) {
  const { data: servers } = useQuery(everyServerQuery());
  if (data.length === 0)
    return (
      <EmptyState
        title={`Page ${page} is empty`}
        action={<LinkButton to={paths.settings()}>First page</LinkButton>}
      />
    );
  return (
    <>
      <Table label="Tokens">
        <thead>
          <tr>
            <HeadCell>Name</HeadCell>
            <HeadCell from="sm">Permissions</HeadCell>
            <HeadCell from="sm">Scope</HeadCell>
            <HeadCell from="sm">Last used</HeadCell>
            <HeadCell from="sm">Expires</HeadCell>
            <HeadCell>
              <span className="sr-only">Actions</span>
            </HeadCell>
          </tr>
        </thead>
        <tbody>
          {data.map((token) => (
            <TokenRow key={token.id} token={token} servers={servers?.data ?? nobody} />
          ))}
        </tbody>
      </Table>
      <PageLinks meta={meta} pathOf={paths.settings} />
    </>
  );
}

/** The same each time, so that rows which did not change are not drawn again. */
const nobody: never[] = [];

/** Why there is no list. */
function NoTokens({ tokens }: { tokens: Exclude<Tokens, Page<Token>> }) {
  return tokens === null ? (
    <EmptyState title="No tokens">
      This service doesn't list its tokens. Create and revoke tokens on the service's machine.
    </EmptyState>
  ) : (
    <EmptyState title="No permission">
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
        <TokenTable list={tokens} page={page} />
      ) : tokens !== undefined ? (
        <NoTokens tokens={tokens} />
      ) : error !== null ? (
        <EmptyState
          title="Couldn't load tokens"
          action={<Button onClick={() => void refetch()}>Try again</Button>}
        >
          <TroubleText error={error} />
        </EmptyState>
      ) : (
        <div className="p-4">
          <Skeleton width="w-40" />
        </div>
      )}
    </Panel>
  );
}
