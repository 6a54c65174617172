import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import type { NewToken } from "../../contract/tokens.ts";
import { createTokenBody, type CreateTokenBody } from "../../contract/bodies.ts";
import { Crumbs } from "../app/place/Crumbs.tsx";
import { FormPage } from "../app/form/FormPage.tsx";
import { everyServerQuery } from "../app/inventory.ts";
import { LinkButton } from "../app/LinkButton.tsx";
import { SecretPanel } from "../app/SecretPanel.tsx";
import { paths } from "../paths.ts";
import { focusHeading } from "../ui/focus/focus-heading.ts";
import { PageHeader } from "../ui/page/PageHeader.tsx";
import { createToken } from "./actions.ts";
import { currentTokenQuery } from "./queries.ts";
import { canChange, serversText } from "./token-facts.ts";
import { TokenFields } from "./TokenFields.tsx";

/** The least permission that is useful. */
const defaultValues: CreateTokenBody = { name: "", abilities: ["read"], server_ids: null };

export function TokenNewPage() {
  const { data } = useQuery(everyServerQuery());
  const { data: own } = useQuery(currentTokenQuery());
  const [made, setMade] = useState<NewToken | null>(null);
  const servers = data?.data ?? [];
  const crumbs = [{ label: "Settings", to: paths.settings() }];
  const create = async (body: CreateTokenBody) => {
    setMade(await createToken(body));
    return null;
  };
  if (made === null)
    return (
      <FormPage
        title="New token"
        context={[]}
        crumbs={crumbs}
        schema={createTokenBody}
        defaultValues={defaultValues}
        save={create}
        submit={["Create token", "Creating…"]}
        cancelTo={paths.settings()}
        leaveQuestion="Leave without creating the token?"
      >
        <TokenFields servers={servers} latest={own?.expires_at ?? null} />
      </FormPage>
    );
  return (
    <>
      <PageHeader title="Token created" crumbs={<Crumbs items={crumbs} />} />
      <div ref={focusHeading}>
        <SecretPanel
          title={`${made.name}, shown once`}
          noun="token"
          secret={made.token}
          purpose={`Permissions: ${canChange(made) ? "everything" : "read"} on ${made.server_ids === null ? "all servers" : serversText(made.server_ids, servers)}. Send the token as “Authorization: Bearer …”, or connect a dashboard with it. The token can't be shown again.`}
          loss="If you lose the token, create a new one."
        >
          {() => (
            <LinkButton to={paths.settings()} replace>
              Back to settings
            </LinkButton>
          )}
        </SecretPanel>
      </div>
    </>
  );
}
