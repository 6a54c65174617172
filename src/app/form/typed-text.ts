import { useState } from "react";

/**
 * The text of a field that is submitted with Enter. It follows the URL, so that Back shows the text in effect. A `key`
 * would replace the field, which would lose the focus.
 * @param sent the text in the URL
 */
export function useTypedText(sent: string): readonly [string, (text: string) => void] {
  const [typed, setTyped] = useState({ sent, text: sent });
  if (typed.sent !== sent) setTyped({ sent, text: sent });
  return [typed.sent === sent ? typed.text : sent, (text) => setTyped({ sent, text })];
}
