import { type ReactNode, useState } from "react";
import { Checkbox } from "../ui/Checkbox.tsx";
import { Field } from "../ui/Field.tsx";
import { Panel } from "../ui/Panel.tsx";
import { SecretBox } from "../ui/SecretBox.tsx";
import { LazySnippets } from "./LazySnippets.tsx";
import { SecretGuard } from "./SecretGuard.tsx";

type SecretPanelProps = {
  title: string;
  /** Held by the page's state and nowhere else: in no cache, no storage, no address. */
  secret: string;
  /** What comes next, as buttons. */
  children: (isKept: boolean) => ReactNode;
};

/** A webhook's secret, this once. Who leaves before it was copied is asked. */
export function SecretPanel({ title, secret, children }: SecretPanelProps) {
  const [isKept, setIsKept] = useState(false);
  return (
    <Panel title={title}>
      <SecretGuard isKept={isKept} />
      <div className="grid grid-cols-[minmax(0,1fr)] gap-4 px-4 py-4 max-sm:px-3">
        <p className="max-w-prose text-muted">
          Every request to the webhook is signed with it. Give it to the receiver, which can then
          tell genuine requests from others. Nobody can look it up later, not even here.
        </p>
        <SecretBox label="secret" secret={secret} onCopied={() => setIsKept(true)} />
        <Field label="I have stored the secret" layout="beside">
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
      <div className="border-t border-line px-4 py-3 max-sm:px-3">
        <LazySnippets />
      </div>
    </Panel>
  );
}
