import { type FocusEvent, type KeyboardEvent, useEffect, useRef, useState } from "react";
import { useStore } from "../../store.ts";
import { openDialogs } from "../../ui/dialog/open-while-mounted.ts";
import { Toast } from "../../ui/feedback/Toast.tsx";
import { dismissToast, type ToastMessage, toasts } from "../toasts.ts";

/** Long enough to read the message, or to decide about its action. */
const shownMs = { good: 5_000, bad: 15_000, offered: 10_000 };

/** @param isHeld whether it is pointed at or focused, so that it stays */
function TimedToast({ message, isHeld }: { message: ToastMessage; isHeld: boolean }) {
  const { id, tone, text, detail, requestId, action } = message;
  // A toast that replaces another has its own time.
  useEffect(() => {
    if (isHeld || message.tone === "busy") return undefined;
    const ms = message.action === undefined ? shownMs[message.tone] : shownMs.offered;
    const timer = setTimeout(() => dismissToast(message.id), ms);
    return () => clearTimeout(timer);
  }, [message, isHeld]);
  const dismissByKey = (event: KeyboardEvent) => {
    if (event.key !== "Escape") return;
    event.preventDefault();
    dismissToast(id);
  };
  return (
    // oxlint-disable-next-line jsx-a11y/no-static-element-interactions -- for the buttons in it: Escape is the Dismiss of the one that has the focus
    <div className="pointer-events-auto w-full" onKeyDown={dismissByKey}>
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
  );
}

/** Both regions always exist: a screen reader announces only what is added to an existing region. */
export function ToastHost() {
  const messages = useStore(toasts);
  const [isPointed, setIsPointed] = useState(false);
  const [hasFocus, setHasFocus] = useState(false);
  // Under a dialog, toasts are dimmed, and can neither be heard nor reached.
  const isCovered = useStore(openDialogs) > 0;
  const isHeld = isPointed || hasFocus;
  const before = useRef<Element | null>(null);
  const isBusy = messages.length > 0;
  // An element that is removed under the pointer sends no event.
  if (isHeld && !isBusy) {
    setIsPointed(false);
    setHasFocus(false);
  }
  useEffect(() => {
    if (isBusy) return;
    // The last toast was removed with the focus, which is restored.
    const { current } = before;
    before.current = null;
    if (current instanceof HTMLElement && document.activeElement === document.body) current.focus();
  }, [isBusy]);
  const enter = ({ relatedTarget, currentTarget }: FocusEvent) => {
    if (!currentTarget.contains(relatedTarget)) before.current = relatedTarget;
    setHasFocus(true);
  };
  const leave = ({ relatedTarget, currentTarget }: FocusEvent) => {
    if (!currentTarget.contains(relatedTarget)) setHasFocus(false);
  };
  const listOf = (isBad: boolean) =>
    messages
      .filter(({ tone }) => (tone === "bad") === isBad)
      .map((message) => (
        <TimedToast key={message.id} message={message} isHeld={isHeld || isCovered} />
      ));
  return (
    // Above the line of the service's state, which would otherwise move toasts from under the pointer.
    // oxlint-disable-next-line jsx-a11y/no-static-element-interactions -- nothing to press: messages wait while somebody is at them
    <div
      onPointerEnter={() => setIsPointed(true)}
      onPointerLeave={() => setIsPointed(false)}
      onFocus={enter}
      onBlur={leave}
      className="pointer-events-none fixed end-4 bottom-14 in-[:has([data-selection-bar])]:bottom-20 start-4 z-20 ms-auto grid max-w-sm gap-2"
    >
      <div role="alert" aria-atomic={false} className="grid gap-2">
        {listOf(true)}
      </div>
      {/* oxlint-disable-next-line jsx-a11y/prefer-tag-over-role -- an <output> holds no blocks */}
      <div role="status" aria-atomic={false} className="grid gap-2">
        {listOf(false)}
      </div>
    </div>
  );
}
