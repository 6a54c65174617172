import { rotationHours, type Webhook } from "../../contract/webhooks/webhook.ts";
import { confirm } from "../app/confirm.ts";
import { LinkButton } from "../app/LinkButton.tsx";
import { toast } from "../app/toasts.ts";
import { paths } from "../paths.ts";
import { Button } from "../ui/button/Button.tsx";
import { Icon } from "../ui/Icon.tsx";
import { serviceNow } from "../service-clock.ts";
import { rotateSecret, useSwitch, useWebhookActions } from "./actions.ts";
import { hasExtras, hostOf, isChangeable } from "./webhook-facts.ts";

function Url({ webhook }: { webhook: Webhook }) {
  return <p className="font-mono text-xs wrap-anywhere text-ink">{webhook.url}</p>;
}

const isRotating = ({ previous_secret_until: until }: Webhook) =>
  typeof until === "string" && Date.parse(until) > serviceNow();

function Rotation({ webhook }: { webhook: Webhook }) {
  return (
    <>
      <Url webhook={webhook} />
      <p>
        Creates a new signing secret and shows it once. For {rotationHours} hours, requests are
        signed with both secrets, so you can update the receiver at any time until then.
      </p>
      {isRotating(webhook) && (
        <p>
          The previous rotation is still in progress: the oldest secret stops working immediately.
        </p>
      )}
    </>
  );
}

const keys: Record<string, string> = { Ping: "p", Delete: "#" };

type WebhookActionsProps = {
  webhook: Webhook;
  /** Icons alone, or with their labels. */
  look: "icons" | "words";
  /** Enables rotation of the secret. Gets the new secret, which cannot be read again. */
  onSecret?: (secret: string) => void;
  /** Called after a deletion. */
  onRemoved?: () => void;
};

/** Edit, pause, ping, rotate secret and delete. For a service without deliveries, delete only. */
export function WebhookActions({ webhook, look, onSecret, onRemoved }: WebhookActionsProps) {
  const { ping, isPinging, remove } = useWebhookActions();
  const { setEnabled, isSwitching } = useSwitch();
  const { id, url } = webhook;
  const isIcon = look === "icons";
  const facts = (label: string) => ({
    size: isIcon ? ("icon" as const) : ("md" as const),
    variant: isIcon ? ("ghost" as const) : ("secondary" as const),
    command: { label: `${label}: ${url}`, name: label, key: keys[label] },
  });
  const askRotation = (show: (secret: string) => void) =>
    confirm({
      title: "Rotate the secret?",
      body: <Rotation webhook={webhook} />,
      action: "Rotate secret",
      run: async () => {
        const secret = await rotateSecret(id);
        if (secret === null) toast.failure("The service didn't return the new secret.");
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
            Quarterdeck stops sending events to this URL.
            {hasExtras(webhook) && " The delivery history and the secret are deleted."}
          </p>
        </>
      ),
      action: "Delete webhook",
      run: async () => {
        await remove(webhook);
        toast.success(`Webhook ${hostOf(url)} deleted.`);
        onRemoved?.();
      },
    });
  const isOn = webhook.status === "enabled";
  return (
    <>
      {!isIcon && isChangeable(webhook) && (
        <>
          <LinkButton to={paths.editWebhook(id)}>
            <Icon name="edit" />
            Edit
          </LinkButton>
          <Button
            {...facts(isOn ? "Pause" : "Enable")}
            isPending={isSwitching}
            onClick={() => setEnabled(webhook, !isOn)}
          >
            <Icon name={isOn ? "pause" : "play"} />
            {isOn ? "Pause" : "Enable"}
          </Button>
        </>
      )}
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
