/** `Object.keys` with the type of the keys, for an object that has exactly those of its type. */
export const keysOf = <Key extends string>(object: Readonly<Record<Key, unknown>>): Key[] =>
  // `Object.keys` promises strings only, because a value may have more keys than its type says.
  Object.keys(object) as Key[];
