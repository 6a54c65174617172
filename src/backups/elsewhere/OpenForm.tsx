// Asks for what opens an encrypted backup before its content can be listed.
import { type FormEvent, useEffect, useRef } from "react";
import { ApiError, describeError } from "../../api/api-error.ts";
import { Button } from "../../ui/Button.tsx";
import { Notice } from "../../ui/Notice.tsx";
import { type createIdentity, IdentityFields } from "../IdentityFields.tsx";

type OpenFormProps = {
  identity: ReturnType<typeof createIdentity>;
  onOpen: () => void;
  isOpening: boolean;
  error: Error | null;
};

export function OpenForm({ identity, onOpen, isOpening, error }: OpenFormProps) {
  const form = useRef<HTMLFormElement>(null);
  const atField =
    error instanceof ApiError && ("identity" in error.fields || "passphrase" in error.fields)
      ? error
      : null;
  useEffect(() => {
    // Anew at each refusal.
    if (atField !== null) form.current?.querySelector<HTMLElement>("[aria-invalid=true]")?.focus();
  }, [atField]);
  const open = (event: FormEvent) => {
    event.preventDefault();
    onOpen();
  };
  return (
    <form ref={form} onSubmit={open} className="grid max-w-2xl gap-4" aria-label="Open the backup">
      <IdentityFields given={identity} />
      {error !== null && atField === null && (
        <Notice tone="bad" isAlert>
          {describeError(error).message}
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
