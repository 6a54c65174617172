import { generateX25519Identity, identityToRecipient } from "age-encryption";
import { expect, test } from "vitest";
import { hasRecipientSum, recipientForm } from "./age-recipient.ts";

const characters = "qpzry9x8gf2tvdw0s3jn54khce6mua7l";

test("accepts public keys of age, and detects each typo in one", async () => {
  const recipient = await identityToRecipient(await generateX25519Identity());
  expect(recipient).toMatch(recipientForm);
  expect(hasRecipientSum(recipient)).toBe(true);
  const missed: string[] = [];
  for (let at = "age1".length; at < recipient.length; at++)
    for (const character of characters) {
      const slip = recipient.slice(0, at) + character + recipient.slice(at + 1);
      if (slip !== recipient && hasRecipientSum(slip)) missed.push(slip);
    }
  for (let at = "age1".length; at < recipient.length - 1; at++) {
    const [one, other] = recipient.slice(at, at + 2);
    const swapped = `${recipient.slice(0, at)}${other}${one}${recipient.slice(at + 2)}`;
    if (one !== other && hasRecipientSum(swapped)) missed.push(swapped);
  }
  expect(missed).toEqual([]);
});
