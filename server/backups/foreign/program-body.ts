// Finds the end of the body of a trigger, routine or event of MySQL or MariaDB. A client sends everything up to the delimiter, and the
// server runs each statement of that, so that statements after the body would run as well.

const name = "(?:`(?:[^`]|``)*`|[^\\s.`(,;]+)";
const qualified = `${name}(?: ?\\. ?${name})?`;
const traits =
  "(?: ?(?:COMMENT ''|LANGUAGE SQL|(?:NOT )?DETERMINISTIC|(?:CONTAINS|NO) SQL|(?:READS|MODIFIES) SQL DATA|SQL SECURITY (?:DEFINER|INVOKER)))*";
const returns = `RETURNS \\w+(?: ?\\(\\))?(?: (?:UNSIGNED|SIGNED|ZEROFILL|PRECISION|VARYING))*(?: (?:CHARSET|CHARACTER SET) ?\\w+)?(?: COLLATE ?\\w+)?`;
const change = "(?:INSERT|UPDATE|DELETE)";
const headers = [
  `PROCEDURE(?: IF NOT EXISTS)? ${qualified} ?\\(\\)${traits}`,
  `FUNCTION(?: IF NOT EXISTS)? ${qualified} ?\\(\\) ?${returns}${traits}`,
  `TRIGGER(?: IF NOT EXISTS)? ${qualified} (?:BEFORE|AFTER) ${change}(?: OR ${change})* ON ${qualified} FOR EACH ROW(?: (?:FOLLOWS|PRECEDES) ${name})?`,
  `EVENT(?: IF NOT EXISTS)? ${qualified} ON SCHEDULE (?:(?! DO\\b).)* DO`,
];
const beginning = "^CREATE (?:OR REPLACE )?(?:AGGREGATE )?(?:DEFINER ?= ?\\S+ )?(?:AGGREGATE )?";
const isProgram = new RegExp(`${beginning}$`, "i");
/** Everything before a body. */
const isHeader = new RegExp(`${beginning}(?:${headers.join("|")}) ?$`, "i");
/** Words that may follow where a header could end, and that begin no statement. */
const ofHeaders = new Set(
  "COMMENT LANGUAGE NOT DETERMINISTIC CONTAINS NO READS MODIFIES SQL UNSIGNED SIGNED ZEROFILL PRECISION VARYING CHARSET CHARACTER COLLATE FOLLOWS PRECEDES OR".split(
    " ",
  ),
);
const kinds = new Set(["PROCEDURE", "FUNCTION", "TRIGGER", "EVENT"]);
/** After these words, END is a name. */
const beforeValues = new Set([
  "CASE",
  "WHEN",
  "THEN",
  "ELSE",
  "AND",
  "OR",
  "XOR",
  "NOT",
  "IN",
  "IS",
  "LIKE",
]);

type Block = {
  is: "BEGIN" | "IF" | "CASE" | "LOOP" | "WHILE" | "REPEAT" | "FOR" | "expression";
  /** Whether its condition is being read, before its statements. */
  isOpen: boolean;
};
/** Position in `DECLARE … HANDLER FOR condition, condition statement`. */
type Handler = "none" | "declared" | "handler" | "condition" | "after condition";

