import { useStore } from "../store.ts";
import { Toast } from "../ui/Toast.tsx";
import { dismissToast, type ToastMessage, toasts } from "./toasts.ts";

function ToastList({ messages }: { messages: readonly ToastMessage[] }) {
  return messages.map(({ id, tone, text, detail, requestId, action }) => (
    <div key={id} className="pointer-events-auto w-full">
      <Toast
        tone={tone}
        text={text}
        detail={detail}
        requestId={requestId}
        action={
          action && {
            label: action.label,
            run: () => {
              dismissToast(id);
              action.run();
            },
          }
        }
        onDismiss={() => dismissToast(id)}
      />
    </div>
  ));
}

/** Both regions are always there: a screen reader hears only what comes into a region that it knows. */
export function ToastHost() {
  const messages = useStore(toasts);
  return (
    <div className="pointer-events-none fixed end-4 bottom-4 in-[:has([data-outage])]:bottom-14 in-[:has([data-selection-bar])]:bottom-20 start-4 z-20 ms-auto grid max-w-sm gap-2">
      <div role="alert" className="grid gap-2">
        <ToastList messages={messages.filter(({ tone }) => tone === "bad")} />
      </div>
      {/* oxlint-disable-next-line jsx-a11y/prefer-tag-over-role -- an <output> holds no blocks */}
      <div role="status" className="grid gap-2">
        <ToastList messages={messages.filter(({ tone }) => tone === "good")} />
      </div>
    </div>
  );
}
