// Asks for the identity of an encrypted backup before its contents can be listed.
import type { FormEvent } from "react";
import { ErrorText } from "../../app/ErrorText.tsx";
import { Button } from "../../ui/button/Button.tsx";
import { useInvalidFocus } from "../../ui/focus/focus-invalid.ts";
import { Notice } from "../../ui/feedback/Notice.tsx";
import { type createIdentity, IdentityFields, isAtIdentity } from "../IdentityFields.tsx";

type OpenFormProps = {
  identity: ReturnType<typeof createIdentity>;
  onOpen: () => void;
  isOpening: boolean;
  error: Error | null;
};

export function OpenForm({ identity, onOpen, isOpening, error }: OpenFormProps) {
  const isAtField = isAtIdentity(error);
  const form = useInvalidFocus<HTMLFormElement>(isAtField ? error : null);
  const open = (event: FormEvent) => {
    event.preventDefault();
    onOpen();
  };
  return (
    <form ref={form} onSubmit={open} className="grid max-w-2xl gap-4" aria-label="Open the backup">
      <IdentityFields given={identity} />
      {error !== null && !isAtField && (
        <Notice tone="bad" isAlert>
          <ErrorText error={error} />
        </Notice>
      )}
      <div>
        <Button type="submit" variant="primary" isPending={isOpening} isChange={false}>
          {isOpening ? "Opening…" : "Open"}
        </Button>
      </div>
    </form>
  );
}
