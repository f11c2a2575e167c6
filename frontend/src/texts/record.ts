/** One record beside its list. */

export const texts = {
  owner: {
    assign: "Assign",
    nobody: "Nobody",
    assignedTo: (name: string | null) => (name ? `Assigned to ${name}` : "Assign to somebody"),
  },
  timeline: {
    timeline: "Timeline",
    showAll: (count: number) => `Show all ${count}`,
    by: (who: string) => `by ${who}`,
    found: (search: string | null, isImport: boolean) =>
      search ? `${isImport ? "Imported from" : "Found by the search"} “${search}”` : "Found",
    confirmed: "Confirmed: still there as known",
    edited: (fields: readonly string[]) =>
      fields.length ? `Edited: ${fields.join(", ")}` : "Edited",
    merged: "Merged with another company",
    undone: "Undone",
    /** Nothing but what is said of them is known of who they were before. */
    changed: (fields: readonly string[]) =>
      fields.length
        ? `Changed on the website or in a source: ${fields.join(", ")}`
        : "Changed on the website or in a source",
    addressesFound: (count: number) =>
      count === 1 ? "Address found" : `${count} addresses found on the website`,
    peopleFound: (count: number) =>
      count === 1 ? "Person found" : `${count} people found on the website`,
  },
  card: {
    morePeople: (count: number) => `${count} more ${count === 1 ? "person" : "people"}`,
    moreAddresses: (count: number) => `${count} more ${count === 1 ? "address" : "addresses"}`,
    allFacts: "All facts",
    lastActivity: "last activity",
    nobodyIsNamed: "No person is known yet.",
    addressOf: (named: (string | null)[]) => `Address of ${named.filter(Boolean).join(", ")}`,
    noEmail: "No e-mail address is known yet.",
    phoneSeen: (places: readonly string[]) => `From: ${places.join(", ")}`,
  },
  verdicts: {
    title: (wrong: number) =>
      wrong ? `The map and the website: ${wrong} contradicted` : "The map and the website",
    mark: (isConfirmed: boolean, said: string | null) =>
      isConfirmed
        ? "The website says the same"
        : `The website says otherwise${said ? `: ${said}` : ""}`,
    claimed: (source: string) => `${source} says:`,
    said: "The website says:",
    words: {
      confirmed: "confirmed",
      contradicted: "contradicted",
      silent: "the website does not say",
      unreachable: "the website could not be read",
    },
  },
  siteBudget: {
    pagesChosenByRules: "Pages chosen by rules",
    pagesStored: "Pages stored",
    pagesFetched: "Pages fetched",
    hosts: "Hosts",
    queryVariantsPerPath: "Query variants per path",
    totalLengthOfAddresses: "Total length of addresses",
    dataReceived: "Data received",
    parsingTimeSeconds: "Parsing time (seconds)",
    robotsTxt: "robots.txt, all hosts",
  },
  budget: {
    limit: "Limit",
    usedUp: "(used up)",
    used: "Used",
    maximum: "Maximum",
    howMuchMayBeFetched: "How much may be fetched from this site in total.",
    changedWaitingPagesContinue: (name: string) => `${name} changed. Waiting pages continue.`,
    limitToChange: "Limit to change",
    change: "Change",
  },
  companyTools: {
    assignAndNote: "Assign and note",
    sources: "Sources",
    edit: (name: string | null) => `Edit ${name ?? "this company"}`,
    assignedTo: "Assigned to",
    someoneElseChangedThis: "Someone else changed this, too.",
    nobody: "Nobody",
    tags: "Tags",
    notes: "Notes",
    sourcesOfThisCompany: "Sources of this company",
    notThisCompany: "Not this company",
    itIsNowASeparateCompany: "It is now a separate company.",
    merged: (reasons: string) => `Merged: ${reasons}`,
    undoTheMerge: "Undo the merge",
    mergeWasUndone: "The merge was undone.",
  },
  contactTools: {
    verifyAgain: "Verify again",
    verificationIsQueued: "Verification is queued.",
    eraseThisPersonsData: "Erase this person's data",
    edit: "Edit",
    more: "More",
    deleteThisContact: "Delete this contact?",
    contactIsDeleted: "The contact is deleted.",
    itMayComeBack:
      "It may come back when its page is scanned again. To prevent that, choose Do not contact.",
    neverContact: (email: string | null) => `Never contact ${email}?`,
    deletedItWillNotBeStored: "Deleted. It will not be stored or exported again.",
    contactIsDeletedNow:
      "The contact is deleted now, from running exports too, and never stored again. Only a hash is kept, to recognise it.",
    eraseAllDataOf: (email: string | null) => `Erase all data of ${email}?`,
    allDataAboutThisPerson: "All data about this person is erased.",
    allDataAboutThisPersonIsDeleted:
      "All data about this person is deleted. This cannot be undone.",
    editContact: (email: string) => `Edit ${email}`,
    saveMyVersion: "Save my version",
    someoneElseEditedThisContactWhile:
      "Someone else edited this contact while you did. Nothing is lost: compare, then save or cancel.",
    phone: "Phone",
    tags: "Tags",
    notes: "Notes",
    erase: "Erase",
  },
  facts: {
    yes: "yes",
    no: "no",
    ms: (value: string) => `${value} ms`,
    written: (written: string) => `written ${written}`,
    closed: "closed",
    days: { mon: "Mon", tue: "Tue", wed: "Wed", thu: "Thu", fri: "Fri", sat: "Sat", sun: "Sun" },
  },
  standing: {
    decisionMaker: "Decision maker",
    because: (reason: string) => `Decision maker: ${reason}`,
    /** What a role makes of somebody. */
    ranks: {
      owner: "owner",
      executive: "top manager",
      manager: "manager",
      professional: "professional",
      staff: "staff",
    } as Record<string, string>,
    byRole: (rank: string, role: string) => `${rank}, by the role “${role}”`,
    /** What the server says in other words. */
    otherwise: {
      "the legal notice names them alone": "the only person the legal notice names",
    } as Record<string, string>,
    imported: (role: string | null, who: string | null, file: string, line: string) =>
      `${role ? `“${role}”` : "named"} in line ${line} of ${file}${who ? `, imported by ${who}` : ""}`,
  },
  people: {
    suggestion: (value: string, reason: string) =>
      `Suggestion, not an address that was found: ${value} (${reason})`,
    sharedInbox: (value: string, reason: string) => `Reached by ${value} (${reason})`,
  },
  happened: { parted: "Split", decided: "Status changed", worked: "Edited" } as Record<
    string,
    string
  >,
  inCrm: {
    since: (name: string) => `In ${name} since`,
    waits: (name: string) => `Not in ${name} yet`,
    differs: (field: string, ours: string, theirs: string) =>
      `Differs in ${field}: ${ours} here, ${theirs} there`,
  },
  pane: {
    detailsOfOne: (one: string) => `Details of one ${one}`,
    previous: "Previous (k)",
    next: "Next (j)",
    close: "Close (Esc)",
    changed: "changed",
    recordDetails: "Record details",
    details: "Details",
    overview: "Overview",
    evidence: (count: string) => `Evidence${count}`,
    history: "History",
    noEvidence: "No evidence: nothing here came from a web page.",
    nothingHasHappenedYet: "Nothing has happened yet.",
    by: (who: string) => `by ${who}`,
  },
};
