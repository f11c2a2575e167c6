/** Import: lists that somebody brings. */
import { plural } from "@/kit/format";

export const texts = {
  mapping: {
    pastedList: "Pasted list",
    readingTheColumns: "Reading the columns",
    columnsOfTheFile: "Columns of the file",
    column: "Column",
    columnNumber: (place: number) => `Column ${place}`,
    firstValues: "First values",
    importedAs: "Imported as",
    importAs: (heading: string) => `Import ${heading} as`,
    keepAsItIs: "Keep as extra column",
    newColumn: "New column of your own",
    yourColumn: (title: string) => `Your column: ${title}`,
    chooseTheColumnWithTheName: "Choose the column with the name or the website.",
    andDuplicates: (duplicates: number) => `, ${plural(duplicates, "duplicate")}`,
    ofTheFirst: (rows: number, places: number, duplicates: string, problems: number) =>
      `Of the first ${plural(rows, "row")}: ${plural(places, "business", "businesses")}${duplicates}, ${plural(problems, "warning")}.`,
    columnInWords: (place: number) => `column ${place}`,
  },
  lineProblems: {
    cause: (lines: number, what: string, isLeftOut: boolean) =>
      `${what} (${plural(lines, "line")}${isLeftOut ? ", left out" : ""})`,
    line: (line: string, value: string | null) =>
      value ? `Line ${line}: ${value}` : `Line ${line}`,
    more: (lines: number) => plural(lines, "more line"),
  },
  differences: {
    title: "Changes to known companies",
    found: (companies: string, count: number) =>
      `In these rows: ${companies} you know, ${plural(count, "value differs", "values differ")}. The bold value is shown after the import.`,
    replaceKnownValues: "Replace known values with those of the file",
    company: "Known company",
    unnamed: "Unnamed company",
    field: "Field",
    known: "Known",
    inTheFile: "In the file",
    isShown: "(shown after the import)",
    andMore: (count: string) => `and ${count} more`,
  },
  batchPage: {
    allLines: "All lines",
    waiting: "Waiting",
    running: "Running",
    done: "Done",
    skipped: "Skipped",
    refused: "Refused",
    countedLines: (changed: number) => plural(changed, "line"),
    allBatches: "All imports",
    retryFailedLines: "Retry failed lines",
    pause: "Pause",
    lines: "Lines",
    showLines: "Show lines",
    line: "Line",
    submitted: "As written",
    result: "Result",
    moreLines: "More lines",
    cancelThisBatch: "Cancel this import?",
    linesThatHaveNotStarted:
      "Lines that have not started are removed from the queue. Finished lines stay.",
    paused: "Paused",
    resumed: "Resumed",
    cancelled: "Cancelled",
    queuedForRetry: "Queued for retry",
    cancelTheBatch: "Cancel the import",
  },
  submit: {
    accepted: (accepted: number) => `${plural(accepted, "line")} accepted.`,
    alreadyInYourList: (duplicates: number, refusedCount: number) =>
      `${duplicates} already in your list, ${refusedCount} rejected.`,
    submitAList: "Import a list",
    submitFile: (name: string) => `Import ${name}`,
    submit: (lines: number) => `Import ${plural(lines, "line")}`,
    typeOfList: "Type of list",
    businesses: "Businesses",
    nameOptional: "Name (optional)",
    chooseAnother: "Choose another",
    rowsTheHeadingsFirst: "Rows, the headings first",
    onePerLine: "One per line",
    orDropAFileHere: "Or drop a file here: CSV or text of any size, or an Excel workbook (xlsx).",
  },
  screen: {
    submitAList: "Import a list",
    batches: "Import",
    yourOwnListsOfBusinesses:
      "Your own lists of businesses, domains, sitemaps or pages. Every line gets a result.",
    noBatchesYet: "Nothing imported yet",
    pasteAListOfDomains:
      "Paste a list of domains, or drop a file. Lines already in your list are marked.",
    status: "Status",
    progress: "Progress",
    lines: "Lines",
    refused: "Refused",
    submitted: "Imported",
    ofDone: (done: string, total: string) => `${done} of ${total} done`,
  },
};
