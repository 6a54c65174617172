// Replaces the form of a new webhook once it is created: the secret, shown once, and the next steps.
import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import type { Webhook } from "../../contract/webhooks/webhook.ts";
import { makePoller } from "../api/poll.ts";
import { LinkButton } from "../app/LinkButton.tsx";
import { paths } from "../paths.ts";
import { Button } from "../ui/button/Button.tsx";
import { Icon } from "../ui/Icon.tsx";
import { serviceNow } from "../service-clock.ts";
import { useWebhookActions } from "./actions.ts";
import { LastDelivery } from "./LastDelivery.tsx";
import { webhookQuery } from "./queries.ts";
import { WebhookSecret } from "./WebhookSecret.tsx";
import { toMoving } from "./webhook-facts.ts";

type WebhookCreatedProps = { made: Webhook; secret: string };

export function WebhookCreated({ made, secret }: WebhookCreatedProps) {
  const [poll] = useState(() => makePoller());
  const { ping, isPinging } = useWebhookActions();
  // Not `useLoaded`: an error of the query must not replace the secret by an error page.
  const { data: webhook } = useQuery({
    ...webhookQuery(made.id),
    initialData: made,
    refetchInterval: ({ state }) => {
      const last = state.data?.last_delivery;
      return last ? poll([toMoving(last, serviceNow())], false) : false;
    },
  });
  return (
    <WebhookSecret title="Signing secret, shown once" secret={secret}>
      {() => (
        <>
          <Button isChange isPending={isPinging} onClick={() => ping(webhook)}>
            <Icon name="send" />
            Send ping
          </Button>
          <LinkButton to={paths.webhook(made.id)} replace>
            Open webhook
          </LinkButton>
          {webhook.last_delivery && (
            <div className="basis-full" aria-live="polite">
              <LastDelivery webhook={webhook} />
            </div>
          )}
        </>
      )}
    </WebhookSecret>
  );
}
