// Shows a secret that the service returns only once. Leaving the page without copying it asks first.
import { type ReactNode, useState } from "react";
import { Checkbox } from "../ui/form/Checkbox.tsx";
import { Field } from "../ui/form/Field.tsx";
import { Panel } from "../ui/page/Panel.tsx";
import { SecretBox } from "../ui/text/SecretBox.tsx";
import { LeaveGuard } from "./form/LeaveGuard.tsx";

type SecretPanelProps = {
  title: string;
  /** Name of the secret, e.g. "secret". */
  noun: string;
  /** Only in the page's state: in no cache, storage or URL. */
  secret: string;
  /** What the secret is for, and for whom. */
  purpose: string;
  /** What is not possible without it, as a sentence. */
  loss: string;
  /** The next steps, as buttons. */
  children: (isKept: boolean) => ReactNode;
  /** More content, below a line. */
  more?: ReactNode;
};

/** Asks before it is left without being copied: unlike a form, it cannot be filled in again. */
export function SecretPanel({
  title,
  noun,
  secret,
  purpose,
  loss,
  children,
  more,
}: SecretPanelProps) {
  const [isKept, setIsKept] = useState(false);
  return (
    <Panel title={title}>
      <LeaveGuard
        isDirty={!isKept}
        question={`Leave without the ${noun}?`}
        loss={`You haven't copied the ${noun}, and it can't be shown again. ${loss}`}
        stay="Stay"
        leave="Leave without it"
      />
      <div className="grid grid-cols-[minmax(0,1fr)] gap-4 px-4 py-4 max-sm:px-3">
        <p className="max-w-prose text-muted">{purpose}</p>
        <SecretBox label={noun} secret={secret} onCopied={() => setIsKept(true)} />
        <Field label={`I have stored the ${noun}`} layout="beside">
          {(aria) => (
            <Checkbox
              {...aria}
              checked={isKept}
              onChange={({ target }) => setIsKept(target.checked)}
            />
          )}
        </Field>
        <div className="flex flex-wrap gap-2">{children(isKept)}</div>
      </div>
      {more !== undefined && (
        <div className="border-t border-line px-4 py-3 max-sm:px-3">{more}</div>
      )}
    </Panel>
  );
}
