// The identity that decrypts a backup. It is sent with one request and stored nowhere, including the browser.
import { ApiError } from "../api/api-error.ts";
import { type Store, createStore, useStore } from "../store.ts";
import { Field } from "../ui/form/Field.tsx";
import { Input } from "../ui/form/Input.tsx";
import { controlClass } from "../ui/form/control-class.ts";

type Identity = {
  identity: string;
  passphrase: string;
  /** Errors of the service by field. */
  errors: { identity?: string | undefined; passphrase?: string | undefined };
};

export const createIdentity = (): Store<Identity> =>
  createStore<Identity>({ identity: "", passphrase: "", errors: {} });

/** Whether it is encrypted by `age -p`. */
const isProtected = (identity: string): boolean =>
  identity.trimStart().startsWith("-----BEGIN AGE ENCRYPTED FILE-----");

/** Returns the fields of a request body. */
export const identityBody = ({ identity, passphrase }: Identity) => ({
  identity,
  ...(isProtected(identity) && { passphrase }),
});

/** Whether the fields show an error. */
export const isAtIdentity = (error: unknown): boolean =>
  error instanceof ApiError && ("identity" in error.fields || "passphrase" in error.fields);

/** Assigns an error of the service to the fields. */
export function noteRefusal(given: Store<Identity>, error: unknown): void {
  const { identity, passphrase } = error instanceof ApiError ? error.fields : {};
  given.set({
    ...given.get(),
    errors: { identity: identity?.[0], passphrase: passphrase?.[0] },
  });
}

export function IdentityFields({ given }: { given: Store<Identity> }) {
  const { identity, passphrase, errors } = useStore(given);
  const change = (next: Partial<Identity>) => given.set({ ...given.get(), ...next, errors: {} });
  return (
    <div className="grid gap-3">
      <Field
        label="Identity"
        error={errors.identity}
        help="The backup is encrypted. Paste a private key of age, or choose your identity file. The key is used once and never stored."
      >
        {(aria) => (
          <textarea
            {...aria}
            value={identity}
            rows={3}
            autoComplete="off"
            autoCapitalize="none"
            spellCheck={false}
            placeholder="AGE-SECRET-KEY-1…"
            onChange={({ target }) => change({ identity: target.value })}
            className={`${controlClass} h-auto py-2 font-mono text-sm`}
          />
        )}
      </Field>
      <Field label="Identity file">
        {(aria) => (
          <input
            {...aria}
            type="file"
            className="w-full text-sm file:me-3 file:rounded-md file:border file:border-line file:bg-transparent file:px-3 file:py-1.5 file:text-ink"
            onChange={({ target }) =>
              void target.files?.[0]?.text().then((text) => change({ identity: text }))
            }
          />
        )}
      </Field>
      {isProtected(identity) && (
        <Field label="Passphrase" error={errors.passphrase}>
          {(aria) => (
            <Input
              {...aria}
              type="password"
              autoComplete="off"
              value={passphrase}
              onChange={({ target }) => change({ passphrase: target.value })}
            />
          )}
        </Field>
      )}
    </div>
  );
}
