import type { ReactNode } from "react";
import { SecretPanel } from "../app/SecretPanel.tsx";
import { LazySnippets } from "./LazySnippets.tsx";

type WebhookSecretProps = {
  title: string;
  secret: string;
  /** The next steps, as buttons. */
  children: (isKept: boolean) => ReactNode;
};

/** A webhook's secret, which is shown once, and how a receiver uses it. */
export function WebhookSecret(props: WebhookSecretProps) {
  return (
    <SecretPanel
      {...props}
      noun="secret"
      purpose="Quarterdeck signs every request with this secret. Configure it in the receiver to verify requests. The secret can't be shown again."
      loss="Without the secret, the receiver can't verify requests."
      more={<LazySnippets />}
    />
  );
}