export function createProgramBody() {
  let part: "other" | "header" | "body" | "ended" = "other";
  let isUnclear = false;
  let blocks: Block[] = [];
  let isAtStart = false;
  /** Whether END was read; the next word may name the kind of block. */
  let isEnding = false;
  let mayBeLabel = false;
  let handler: Handler = "none";
  /** The previous word, or a character that represents another token. */
  let before = "";

  const top = () => blocks.at(-1);

  function close(is: Block["is"]): void {
    isEnding = false;
    if (top()?.is === is) blocks.pop();
    else isUnclear = true;
  }
  /** Handles a token that is no word: an END before it closes a BEGIN block. */
  function settle(): void {
    if (isEnding) close("BEGIN");
    mayBeLabel = false;
    if (part === "ended") isUnclear = true;
  }
  const open = (is: Block["is"], isOpen: boolean): void => {
    blocks.push({ is, isOpen });
    isAtStart = !isOpen && is !== "expression";
  };

  /** Handles the first word of a statement. */
  function start(word: string): void {
    isAtStart = false;
    switch (word) {
      case "BEGIN":
      case "LOOP":
      case "REPEAT":
        return open(word, false);
      case "IF":
      case "CASE":
      case "WHILE":
      case "FOR":
        return open(word, true);
      case "END":
        isEnding = true;
        return;
      case "ELSE":
        isAtStart = true;
        return;
      case "DECLARE":
        handler = "declared";
        return;
      case "ELSEIF":
      case "WHEN":
      case "UNTIL": {
        const block = top();
        if (block?.is === { ELSEIF: "IF", WHEN: "CASE", UNTIL: "REPEAT" }[word])
          block.isOpen = true;
        else isUnclear = true;
        return;
      }
      default:
        mayBeLabel = true;
    }
  }

  function within(word: string): void {
    const block = top();
    if (word === "CASE") open("expression", false);
    else if (block?.is === "expression") {
      if (word === "END" && !beforeValues.has(before) && /^[\w')]/.test(before)) blocks.pop();
    } else if (word === "END" && block?.is === "REPEAT" && block.isOpen) isEnding = true;
    else if (
      block?.isOpen === true &&
      (word === "THEN"
        ? block.is === "IF" || block.is === "CASE"
        : word === "DO" && block.is !== "REPEAT")
    ) {
      block.isOpen = false;
      isAtStart = true;
    }
  }

  function declared(word: string): void {
    if (handler === "declared")
      handler = word === "HANDLER" ? "handler" : word === "FOR" ? "none" : handler;
    else if (handler === "handler") handler = word === "FOR" ? "condition" : handler;
    else if (handler === "condition" && !["SQLSTATE", "VALUE", "NOT"].includes(word))
      handler = "after condition";
  }

  return {
    /** @param head of the statement, before it */
    word(word: string, head: string): void {
      const upper = word.toUpperCase();
      const isPlain = before === "." || before === "@" || before === "$";
      if (part === "other" && kinds.has(upper) && isProgram.test(`${head.trimEnd()} `))
        part = "header";
      else if (part === "header" && !ofHeaders.has(upper) && isHeader.test(head.trimEnd())) {
        part = "body";
        start(upper);
      } else if (part === "ended") isUnclear = true;
      else if (part === "body") {
        const isKind = ["IF", "CASE", "LOOP", "WHILE", "REPEAT", "FOR"].includes(upper);
        mayBeLabel = false;
        // `isKind` means that the word is a kind of block.
        if (isEnding && !isPlain) close(isKind ? (upper as Block["is"]) : "BEGIN");
        else if (handler === "after condition" && !isPlain) {
          handler = "none";
          start(upper);
        } else if (isAtStart) start(upper);
        else if (handler !== "none") declared(upper);
        else if (!isPlain) within(upper);
      }
      before = upper;
    },

    /** Handles a quoted name. */
    name(head: string): void {
      const isFirst = isAtStart || (part === "header" && isHeader.test(head.trimEnd()));
      if (part === "header" && isFirst) part = "body";
      settle();
      if (part === "body") {
        mayBeLabel = isFirst;
        if (handler === "condition") handler = "after condition";
        isAtStart = false;
      }
      before = "'";
    },

    text(): void {
      settle();
      if (part === "body" && handler === "condition") handler = "after condition";
      isAtStart = false;
      before = "'";
    },

    /** Handles an expression in parentheses, whose content is ignored. */
    parentheses(): void {
      settle();
      isAtStart = false;
      before = ")";
    },

    symbol(character: string): void {
      const isLabel = mayBeLabel && character === ":";
      settle();
      if (part === "body" && handler === "after condition" && character === ",")
        handler = "condition";
      if (part !== "other" && character === ";") {
        const block = top();
        if (block === undefined) part = "ended";
        else if (block.isOpen || block.is === "expression") isUnclear = true;
        handler = "none";
        isAtStart = true;
      } else isAtStart = part === "body" && isLabel;
      before = character;
    },

    /** Handles a comment whose content only some servers run. */
    executed(isOpening: boolean): void {
      if (part !== "body" && part !== "ended") return;
      if (isEnding) close("BEGIN");
      if (isOpening || blocks.length > 0) isUnclear = true;
    },

    refuse: (): void => void (isUnclear = true),

    /** Ends the statement. @returns whether something follows the body of a program, or its end is unclear */
    end(): boolean {
      if (isEnding) close("BEGIN");
      const hasMore = part !== "other" && (isUnclear || blocks.length > 0);
      part = "other";
      isUnclear = false;
      blocks = [];
      isAtStart = false;
      mayBeLabel = false;
      handler = "none";
      before = "";
      return hasMore;
    },
  };
}
