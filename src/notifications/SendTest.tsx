import { useMutation } from "../api/mutate.ts";
import { useState } from "react";
import type {
  ChannelMessage,
  NotificationChannel,
} from "../../contract/notifications/notification.ts";
import { isInTransit } from "../../contract/states.ts";
import { call } from "../api/client.ts";
import { invalidate, queryClient } from "../api/query.ts";
import { toast } from "../app/toasts.ts";
import { Button } from "../ui/button/Button.tsx";
import { Icon } from "../ui/Icon.tsx";
import { testRefusal } from "./channel-facts.ts";
import { showMessage } from "./queries.ts";

/** Screen reader announcement of the outcome of a test, which sighted users see in the row. */
const outcomeText = (name: string, { status, answer }: ChannelMessage) =>
  `Test message to ${name}: ${status}. ${answer ?? ""}`;

export function SendTest({ channel }: { channel: NotificationChannel }) {
  const { id, name, last_message: last } = channel;
  const [sentId, setSentId] = useState<number>();
  const { mutate: send, isPending } = useMutation({
    mutationFn: () => call("testNotificationChannel", { id }),
    onSuccess: async (message) => {
      // Responses of running requests would not include the message.
      await queryClient.cancelQueries({ queryKey: ["listNotificationChannels"] });
      showMessage(message);
      setSentId(message.id);
    },
    onError: (error) => toast.failure(`Couldn't send a test to ${name}.`, error),
    onSettled: () => void invalidate("listNotificationChannels"),
  });
  const isDone = last !== null && last.id === sentId && !isInTransit(last.status);
  return (
    <>
      <Button
        size="sm"
        command={{ label: `Send test to ${name}`, name: "Send test" }}
        isPending={isPending}
        disabledReason={testRefusal(channel)}
        onClick={() => send()}
      >
        <Icon name="send" />
        Send test
      </Button>
      <output className="sr-only">{isDone && outcomeText(name, last)}</output>
    </>
  );
}
