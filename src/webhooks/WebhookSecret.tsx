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
      purpose="Every request to the webhook is signed with it. Give it to the receiver, which can then tell genuine requests from others. Nobody can look it up later, not even here."
      loss="Without it a receiver verifies nothing."
      more={<LazySnippets />}
    />
  );
}
