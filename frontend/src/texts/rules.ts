/** Rules that decide on new records. */
import { plural } from "@/kit/format";

export const texts = {
  ruleForm: {
    edit: (name: string) => `Edit "${name}"`,
    newRule: "New rule",
    goodDentistsWithAWebsite: "Good dentists with a website",
    appliesToNew: "Applies to new",
    setsThemTo: "Sets them to",
    bestPagesOfEachSiteOnly: "Best pages of each site only, within its budget",
    ifAllConditionsAreMet: "If all conditions are met",
    addCondition: "Add condition",
    or: "Or",
    field: "Field",
    comparison: "Comparison",
    removeCondition: "Remove condition",
    countingMatches: "Counting matches…",
    itWouldDecideOnNow: (count: string) => `It would decide on ${count} now.`,
  },
  screen: {
    ruleIsSavedFor: (name: string, kind: string) => `The rule "${name}" is saved for ${kind}.`,
    decidedOn: (name: string, changed: number) =>
      `"${name}" decided on ${plural(changed, "record")}.`,
    isRunning: (name: string) => `"${name}" is running.`,
    rulesDecisionWasUndone: "The rule's decision was undone.",
    rules: "Rules",
    rulesDecideOnNewRecordsAutomatically:
      "Rules decide on new records automatically and never overrule a person. Their decisions are marked and can be undone.",
    newRule: "New rule",
    noRulesYet: "No rules yet",
    createARule: "Create a rule",
    withoutRules:
      "Without rules, every record waits for a person. A good first rule: select places with a rating of at least 4 and a website.",
    rule: (name: string) => `Rule ${name}`,
    allOfThem: "all of them",
    bestPagesOnly: "; best pages of each site only, within its budget",
    decided: "decided",
    never: "never",
    actionsFor: (name: string) => `Actions for ${name}`,
    showItsDecisions: "Show its decisions",
    runNow: "Run now",
    edit: "Edit",
    deleteTheRule: (name: string) => `Delete the rule "${name}"?`,
    itsDecisionsStay: "Its decisions stay, and can still be undone.",
    decisionsOf: (name: string) => `Decisions of "${name}"`,
    nothingYet: "Nothing yet.",
    records: (changed: number) => plural(changed, "record"),
    queued: (queued: string) => `${queued} queued`,
    undone: "undone",
  },
};
