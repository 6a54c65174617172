import type { ReactNode } from "react";
import { SecretPanel } from "../app/SecretPanel.tsx";
import { LazySnippets } from "./LazySnippets.tsx";

type WebhookSecretProps = {
  title: string;
  secret: string;
  /** What comes next, as buttons. */
  children: (isKept: boolean) => ReactNode;
};

/** A webhook's secret, this once, and how its receiver uses it. */
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
