// Verifies public keys of age by their Bech32 checksum: https://github.com/bitcoin/bips/blob/master/bip-0173.mediawiki

const characters = "qpzry9x8gf2tvdw0s3jn54khce6mua7l";
const generators = [0x3b6a57b2, 0x26508e6d, 0x1ea119fa, 0x3d4233dd, 0x2a1462b3];
/** “age” expanded as Bech32 requires: the high bits of each letter, a zero, and the low bits. */
const prefix = [3, 3, 3, 0, 1, 7, 5];

/** The format of 32 bytes, whatever their values. */
export const recipientForm = /^age1[02-9ac-hj-np-z]{58}$/;

/** @param recipient in `recipientForm` */
export function hasRecipientSum(recipient: string): boolean {
  const values = Array.from(recipient.slice("age1".length), (one) => characters.indexOf(one));
  const sum = [...prefix, ...values].reduce((before, value) => {
    const shifted = ((before & 0x1ffffff) << 5) ^ value;
    return generators.reduce(
      (all, generator, bit) => ((before >> (25 + bit)) & 1 ? all ^ generator : all),
      shifted,
    );
  }, 1);
  return sum === 1;
}
