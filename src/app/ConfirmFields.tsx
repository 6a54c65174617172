// Fields of a confirmation: a choice of what happens to a part, and a name that has to be typed.
import { useState } from "react";
import { ChoiceList } from "../ui/form/ChoiceList.tsx";
import { Field } from "../ui/form/Field.tsx";
import { Input } from "../ui/form/Input.tsx";
import type { Question } from "./confirm.ts";

type Asked = Pick<Question, "typed" | "choices">;
type Given = { name: string; choice: string };

/** The values entered so far, and why they do not suffice yet. */
type Answer = Given & { refusal: string | undefined };

export function useAnswer(asked: Asked | null): [Answer, (change: Partial<Given>) => void] {
  const { choices } = asked ?? {};
  const [given, setGiven] = useState<Given>({
    name: "",
    choice: choices?.options[0]?.value ?? "",
  });
  const typed = wordOf(asked, given.choice);
  const isTyped = typed === undefined || asRead(given.name) === asRead(typed);
  const refusal = isTyped ? undefined : `Type “${typed}” first.`;
  return [{ ...given, refusal }, (change) => setGiven({ ...given, ...change })];
}

/**
 * Normalizes a name as people read it: repeated spaces look like one, composed and decomposed accents look the same,
 * and format characters are invisible.
 */
const asRead = (name: string): string =>
  name
    .normalize()
    .replaceAll(/\p{Cf}/gu, "")
    .replaceAll(/\s+/g, " ")
    .trim();

type ConfirmFieldsProps = Asked & {
  answer: Answer;
  onAnswer: (change: Partial<Given>) => void;
  /** Enter was pressed in the field, and its text is the required one. */
  onSubmit: () => void;
};

const wordOf = (asked: Asked | null, choice: string): string | undefined =>
  typeof asked?.typed === "function" ? asked.typed(choice) : asked?.typed;

export function ConfirmFields({
  choices,
  answer,
  onAnswer,
  onSubmit,
  ...asked
}: ConfirmFieldsProps) {
  const typed = wordOf(asked, answer.choice);
  return (
    <>
      {choices !== undefined && (
        <ChoiceList
          {...choices}
          value={answer.choice}
          onChange={(choice) => onAnswer({ choice })}
        />
      )}
      {typed !== undefined && (
        <form
          onSubmit={(event) => {
            event.preventDefault();
            if (answer.refusal === undefined) onSubmit();
          }}
        >
          <Field label={`Type “${typed}” to confirm`}>
            {(aria) => (
              <Input
                {...aria}
                autoComplete="off"
                value={answer.name}
                onChange={({ target }) => onAnswer({ name: target.value })}
              />
            )}
          </Field>
        </form>
      )}
    </>
  );
}
