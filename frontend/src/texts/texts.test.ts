/** What people read stands in the catalogue, so that it can be translated. */
import { globSync, readFileSync } from "node:fs";
import ts from "typescript";
import { describe, expect, it } from "vitest";

const SRC = new URL("../", import.meta.url).pathname;
const OTHERS =
  /^texts\/|^app\/keys\.tsx$|\.test\.ts$|^api\/schema\.ts$|^screens\/search\/world\.ts$/;

/** Attributes that people read, whatever stands in them. */
const SHOWN = new Set(
  "label title placeholder hint alt about what aria-label aria-roledescription".split(" "),
);
/** Attributes and properties that machines read. */
const HIDDEN = new Set(
  "className icon look tone type role id to href d key keys path rel".split(" "),
);
/** The same, where a property is called like an attribute that people read. */
const HIDDEN_PROPERTIES = new Set(["about", "font", "gridTemplateColumns"]);
/** Values of the server, browsers, classes of style sheets, and a rule's name, which is data. */
const NAMES = new Set([
  ..."New Selected Queued Paused Error Cancelled".split(" "),
  ..."Firefox Chrome Safari Edge Opera Edg Mac".split(" "),
  ...["number right", "side …", "(prefers-color-scheme: dark)", "Automatic: …"],
]);
const COMPARED = new Set([
  ts.SyntaxKind.EqualsEqualsEqualsToken,
  ts.SyntaxKind.ExclamationEqualsEqualsToken,
  ts.SyntaxKind.InKeyword,
]);

const isText = (node: ts.Node): node is ts.StringLiteralLike | ts.TemplateExpression =>
  ts.isStringLiteralLike(node) || ts.isTemplateExpression(node);

/** A template without what is put into it. */
const writtenIn = (node: ts.StringLiteralLike | ts.TemplateExpression): string =>
  ts.isTemplateExpression(node)
    ? [node.head, ...node.templateSpans.map(({ literal }) => literal)]
        .map(({ text }) => text)
        .join("…")
    : node.text;

const hasWord = (text: string): boolean => /\p{L}{2}/u.test(text);

/** `Retry-After` and `ApiError` are names. */
const isName = (text: string): boolean =>
  NAMES.has(text) || /^\p{Lu}\p{Ll}+(-\p{Lu}\p{Ll}+|\p{Lu}\p{Ll}+)+$/u.test(text);

/** A capital letter at the beginning, two words beside each other, or a word beside a value. */
const isProse = (text: string): boolean =>
  !isName(text) && /^\p{Lu}\p{Ll}|\p{L}[,.:;]? \p{L}|\p{L}{2} …|… \p{L}{2}/u.test(text);

/** What decides who reads a literal: past parentheses, choices, lists and templates. */
function placeOf(node: ts.Node): ts.Node {
  let place = node.parent;
  while (
    ts.isParenthesizedExpression(place) ||
    ts.isConditionalExpression(place) ||
    ts.isArrayLiteralExpression(place) ||
    ts.isTemplateSpan(place) ||
    ts.isTemplateExpression(place) ||
    ts.isJsxExpression(place) ||
    (ts.isBinaryExpression(place) && !COMPARED.has(place.operatorToken.kind))
  ) {
    place = place.parent;
  }
  return place;
}

function isShown(node: ts.StringLiteralLike | ts.TemplateExpression): boolean {
  const text = writtenIn(node);
  const place = placeOf(node);
  if (ts.isJsxAttribute(place)) {
    const name = place.name.getText();
    return SHOWN.has(name) ? hasWord(text) : !HIDDEN.has(name) && isProse(text);
  }
  if (ts.isJsxElement(place) || ts.isJsxFragment(place)) return hasWord(text);
  if (ts.isPropertyAssignment(place)) {
    const name = place.name.getText();
    const isHidden = place.name === node || HIDDEN.has(name) || HIDDEN_PROPERTIES.has(name);
    return !isHidden && isProse(text);
  }
  const isReference =
    ts.isImportDeclaration(place) ||
    ts.isExportDeclaration(place) ||
    ts.isLiteralTypeNode(place) ||
    ts.isCaseClause(place) ||
    ts.isElementAccessExpression(place) ||
    ts.isBinaryExpression(place);
  return !isReference && isProse(text);
}

/** Everything in a file that people read, with its line. */
function shownIn(name: string, source: string): string[] {
  const file = ts.createSourceFile(name, source, ts.ScriptTarget.Latest, true);
  const found: string[] = [];
  function look(node: ts.Node): void {
    const text = ts.isJsxText(node)
      ? node.text
      : isText(node) && isShown(node)
        ? writtenIn(node)
        : "";
    if (hasWord(text)) {
      const { line } = file.getLineAndCharacterOfPosition(node.getStart());
      found.push(`${name}:${line + 1}: ${text.trim()}`);
    }
    ts.forEachChild(node, look);
  }
  look(file);
  return found;
}

describe("what people read", () => {
  it("stands in no component", () => {
    const files = globSync("**/*.{ts,tsx}", { cwd: SRC }).filter((name) => !OTHERS.test(name));
    const found = files.flatMap((name) => shownIn(name, readFileSync(SRC + name, "utf8")));

    expect(files.length).toBeGreaterThan(80);
    expect(found).toEqual([]);
  });

  /* biome-ignore-start lint/suspicious/noTemplateCurlyInString: what is looked at is source. */
  it.each([
    "<p>Saved</p>",
    "<p>{isNew ? 'new' : name}</p>",
    "<Input label='name' />",
    "<button aria-label={`Select ${name}`} />",
    "toast({ text: `${count} contacts marked.` })",
    "const TITLES = { open: 'To notify' }",
    "const note = `${count} new`",
  ])("is found in %s", (source) => {
    expect(shownIn("made-up.tsx", source)).toHaveLength(1);
  });

  /* biome-ignore-end lint/suspicious/noTemplateCurlyInString: what is looked at is source. */

  it.each([
    "<p className='small soft'>{name}</p>",
    "<p>{count} · {texts.list.waiting}</p>",
    "if (event.key === 'Enter') go('/settings/people')",
    "import { Panel } from 'Panel'",
  ])("is not %s", (source) => {
    expect(shownIn("made-up.tsx", source)).toEqual([]);
  });
});
