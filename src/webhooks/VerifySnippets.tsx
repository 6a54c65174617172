import { useState } from "react";
import { verifySnippets } from "../../contract/webhooks/verify-snippets.ts";
import { Select } from "../ui/form/Select.tsx";
import { TextBox } from "../ui/text/TextBox.tsx";

const snippets = verifySnippets();

/**
 * Code with which a receiver verifies the sender and the integrity of a request. Loaded on demand, because it is long.
 */
export function VerifySnippets() {
  const [language, setLanguage] = useState(snippets[0]?.language);
  const chosen = snippets.find((snippet) => snippet.language === language);
  if (chosen === undefined) return null;
  return (
    <TextBox
      title="Verify signatures"
      text={chosen.code}
      isCode
      note="The example reads the secret from the environment variable WEBHOOK_SECRET."
    >
      <Select
        aria-label="Language"
        value={language}
        onChange={({ target: { value } }) =>
          setLanguage(snippets.find((snippet) => snippet.language === value)?.language)
        }
      >
        {snippets.map(({ language: value, label }) => (
          <option key={value} value={value}>
            {label}
          </option>
        ))}
      </Select>
    </TextBox>
  );
}
