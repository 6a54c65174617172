import { useState } from "react";

/**
 * The text of a field that is sent by Enter. It follows the address, so that Back shows what is in force. The field itself
 * stays, and keeps the focus, which a key on it would lose.
 * @param sent what the address has
 */
export function useTypedText(sent: string): readonly [string, (text: string) => void] {
  const [typed, setTyped] = useState({ sent, text: sent });
  if (typed.sent !== sent) setTyped({ sent, text: sent });
  return [typed.sent === sent ? typed.text : sent, (text) => setTyped({ sent, text })];
}
