import { rotationHours, type Webhook } from "../../contract/webhooks/webhook.ts";
import { confirm } from "../app/confirm.ts";
import { toast } from "../app/toasts.ts";
import { Button } from "../ui/Button.tsx";
import { Icon } from "../ui/Icon.tsx";
import { rotateSecret, useWebhookActions } from "./actions.ts";
import { hasExtras, hostOf } from "./webhook-facts.ts";

function Url({ webhook }: { webhook: Webhook }) {
  return <p className="font-mono text-xs wrap-anywhere text-ink">{webhook.url}</p>;
}

const isRotating = ({ previous_secret_until: until }: Webhook) =>
  typeof until === "string" && Date.parse(until) > Date.now();

function Rotation({ webhook }: { webhook: Webhook }) {
  return (
    <>
      <Url webhook={webhook} />
      <p>
        A new secret is made and shown once. For {rotationHours} hours every request is signed with
        both, so the receiver may change over at any time until then.
      </p>
      {isRotating(webhook) && (
        <p>
          The last change is not over: the secret from before it, which still signs, stops at once.
        </p>
      )}
    </>
  );
}

const keys: Record<string, string> = { Ping: "p", Delete: "#" };

type WebhookActionsProps = {
  webhook: Webhook;
  /** Icons alone, or with their words. */
  look: "icons" | "words";
  /** With it the secret can be rotated; it gets the new one, which nobody sees again. */
  onSecret?: (secret: string) => void;
  /** After a deletion. */
  onRemoved?: () => void;
};

/** Ping, rotate secret and delete. A service without deliveries has only the last. */
export function WebhookActions({ webhook, look, onSecret, onRemoved }: WebhookActionsProps) {
  const { ping, isPinging, remove } = useWebhookActions();
  const { id, url } = webhook;
  const isIcon = look === "icons";
  const facts = (label: string) => ({
    size: isIcon ? ("icon" as const) : ("md" as const),
    variant: isIcon ? ("ghost" as const) : ("secondary" as const),
    "aria-label": `${label}: ${url}`,
    command: `${label}: ${url}`,
    keys: keys[label],
    tip: isIcon ? label : undefined,
  });
  const askRotation = (show: (secret: string) => void) =>
    confirm({
      title: "Rotate the secret?",
      body: <Rotation webhook={webhook} />,
      action: "Rotate secret",
      run: async () => {
        const secret = await rotateSecret(id);
        if (secret === null) toast.failure("This service did not show the new secret.");
        else show(secret);
      },
    });
  const askRemoval = () =>
    confirm({
      title: "Delete this webhook?",
      body: (
        <>
          <Url webhook={webhook} />
          <p>
            It is not called any more.
            {hasExtras(webhook) && " The history of what was sent to it is lost, and its secret."}
          </p>
        </>
      ),
      action: "Delete webhook",
      run: async () => {
        await remove(webhook);
        toast.success(`The webhook of ${hostOf(url)} is deleted.`);
        onRemoved?.();
      },
    });
  return (
    <>
      {hasExtras(webhook) && (
        <Button {...facts("Ping")} isPending={isPinging} onClick={() => ping(webhook)}>
          <Icon name="send" />
          {!isIcon && "Ping"}
        </Button>
      )}
      {hasExtras(webhook) && onSecret !== undefined && (
        <Button {...facts("Rotate secret")} onClick={() => askRotation(onSecret)}>
          <Icon name="key" />
          {!isIcon && "Rotate secret"}
        </Button>
      )}
      <Button {...facts("Delete")} onClick={askRemoval}>
        <Icon name="trash" />
        {!isIcon && <span className="text-bad">Delete</span>}
      </Button>
    </>
  );
}
