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
import { Button } from "../ui/Button.tsx";
import { Icon } from "../ui/Icon.tsx";
import { testRefusal } from "./channel-facts.ts";
import { showMessage } from "./queries.ts";

/** For the ears what the row shows to the eyes: what became of the test that was sent here. */
const outcomeText = (name: string, { status, answer }: ChannelMessage) =>
  `Test message to ${name}: ${status}. ${answer ?? ""}`;

export function SendTest({ channel }: { channel: NotificationChannel }) {
  const { id, name, last_message: last } = channel;
  const [sentId, setSentId] = useState<number>();
  const { mutate: send, isPending } = useMutation({
    mutationFn: () => call("testNotificationChannel", { id }),
    onSuccess: async (message) => {
      // A list that is on its way does not have it yet.
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
