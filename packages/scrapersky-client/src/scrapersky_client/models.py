"""What the API takes and answers, as types.

Made by ./check --regenerate from the description of the API.
"""

from __future__ import annotations

from typing import Any, Literal, NotRequired, TypeAlias, TypedDict


class ActionOut(TypedDict):
    """What was done to one or many records at once, by a person or by a rule."""

    changed: int
    created_at: str
    finished_at: str | None
    id: str
    is_undoable: bool
    kind: str
    matched: int | None
    queued: int
    rule_id: str | None
    rule_name: str | None
    selection: dict[str, Any]
    skipped: dict[str, int]
    status: str | None
    undone_at: str | None
    updated_at: str
    what: ActionType
    who: str | None


ActionType: TypeAlias = 'Literal["decided", "worked", "imported", "merged"]'


class AddressIn(TypedDict):
    """A postal address in its parts."""

    city: NotRequired[str | None]
    country: NotRequired[str | None]
    postal_code: NotRequired[str | None]
    state: NotRequired[str | None]
    street: NotRequired[str | None]
    text: NotRequired[str | None]


class AlertOut(TypedDict):
    """One rule that holds for one thing, or did."""

    advice: str
    ended_at: NotRequired[str | None]
    rule: str
    sent_at: NotRequired[str | None]
    since: str
    subject: str
    summary: str


class Alternative(TypedDict):
    """One field compared with one value."""

    comparison: NotRequired[Comparison]
    field: str
    value: NotRequired[str | float | bool | list[str | float | bool | None] | None]


class AnswerIn(TypedDict):
    """Whose value stands in one field of a record there."""

    answer: DifferenceAnswer
    field: str
    record_id: str


class AreaIn(TypedDict):
    """Where on Earth, in degrees: one of the three."""

    box: NotRequired[list[float] | None]
    circle: NotRequired[list[float] | None]
    polygon: NotRequired[list[list[list[float]]] | None]


class AssigneeOut(TypedDict):
    """Somebody a company may be assigned to."""

    id: str
    name: str


class AttemptOut(TypedDict):
    """One claim of an item, and what became of it."""

    claimed_at: str | None
    correlation_id: str
    due_at: str | None
    outcome: str
    settled_at: str
    tries: int
    why: str | None
    worker: str | None


class AuditOut(TypedDict):
    """One action of a person, a rule or a program."""

    action: str
    actor: str
    created_at: str
    details: dict[str, Any] | None
    id: str
    request_id: str | None
    subject: str


class BatchChanged(TypedDict):
    """A batch after a command, and how many of its items it touched."""

    batch: BatchOut
    changed: int


class BatchDetail(TypedDict):
    """A batch with some of its items."""

    batch: BatchOut
    items: list[BatchItemOut]
    next_cursor: str | None


class BatchIn(TypedDict):
    """Lines to submit: domains or URLs, with or without a scheme."""

    items: list[str]
    kind: Literal["domains", "sitemaps", "pages"]
    name: NotRequired[str | None]
    priority: NotRequired[int]


class BatchItemOut(TypedDict):
    """One submitted line, and what has become of it."""

    hint: str | None
    is_duplicate: bool
    position: int
    reason: str | None
    record_id: str | None
    record_kind: str
    state: Literal["queued", "processing", "done", "failed", "skipped", "refused"]
    submitted: str


class BatchOut(TypedDict):
    """A batch; its counts are those of its items, now."""

    cancelled_at: str | None
    created_at: str
    done: int
    failed: int
    id: str
    kind: str
    name: str | None
    paused_at: str | None
    pending: int
    refused: int
    skipped: int
    status: TaskStatus
    total: int
    working: int


class BatchSubmissionOut(TypedDict):
    """What a submission came to."""

    accepted: int
    batch_id: str
    duplicates: int
    refused: list[RefusedItemOut]
    refused_count: int


class BusinessOut(TypedDict):
    """A business made from a place; many businesses may share a domain."""

    attributes: list[Any] | dict[str, Any]
    categories: list[str]
    city: str | None
    country: str | None
    created_at: str
    created_by: str | None
    decision_maker: str | None
    domain: str | None
    domain_extraction_error: str | None
    domain_extraction_status: DomainExtractionStatus | None
    domain_id: str | None
    expires_at: str | None
    hours: list[Any] | dict[str, Any] | None
    id: str
    latitude: float | None
    links: list[str]
    longitude: float | None
    name: str | None
    phone: str | None
    place_id: str | None
    postal_code: str | None
    rating: float | None
    region: str | None
    reviews_count: int | None
    status: CurationStatus
    street: str | None
    updated_at: str
    website: str | None


class ChangeOut(TypedDict):
    """What one transaction did to one record."""

    action_id: str | None
    actor: str | None
    at: str
    details: dict[str, Any] | None
    event: Literal[
        "created",
        "changed",
        "differed",
        "digest",
        "removed",
        "merged",
        "erased",
        "suppressed",
        "finished",
    ]
    fields: list[str]
    id: str
    kind: str
    record_id: str


class ChangesOut(TypedDict):
    """Changes after a cursor, in the order in which they happened to each record."""

    changes: list[ChangeOut]
    cursor: str
    more: bool


class CheckedOut(TypedDict):
    """What the list says about one value."""

    is_suppressed: bool
    kind: SubjectKind | None
    position: int


class ChecksOut(TypedDict):
    """What the list says about every value."""

    items: list[CheckedOut]


class ChoiceOut(TypedDict):
    """A status that a person may set."""

    icon: str
    key: str
    status: str


class ChosenIn(TypedDict):
    """Records that somebody has chosen one by one."""

    ids: list[str]


class ColumnOut(TypedDict):
    """A column of the page's list."""

    field: str
    grow: float
    instead: list[str]
    is_hidden: bool
    is_sortable: bool
    only_with: str | None
    show: Literal[
        "text",
        "title",
        "person",
        "email",
        "phone",
        "strong",
        "link",
        "word",
        "status",
        "list",
        "number",
        "bytes",
        "share",
        "rating",
        "time",
    ]
    sort: str
    title: str
    under: list[str]
    width: float


class CompaniesIn(TypedDict):
    """Which companies: these ids, or all that a list would show."""

    filter: NotRequired[list[Condition] | None]
    ids: NotRequired[list[str] | None]
    q: NotRequired[str | None]


class CompanyColumnIn(TypedDict):
    """A column to make."""

    choices: NotRequired[list[str]]
    name: str
    title: str
    type: OwnType


class CompanyColumnOut(TypedDict):
    """A column of your own."""

    choices: list[str]
    id: str
    name: str
    title: str
    type: OwnType


class CompanyIn(TypedDict):
    """What to change; what is left out stays as it is, null makes it unknown."""

    follow_up_on: NotRequired[str | None]
    notes: NotRequired[str | None]
    own: NotRequired[dict[str, str | float | None]]
    owner_id: NotRequired[str | None]
    tags: NotRequired[list[str]]


class CompanyMergeIn(TypedDict):
    """Which companies are one, and which of them stays."""

    ids: list[str]
    into: str


class CompanyMergeOut(TypedDict):
    """Another company that became part of this one."""

    created_at: str
    gone_id: str
    id: str
    is_by_person: bool
    reasons: list[str]
    records: int
    score: float | None
    undone_at: str | None


class CompanyOut(TypedDict):
    """A company at one location, made of everything that is known about it.

    People's e-mail addresses and names stay in their own tables: a company only points
    at them, so whoever is erased there is gone here too.
    """

    address_verdict: str | None
    addresses: list[str] | None
    business_status: str | None
    categories: list[str]
    city: str | None
    confidence: float | None
    contacts_count: int
    country: str | None
    created_at: str
    created_by: str | None
    decision_maker: str | None
    decision_maker_email: str | None
    decision_maker_id: str | None
    decision_maker_reason: str | None
    decision_maker_role: str | None
    deliverability: str | None
    domain: str | None
    domain_id: str | None
    email: str | None
    email_contact_id: str | None
    email_kind: str | None
    email_person: str | None
    email_person_role: str | None
    email_reason: str | None
    extra: dict[str, Any]
    first_seen_at: str | None
    follow_up_on: str | None
    hours_verdict: str | None
    id: str
    latitude: float | None
    lead_status: LeadStatus
    longitude: float | None
    name: str | None
    name_verdict: str | None
    notes: str | None
    own: list[Any] | dict[str, Any]
    owner: str | None
    owner_id: str | None
    phone: str | None
    phone_verdict: str | None
    postal_code: str | None
    rating: float | None
    records_count: int
    region: str | None
    reviews_count: int | None
    seen_at: str | None
    status_verdict: str | None
    street: str | None
    tags: list[str]
    updated_at: str
    website: str | None
    website_verdict: str | None
    worked_at: str | None


class CompanyPairOut(TypedDict):
    """Two records a person is asked about."""

    id: str
    is_disputed: bool
    one: SideOut
    other: SideOut
    reasons: list[str]
    score: float
    verdict: PairVerdict | None


class CompanyPartsOut(TypedDict):
    """What a company is made of."""

    merges: list[CompanyMergeOut]
    records: list[CompanyRecordOut]


class CompanyRecordOut(TypedDict):
    """One record of a source that a company is made of, and why."""

    business_id: str | None
    domain: str | None
    domain_id: str | None
    id: str
    name: str | None
    phone: str | None
    place_id: str | None
    postal_code: str | None
    reasons: list[str]
    score: float | None
    source: str
    street: str | None


class CompanySplitIn(TypedDict):
    """Which records of a company are another one."""

    records: list[str]


class CompanySplitOut(TypedDict):
    """The company that was split off."""

    company_id: str


Comparison: TypeAlias = 'Literal["equal", "not_equal", "one_of", "at_least", "at_most", "contains", "starts_with", "known", "unknown"]'


class CompletenessOut(TypedDict):
    """How complete a search is."""

    companies: int
    total: TotalOut
    values: list[ValueShareOut]


Condition = TypedDict(
    "Condition",
    {
        "comparison": "NotRequired[Comparison]",
        "field": "str",
        "or": "NotRequired[list[Alternative]]",
        "value": "NotRequired[str | float | bool | list[str | float | bool | None] | None]",
    },
)


ConflictRule: TypeAlias = 'Literal["fill", "ours", "theirs", "ask"]'


class ConnectionChange(TypedDict):
    """What is to be different about a connection."""

    daily_budget: NotRequired[int | None]
    name: NotRequired[str | None]


class ConnectionIn(TypedDict):
    """An account to connect."""

    connector: str
    credential: NotRequired[str]
    daily_budget: NotRequired[int | None]
    name: NotRequired[str | None]
    options: NotRequired[dict[str, str]]


class ConnectionOut(TypedDict):
    """A connection; its secret is not shown."""

    account_name: str
    connector: str
    counts: NotRequired[dict[str, int]]
    created_at: str
    daily_budget: int | None
    finish_at: NotRequired[str | None]
    has_credential: NotRequired[bool]
    id: str
    is_active: bool
    limits: NotRequired[list[DailyLimitOut]]
    mapping: dict[str, Any]
    name: str
    needs_worker: NotRequired[bool]
    paused_at: str | None
    polled_at: str | None
    problem: str | None
    run_at: str | None
    run_id: str | None


class ConnectorOptionOut(TypedDict):
    """Something a connector asks for."""

    choices: list[str]
    default: str
    is_required: bool
    label: str
    name: str


class ConnectorOut(TypedDict):
    """A CRM that can be connected."""

    can_delete: bool
    credential: str | None
    kinds: list[CrmKind]
    name: str
    options: list[ConnectorOptionOut]
    title: str
    unit: str


ContactCurationStatus: TypeAlias = (
    'Literal["New", "Queued", "Processing", "Complete", "Error", "Skipped"]'
)


class ContactIn(TypedDict):
    """What to change; what is left out stays as it is, null makes it unknown."""

    address: NotRequired[AddressIn | None]
    email: NotRequired[str | None]
    name: NotRequired[str | None]
    notes: NotRequired[str | None]
    phone: NotRequired[str | None]
    role: NotRequired[str | None]
    social_links: NotRequired[dict[str, str]]
    tags: NotRequired[list[str]]


class ContactOut(TypedDict):
    """One way to reach a business: by e-mail, or by phone where there is no e-mail.

    What is not known is NULL; there are no placeholders.
    """

    address: list[Any] | dict[str, Any] | None
    brevo_sync_status: ContactProcessingStatus | None
    business: str | None
    confidence: float | None
    contact_curation_status: ContactCurationStatus
    created_at: str
    created_by: str | None
    decision_maker: str | None
    deliverability: Deliverability | None
    domain: str | None
    domain_id: str
    email: str | None
    email_type: EmailType
    gone_at: str | None
    hubspot_sync_status: ContactProcessingStatus | None
    id: str
    mautic_sync_status: ContactProcessingStatus | None
    name: str | None
    notes: str | None
    page_id: str | None
    phone: str | None
    phones: list[Any] | dict[str, Any]
    pipedrive_sync_status: ContactProcessingStatus | None
    role: str | None
    social_links: list[Any] | dict[str, Any]
    tags: list[str]
    updated_at: str
    validated_at: str | None
    validation: list[Any] | dict[str, Any] | None
    validation_processing_error: str | None
    validation_processing_status: ContactProcessingStatus | None
    whose: str | None


ContactProcessingStatus: TypeAlias = (
    'Literal["Queued", "Processing", "Complete", "Error"]'
)


ContactScrapeStatus: TypeAlias = (
    'Literal["New", "ContactFound", "NoContactFound", "Error", "NotAFit"]'
)


class ContactSearchOut(TypedDict):
    """What was begun."""

    action_id: str | None
    queued: int
    rules: list[str]
    selected: int


class CorrectionOut(TypedDict):
    """How right a field is by what your own people have marked."""

    claimed: float | None
    corrected: float | None
    field: str
    precision: PrecisionOut


class CoverageLine(TypedDict):
    """What is known of the companies of one category in one area."""

    category: str | None
    city: str | None
    companies: int
    contacted: int
    emails: int
    named_people: int
    won: int


class CoverageOut(TypedDict):
    """What is known of companies by category and area, the largest first."""

    is_exact: bool
    items: list[CoverageLine]


class CredentialIn(TypedDict):
    """Another credential of the same account."""

    credential: str


class CrmDifferenceOut(TypedDict):
    """What a run would write, compared with what is there now."""

    along: NotRequired[CrmDifferenceOut | None]
    compared: int
    creates: int
    fields: dict[str, int]
    kept: dict[str, int]
    kind: CrmKind
    matched: int
    price: dict[str, float]
    refused: int
    samples: list[dict[str, Any]]
    seconds: float
    total: int
    unchanged: int
    updates: int


class CrmFieldOut(TypedDict):
    """A field of theirs."""

    is_custom: bool
    is_read_only: bool
    is_required: bool
    label: str
    name: str
    options: list[CrmOptionOut]
    type: str


class CrmFieldsOut(TypedDict):
    """Their fields, and which value of ours goes where."""

    fields: list[CrmFieldOut]
    locked: list[str]
    mapping: dict[str, str]
    ours: list[str]


CrmKind: TypeAlias = 'Literal["company", "person"]'


class CrmOptionOut(TypedDict):
    """One value that a choice can have."""

    label: str
    value: str


CurationStatus: TypeAlias = (
    'Literal["New", "Selected", "Maybe", "Not a Fit", "Archived"]'
)


class DailyLimitOut(TypedDict):
    """A limit of a day, and what is left of the share that may be spent here."""

    allowed: float
    left: float
    name: str


class DatabaseOut(TypedDict):
    """The connection, as far as it concerns who runs it."""

    connections: int
    is_embedded: bool
    is_up_to_date: bool
    newest_revision: str
    revision: str | None
    size_bytes: int
    version: str


class DeadChanged(TypedDict):
    """What a replay or discard came to."""

    changed: int
    dry_run: bool
    matched: int


class DeadChosen(TypedDict):
    """Which dead letters are meant: these, or all that match what is given."""

    cause: NotRequired[str | None]
    dry_run: NotRequired[bool]
    everything: NotRequired[bool]
    ids: NotRequired[list[str] | None]
    kind: NotRequired[Literal["gave_up", "exhausted", "quarantined"] | None]
    stage: NotRequired[str | None]


class DeadGroupOut(TypedDict):
    """Dead letters of one stage that died of the same."""

    cause: str
    count: int
    first_at: str
    kind: Literal["gave_up", "exhausted", "quarantined"]
    last_at: str
    stage: str
    title: str


class DeadLetterOut(TypedDict):
    """An item that failed for good."""

    cause: str
    deaths: int
    died_at: str
    id: str
    kind: Literal["gave_up", "exhausted", "quarantined"]
    label: NotRequired[str | None]
    record_id: str
    record_kind: str
    stage: str
    title: str
    tries: int
    why: str | None


class DeadStoryOut(TypedDict):
    """A dead letter with everything that happened to it."""

    attempts: list[AttemptOut]
    cause: str
    deaths: int
    died_at: str
    id: str
    kind: Literal["gave_up", "exhausted", "quarantined"]
    label: NotRequired[str | None]
    record_id: str
    record_kind: str
    stage: str
    title: str
    tries: int
    why: str | None


class DecisionOut(TypedDict):
    """What people decide about a record."""

    busy: list[str]
    choices: list[ChoiceOut]
    error_field: str | None
    field: str
    is_within_site_budget: bool
    on: str | None
    stage_field: str | None
    starts: str | None
    unattended: list[Condition] | None
    undecided: str


DeepScanStatus: TypeAlias = 'Literal["Queued", "Processing", "Completed", "Error"]'


Deliverability: TypeAlias = 'Literal["deliverable", "risky", "undeliverable"]'


class DeliveryAttemptOut(TypedDict):
    """One time that a message was posted."""

    at: str
    ms: int
    status: int | None
    why: str | None


class DemoIn(TypedDict):
    """How the town shall be."""

    decide: NotRequired[bool]
    seed: NotRequired[int]
    size: NotRequired[int]


class DemoOut(TypedDict):
    """Whether there is a demo, and where."""

    address: NotRequired[str | None]
    is_available: bool
    is_here: bool
    is_opening: bool
    is_running: bool
    is_visited: bool
    place: str
    problem: NotRequired[str | None]
    seed: NotRequired[int | None]
    size: NotRequired[int | None]
    started_at: NotRequired[str | None]


class DetailBusinessOut(TypedDict):
    """DetailBusinessOut"""

    budget: NotRequired[list[SiteBudgetLine]]
    etag: str
    evidence: list[EvidenceOut]
    people: NotRequired[list[NamedPerson]]
    record: BusinessOut
    related: dict[str, list[RecordLink]]
    verdicts: NotRequired[list[MapVerdictOut]]


class DetailCompanyOut(TypedDict):
    """DetailCompanyOut"""

    budget: NotRequired[list[SiteBudgetLine]]
    etag: str
    evidence: list[EvidenceOut]
    people: NotRequired[list[NamedPerson]]
    record: CompanyOut
    related: dict[str, list[RecordLink]]
    verdicts: NotRequired[list[MapVerdictOut]]


class DetailContactOut(TypedDict):
    """DetailContactOut"""

    budget: NotRequired[list[SiteBudgetLine]]
    etag: str
    evidence: list[EvidenceOut]
    people: NotRequired[list[NamedPerson]]
    record: ContactOut
    related: dict[str, list[RecordLink]]
    verdicts: NotRequired[list[MapVerdictOut]]


class DetailDomainOut(TypedDict):
    """DetailDomainOut"""

    budget: NotRequired[list[SiteBudgetLine]]
    etag: str
    evidence: list[EvidenceOut]
    people: NotRequired[list[NamedPerson]]
    record: DomainOut
    related: dict[str, list[RecordLink]]
    verdicts: NotRequired[list[MapVerdictOut]]


class DetailPageOut(TypedDict):
    """DetailPageOut"""

    budget: NotRequired[list[SiteBudgetLine]]
    etag: str
    evidence: list[EvidenceOut]
    people: NotRequired[list[NamedPerson]]
    record: PageOut
    related: dict[str, list[RecordLink]]
    verdicts: NotRequired[list[MapVerdictOut]]


class DetailPersonOut(TypedDict):
    """DetailPersonOut"""

    budget: NotRequired[list[SiteBudgetLine]]
    etag: str
    evidence: list[EvidenceOut]
    people: NotRequired[list[NamedPerson]]
    record: PersonOut
    related: dict[str, list[RecordLink]]
    verdicts: NotRequired[list[MapVerdictOut]]


class DetailPlaceOut(TypedDict):
    """DetailPlaceOut"""

    budget: NotRequired[list[SiteBudgetLine]]
    etag: str
    evidence: list[EvidenceOut]
    people: NotRequired[list[NamedPerson]]
    record: PlaceOut
    related: dict[str, list[RecordLink]]
    verdicts: NotRequired[list[MapVerdictOut]]


class DetailSitemapFileOut(TypedDict):
    """DetailSitemapFileOut"""

    budget: NotRequired[list[SiteBudgetLine]]
    etag: str
    evidence: list[EvidenceOut]
    people: NotRequired[list[NamedPerson]]
    record: SitemapFileOut
    related: dict[str, list[RecordLink]]
    verdicts: NotRequired[list[MapVerdictOut]]


DifferenceAnswer: TypeAlias = 'Literal["ours", "theirs"]'


class DifferenceOut(TypedDict):
    """One value, or one record, that is not what it was."""

    at: str
    company_id: str | None
    company_name: str | None
    contact_id: str | None
    domain: str | None
    domain_id: str | None
    field: str | None
    id: str
    new_source: str | None
    new_value: str | None
    old_seen_at: str | None
    old_source: str | None
    old_value: str | None
    person_id: str | None
    place_id: str | None
    place_name: str | None
    run_id: str | None
    what: DifferenceType


DifferenceType: TypeAlias = 'Literal["new", "changed", "gone", "back", "moved", "renamed", "closed", "reopened", "unreachable"]'


class DifferencesOut(TypedDict):
    """What differs, the latest first."""

    counts: dict[str, int]
    items: list[DifferenceOut]
    looked_at: str | None
    next_cursor: str | None
    total: Total


class DiskOut(TypedDict):
    """The disk that holds our data."""

    free_bytes: int
    path: str
    total_bytes: int


class DomainBudgetIn(TypedDict):
    """What to change of a site's budget; what is left out stays."""

    bytes: NotRequired[int | None]
    hosts: NotRequired[int | None]
    page_budget: NotRequired[int | None]
    pages_fetched: NotRequired[int | None]
    pages_stored: NotRequired[int | None]
    parse_seconds: NotRequired[int | None]
    query_variants: NotRequired[int | None]
    robots_bytes: NotRequired[int | None]
    url_bytes: NotRequired[int | None]


DomainExtractionStatus: TypeAlias = (
    'Literal["Queued", "Processing", "Completed", "Error"]'
)


class DomainOut(TypedDict):
    """A website's domain, once per tenant however many businesses name it."""

    addresses: list[str] | None
    budget: list[Any] | dict[str, Any]
    created_at: str
    created_by: str | None
    decision_maker: str | None
    description: str | None
    domain: str
    emails: list[str]
    error: str | None
    favicon_url: str | None
    generator: str | None
    generator_version: str | None
    home_url: str | None
    id: str
    language: str | None
    link_texts: list[Any] | dict[str, Any]
    logo_url: str | None
    organisation: list[Any] | dict[str, Any] | None
    page_budget: int
    phones: list[str]
    priority: int
    sitemap_analysis_error: str | None
    sitemap_analysis_status: SitemapAnalysisStatus
    sitemap_curation_status: CurationStatus
    sitemap_hints: list[str]
    social_links: list[Any] | dict[str, Any]
    status: DomainStatus
    tech_stack: list[Any] | dict[str, Any]
    title: str | None
    updated_at: str
    verdict: str | None
    verdict_evidence: list[Any] | dict[str, Any] | None


DomainStatus: TypeAlias = 'Literal["pending", "processing", "completed", "error"]'


EmailType: TypeAlias = 'Literal["SERVICE", "CORPORATE", "FREE", "UNKNOWN"]'


Environment: TypeAlias = 'Literal["development", "dev", "staging", "production"]'


class ErasedOut(TypedDict):
    """What an erasure came to: records by table."""

    cleaned: dict[str, int]
    deleted: dict[str, int]
    suppressed: bool


class EstimateOut(TypedDict):
    """What a search will take, said before anything is spent; null: nobody can know."""

    currency: str
    free_requests: int | None
    is_exact: bool
    notes: list[str]
    price_high: str | None
    price_likely: str | None
    price_low: str
    requests_high: int | None
    requests_likely: int | None
    requests_low: int


class EvidenceOut(TypedDict):
    """Where a value came from."""

    confidence: float | None
    field: str
    method: str
    robots: NotRequired[str | None]
    seen_at: str | None
    snippet: str | None
    url: str | None
    value: str | None


class ExportCount(TypedDict):
    """What a file will hold."""

    count: int
    held_back: int
    is_exact: bool
    without: dict[str, int]


class FacetValue(TypedDict):
    """One value of a field, and how many records have it."""

    count: int
    value: str | bool | int | float | None


class Facets(TypedDict):
    """The values of some fields among the records of a list."""

    facets: dict[str, list[FacetValue]]
    is_exact: bool


class FieldOut(TypedDict):
    """A field that lists can be filtered and sorted by."""

    comparisons: list[str]
    name: str
    sortable: bool
    title: NotRequired[str | None]
    type: str
    values: list[str] | None


class FieldRuleIn(TypedDict):
    """Where a value of ours goes, and who wins."""

    choices: NotRequired[dict[str, str]]
    field: NotRequired[str | None]
    rule: NotRequired[ConflictRule]


class FileColumnOut(TypedDict):
    """A column of a file."""

    examples: list[str]
    field: str | None
    heading: str


class FileLookOut(TypedDict):
    """What the beginning of a file holds, as the import would read it."""

    columns: list[FileColumnOut]
    differences: list[KnownDifferenceOut]
    differences_count: int
    duplicates: int
    fields: list[str]
    known_companies: int
    places: int
    problems: list[LineProblem]
    problems_count: int
    rows: int


class FunnelOut(TypedDict):
    """How much of what a search found came how far, step by step."""

    companies: int
    contacted: int
    emails: int
    named_people: int
    places: int
    search_id: str
    websites: int
    won: int


class HeldOut(TypedDict):
    """One record that says something about the person."""

    id: str | None
    origin: list[dict[str, Any]]
    table: str
    values: dict[str, Any]


class HomeOut(TypedDict):
    """What waits for a person who sells; counts end at ten thousand."""

    counted_to: NotRequired[int]
    follow_ups_due: int
    mine: dict[str, int]
    my_follow_ups_due: int
    new_this_week: int
    searches: list[SearchYield]
    unassigned: int


class ImportDifference(TypedDict):
    """What a line says of a known contact, and what was known before and stays."""

    company: str | None
    company_id: str
    field: str
    imported: str
    known: str | None
    origin: str


class ImportOut(TypedDict):
    """What an import came to."""

    action_id: str | None
    columns: list[ImportedColumn]
    differences: list[ImportDifference]
    made: dict[str, int]
    problems: list[Any]
    undone_at: NotRequired[str | None]


class ImportStarted(TypedDict):
    """The search that reads the file."""

    search_id: str


class ImportedColumn(TypedDict):
    """What became of a column."""

    field: str
    heading: str
    lines: int
    unread: NotRequired[int]


class InformedIn(TypedDict):
    """Whom you have notified, when and how."""

    contact_ids: NotRequired[list[str] | None]
    how: NotRequired[str | None]
    informed_at: NotRequired[str | None]
    legal_basis: NotRequired[LegalBasis | None]
    obtained_before: NotRequired[str | None]


class InsideOut(TypedDict):
    """What only operators of the installation see."""

    database: DatabaseOut
    disk: DiskOut
    event_streams: int
    jobs: list[JobOut]
    platform: str
    problems: dict[str, str]
    python: str
    settings: list[SettingOut]
    started_at: str


class InvitationIn(TypedDict):
    """An invited person, who chooses a password."""

    password: str
    token: str


class InvitationOut(TypedDict):
    """What an invitation's link holds; it is shown here and never again."""

    expires_at: str
    token: str


class JobOut(TypedDict):
    """A job over all processes, and how it went last."""

    enabled: bool
    id: str
    last_error: NotRequired[str | None]
    last_failed: NotRequired[int | None]
    last_items: NotRequired[int | None]
    last_outcome: NotRequired[RunOutcome | None]
    last_retried: NotRequired[int | None]
    last_run_at: NotRequired[str | None]
    last_seconds: NotRequired[float | None]
    last_succeeded: NotRequired[int | None]
    name: str
    next_run_at: NotRequired[str | None]
    problem: NotRequired[str | None]
    processes: list[str]
    running: int
    trigger: str


class KeyIn(TypedDict):
    """A key for a program."""

    expires_in_days: NotRequired[int | None]
    name: str
    role: NotRequired[Role]
    scopes: NotRequired[list[Permission] | None]


class KeyMade(TypedDict):
    """A new key; its secret is shown here and never again."""

    created_at: str
    expires_at: str | None
    id: str
    last_used_at: str | None
    name: str
    prefix: str
    revoked_at: str | None
    role: Role
    scopes: list[Permission]
    secret: str


class KeyOut(TypedDict):
    """A key, without what makes it one."""

    created_at: str
    expires_at: str | None
    id: str
    last_used_at: str | None
    name: str
    prefix: str
    revoked_at: str | None
    role: Role
    scopes: list[Permission]


class KindOut(TypedDict):
    """One kind of data, and for how long it is kept."""

    days: int | None
    kind: str
    oldest_at: NotRequired[str | None]
    overdue: NotRequired[int]
    setting: str
    what: str


class KnownDifferenceOut(TypedDict):
    """What a line says of a known company, and what is known."""

    company: str | None
    company_id: str
    field: str
    imported: str
    is_kept: bool
    known: str | None
    line: int


class LassoIn(TypedDict):
    """A line drawn around companies."""

    changed_since: NotRequired[str | None]
    filter: NotRequired[list[str]]
    outline: list[list[float]]
    q: NotRequired[str | None]


class LassoOut(TypedDict):
    """The companies inside of a line."""

    ids: list[str]
    is_complete: bool


class LeadPreviewOut(TypedDict):
    """A lead as it would stand there."""

    id: str
    refusal: str | None
    unmatched: dict[str, str]
    values: list[PreviewValue]


LeadStatus: TypeAlias = (
    'Literal["New", "Contacted", "Replied", "Won", "Lost", "Do Not Contact"]'
)


class LeadsIn(TypedDict):
    """Some leads: by their ids or by a filter."""

    filter: NotRequired[list[Condition] | None]
    ids: NotRequired[list[str] | None]
    kind: NotRequired[Literal["companies", "contacts"]]
    q: NotRequired[str | None]


LegalBasis: TypeAlias = 'Literal["consent", "contract", "legal_obligation", "vital_interests", "public_task", "legitimate_interests"]'


class LineProblem(TypedDict):
    """What is wrong with a line."""

    field: NotRequired[str | None]
    is_left_out: NotRequired[bool]
    line: int
    value: NotRequired[str | None]
    why: str


class ListOutActionOut(TypedDict):
    """ListOutActionOut"""

    items: list[ActionOut]
    next_cursor: str | None
    total: Total


class ListOutAuditOut(TypedDict):
    """ListOutAuditOut"""

    items: list[AuditOut]
    next_cursor: str | None
    total: Total


class ListOutBatchOut(TypedDict):
    """ListOutBatchOut"""

    items: list[BatchOut]
    next_cursor: str | None
    total: Total


class ListOutBusinessOut(TypedDict):
    """ListOutBusinessOut"""

    items: list[BusinessOut]
    next_cursor: str | None
    total: Total


class ListOutCompanyOut(TypedDict):
    """ListOutCompanyOut"""

    items: list[CompanyOut]
    next_cursor: str | None
    total: Total


class ListOutConnectionOut(TypedDict):
    """ListOutConnectionOut"""

    items: list[ConnectionOut]
    next_cursor: str | None
    total: Total


class ListOutConnectorOut(TypedDict):
    """ListOutConnectorOut"""

    items: list[ConnectorOut]
    next_cursor: str | None
    total: Total


class ListOutContactOut(TypedDict):
    """ListOutContactOut"""

    items: list[ContactOut]
    next_cursor: str | None
    total: Total


class ListOutDeadLetterOut(TypedDict):
    """ListOutDeadLetterOut"""

    items: list[DeadLetterOut]
    next_cursor: str | None
    total: Total


class ListOutDomainOut(TypedDict):
    """ListOutDomainOut"""

    items: list[DomainOut]
    next_cursor: str | None
    total: Total


class ListOutKeyOut(TypedDict):
    """ListOutKeyOut"""

    items: list[KeyOut]
    next_cursor: str | None
    total: Total


class ListOutLeadPreviewOut(TypedDict):
    """ListOutLeadPreviewOut"""

    items: list[LeadPreviewOut]
    next_cursor: str | None
    total: Total


class ListOutNoticeOut(TypedDict):
    """ListOutNoticeOut"""

    items: list[NoticeOut]
    next_cursor: str | None
    total: Total


class ListOutOpenSession(TypedDict):
    """ListOutOpenSession"""

    items: list[OpenSession]
    next_cursor: str | None
    total: Total


class ListOutPageOut(TypedDict):
    """ListOutPageOut"""

    items: list[PageOut]
    next_cursor: str | None
    total: Total


class ListOutPersonOut(TypedDict):
    """ListOutPersonOut"""

    items: list[PersonOut]
    next_cursor: str | None
    total: Total


class ListOutPlaceOut(TypedDict):
    """ListOutPlaceOut"""

    items: list[PlaceOut]
    next_cursor: str | None
    total: Total


class ListOutRecordInCrmOut(TypedDict):
    """ListOutRecordInCrmOut"""

    items: list[RecordInCrmOut]
    next_cursor: str | None
    total: Total


class ListOutRunOut(TypedDict):
    """ListOutRunOut"""

    items: list[RunOut]
    next_cursor: str | None
    total: Total


class ListOutSearchOut(TypedDict):
    """ListOutSearchOut"""

    items: list[SearchOut]
    next_cursor: str | None
    total: Total


class ListOutSitemapFileOut(TypedDict):
    """ListOutSitemapFileOut"""

    items: list[SitemapFileOut]
    next_cursor: str | None
    total: Total


class ListOutSuppressionOut(TypedDict):
    """ListOutSuppressionOut"""

    items: list[SuppressionOut]
    next_cursor: str | None
    total: Total


class ListOutSyncRecordOut(TypedDict):
    """ListOutSyncRecordOut"""

    items: list[SyncRecordOut]
    next_cursor: str | None
    total: Total


class ListOutSyncWriteOut(TypedDict):
    """ListOutSyncWriteOut"""

    items: list[SyncWriteOut]
    next_cursor: str | None
    total: Total


class ListOutTenantOut(TypedDict):
    """ListOutTenantOut"""

    items: list[TenantOut]
    next_cursor: str | None
    total: Total


class ListOutUserOut(TypedDict):
    """ListOutUserOut"""

    items: list[UserOut]
    next_cursor: str | None
    total: Total


class ListOutWebhookDeliveryOut(TypedDict):
    """ListOutWebhookDeliveryOut"""

    items: list[WebhookDeliveryOut]
    next_cursor: str | None
    total: Total


class ListOutWebhookOut(TypedDict):
    """ListOutWebhookOut"""

    items: list[WebhookOut]
    next_cursor: str | None
    total: Total


class Liveness(TypedDict):
    """The process answers."""

    status: NotRequired[Literal["alive"]]
    version: NotRequired[str]


class LoginIn(TypedDict):
    """A person at the login."""

    email: str
    password: str
    tenant: NotRequired[str | None]


class LoginWays(TypedDict):
    """How people log in here, beside their password."""

    provider: str | None


class LookIn(TypedDict):
    """Until when everything was seen."""

    at: NotRequired[str | None]


class LookOut(TypedDict):
    """Until when the caller has seen everything."""

    looked_at: str | None


MapField: TypeAlias = (
    'Literal["name", "phone", "address", "hours", "website", "business_status"]'
)


class MapOut(TypedDict):
    """The companies of a part of the map."""

    count: int
    is_exact: bool
    points: list[MapPoint]
    without_place: int


class MapPoint(TypedDict):
    """Companies that lie together, or one of them."""

    count: int
    id: str | None
    latitude: float
    lead_status: str | None
    longitude: float
    name: str | None


MapVerdict: TypeAlias = 'Literal["confirmed", "contradicted", "silent", "unreachable"]'


class MapVerdictOut(TypedDict):
    """What a company's own website says of one field that a map gives."""

    claimed: str
    confidence: float
    field: MapField
    said: str | None
    seen_at: str | None
    snippet: str | None
    source: str
    url: str | None
    verdict: MapVerdict
    why: str


class MappingIn(TypedDict):
    """Rules by values of ours; what is not named goes where the connector puts it."""

    company: NotRequired[dict[str, FieldRuleIn]]
    person: NotRequired[dict[str, FieldRuleIn]]


class MarkIn(TypedDict):
    """What a person says of a value; null takes it back."""

    mark: ValueMark | None


class MarkedOut(TypedDict):
    """What marking came to."""

    changed: int
    unchanged: int


class MergeIn(TypedDict):
    """Which contacts are one, and which of them stays."""

    ids: list[str]
    into: str


class MergedDetailCompanyOut(TypedDict):
    """MergedDetailCompanyOut"""

    action_id: str | None
    budget: NotRequired[list[SiteBudgetLine]]
    etag: str
    evidence: list[EvidenceOut]
    people: NotRequired[list[NamedPerson]]
    record: CompanyOut
    related: dict[str, list[RecordLink]]
    verdicts: NotRequired[list[MapVerdictOut]]


class MergedDetailContactOut(TypedDict):
    """MergedDetailContactOut"""

    action_id: str | None
    budget: NotRequired[list[SiteBudgetLine]]
    etag: str
    evidence: list[EvidenceOut]
    people: NotRequired[list[NamedPerson]]
    record: ContactOut
    related: dict[str, list[RecordLink]]
    verdicts: NotRequired[list[MapVerdictOut]]


class MinuteOut(TypedDict):
    """What a stage settled in one minute."""

    at: str
    done: int
    failed: int


class NamedPerson(TypedDict):
    """Somebody of the business, the likeliest decision maker first."""

    confidence: float
    email: str | None
    id: str
    is_decision_maker: bool
    name: str
    page_url: str | None
    phone: str | None
    reach: NotRequired[PersonReach | None]
    reason: str
    role: str | None
    seniority: Seniority | None


class NewContactIn(TypedDict):
    """A contact that somebody types in: of a known domain, with a way to reach it."""

    address: NotRequired[AddressIn | None]
    domain: str
    email: NotRequired[str | None]
    name: NotRequired[str | None]
    notes: NotRequired[str | None]
    phone: NotRequired[str | None]
    role: NotRequired[str | None]
    social_links: NotRequired[dict[str, str]]
    tags: NotRequired[list[str]]


class NoticeOut(TypedDict):
    """One contact, and whether they were notified."""

    contact_id: str
    domain: str
    due_at: str
    email: str | None
    email_type: EmailType
    how: str | None
    informed_at: str | None
    informed_by: str | None
    is_overdue: bool
    legal_basis: LegalBasis
    name: str | None
    obtained_at: str
    phone: str | None
    sources: list[NoticeSourceOut]


class NoticeSourceOut(TypedDict):
    """Where something about the contact was found."""

    method: str
    robots: str | None
    seen_at: str
    url: str


NoticeState: TypeAlias = 'Literal["open", "overdue", "informed"]'


class OpenSession(TypedDict):
    """One browser that somebody is logged in with."""

    address: str | None
    created_at: str
    device: str | None
    expires_at: str
    id: str
    is_this: NotRequired[bool]
    seen_at: str


OwnType: TypeAlias = 'Literal["text", "number", "date", "choice"]'


PageCurationStatus: TypeAlias = (
    'Literal["New", "Selected", "Queued", "Processing", "Complete", "Error", "Skipped"]'
)


class PageOut(TypedDict):
    """A page, once per domain however many sitemaps name it.

    What it refers to is checked by triggers, once for all rows of a statement.
    """

    bytes: int | None
    canonical_url: str | None
    choice: list[Any] | dict[str, Any] | None
    clicks: int | None
    contact_likelihood: float | None
    contact_scrape_status: ContactScrapeStatus
    created_at: str
    created_by: str | None
    description: str | None
    domain: str | None
    domain_id: str
    etag: str | None
    fetch_facts: list[Any] | dict[str, Any] | None
    fetch_ms: int | None
    fetched_at: str | None
    gone_at: str | None
    h1: str | None
    has_contact_form: bool | None
    http_status: int | None
    id: str
    language: str | None
    last_modified: str | None
    lastmod: str | None
    likelihood_reasons: list[str]
    organisation: list[Any] | dict[str, Any] | None
    other_values: list[Any] | dict[str, Any]
    page_curation_status: PageCurationStatus
    page_processing_error: str | None
    page_processing_status: PageProcessingStatus | None
    page_type: str | None
    priority: int
    sitemap_file_id: str | None
    structured_data_types: list[str]
    title: str | None
    updated_at: str
    url: str
    word_count: int | None


PageProcessingStatus: TypeAlias = (
    'Literal["Queued", "Processing", "Complete", "Error", "Filtered"]'
)


class PairAnswerIn(TypedDict):
    """Whether two records are one company."""

    verdict: PairVerdict


PairVerdict: TypeAlias = 'Literal["same", "different"]'


class PasswordIn(TypedDict):
    """A person who changes their own password."""

    current: str
    password: str


class PauseIn(TypedDict):
    """Why a stage is paused."""

    reason: NotRequired[str]


Permission: TypeAlias = (
    'Literal["read", "export", "curate", "administer", "operate", "metrics"]'
)


class PersonDataOut(TypedDict):
    """Everything that is held about a person."""

    is_complete: bool
    records: list[HeldOut]


class PersonIn(TypedDict):
    """Who is meant: by e-mail address or by phone number."""

    email: NotRequired[str | None]
    phone: NotRequired[str | None]
    region: NotRequired[str | None]


class PersonOut(TypedDict):
    """Somebody who works for a business, as its website names them.

    Each once per domain, however many pages name them. `email` and `phone` are theirs
    alone; the switchboard and info@ are nobody's.
    """

    business: str | None
    confidence: float
    created_at: str
    created_by: str | None
    domain: str | None
    domain_id: str
    email: str | None
    evidence: list[Any] | dict[str, Any]
    gone_at: str | None
    id: str
    is_decision_maker: bool
    name: str
    name_key: str
    page_id: str | None
    page_url: str | None
    phone: str | None
    role: str | None
    seniority: Seniority | None
    standing: float
    standing_reason: str
    updated_at: str


class PersonReach(TypedDict):
    """The best known way to reach somebody."""

    kind: ReachKind
    reason: str
    value: str


class PlaceOut(TypedDict):
    """A place of one source; found twice, it is still one row."""

    address: str | None
    business_status: str | None
    categories: list[str]
    created_at: str
    created_by: str | None
    deep_scan_error: str | None
    deep_scan_status: DeepScanStatus | None
    expires_at: str | None
    id: str
    latitude: float | None
    licence: str | None
    longitude: float | None
    moved_to: str | None
    name: str | None
    phone: str | None
    price_level: str | None
    rating: float | None
    reviews_count: int | None
    seen_at: str | None
    source: str
    source_place_id: str
    status: CurationStatus
    updated_at: str
    website: str | None


class PrecisionOut(TypedDict):
    """What share of values is right, by marks."""

    high: float | None
    low: float | None
    right: int
    share: float | None
    wrong: int


class PreviewIn(TypedDict):
    """A rule to try without saving it."""

    conditions: NotRequired[list[Condition]]
    kind: Literal[
        "places",
        "businesses",
        "domains",
        "sitemap_files",
        "pages",
        "contacts",
        "companies",
    ]
    status: NotRequired[str | None]


class PreviewOut(TypedDict):
    """What a rule would decide now."""

    count: int
    sample: list[SampleOut]


class PreviewValue(TypedDict):
    """One value, under the name that people see there."""

    field: str
    label: str
    value: Any


class PriorityIn(TypedDict):
    """Which records, and how urgent they are."""

    ids: list[str]
    priority: int


class PriorityOut(TypedDict):
    """How many records have the priority now."""

    changed: int


class Problem(TypedDict):
    """One error, the same shape everywhere."""

    detail: str
    errors: NotRequired[list[dict[str, Any]] | None]
    hint: NotRequired[str | None]
    request_id: NotRequired[str | None]
    status: int
    title: str
    type: str


class ProofList(TypedDict):
    """What the values of a contact follow from, the surest first of each field."""

    items: list[ProofOut]


class ProofOut(TypedDict):
    """What one value follows from."""

    field: str
    hash: str | None
    is_kept: bool
    method: str
    reader: str | None
    seen_at: str
    snippet: str
    span_end: int | None
    span_start: int | None
    url: str
    value: str
    void_reason: VoidReason | None


class QueuedLeadsOut(TypedDict):
    """What was queued."""

    queued: int


class QuickFilterOut(TypedDict):
    """A filter that people ask for in words."""

    filter: str
    title: str


ReachKind: TypeAlias = 'Literal["own_email", "own_phone", "suggestion", "shared_inbox"]'


class Readiness(TypedDict):
    """Each thing the process needs, and whether it is there."""

    checks: dict[str, str]
    status: Literal["ready", "not ready"]
    version: NotRequired[str]


class RecordEvent(TypedDict):
    """One thing that happened to a record."""

    at: str
    details: NotRequired[dict[str, Any]]
    status_after: NotRequired[str | None]
    status_before: NotRequired[str | None]
    what: str
    who: str | None


class RecordHistory(TypedDict):
    """Everything that happened to a record, the latest first."""

    events: list[RecordEvent]


class RecordInCrmOut(TypedDict):
    """The same, with the name of the connection: whoever reads leads may see no more of
    it.
    """

    connection_id: str
    created_at: str
    differs: dict[str, Any]
    done_at: str | None
    id: str
    kind: str
    label: NotRequired[str | None]
    name: str
    problem: dict[str, Any]
    record_id: str
    state: str
    their_id: str | None
    updated_at: str


class RecordKindOut(TypedDict):
    """A kind of record: its address, its words, what people see and decide."""

    about: str
    columns: list[ColumnOut]
    decision: DecisionOut | None
    exported: list[str]
    facts: list[str]
    form: Literal["company", "contact"] | None
    has_owner: bool
    has_pairs: bool
    has_priority: bool
    has_site_budget: bool
    icon: str
    is_mergeable: bool
    is_step: bool
    key: str | None
    label: list[str]
    name: str
    path: str
    plural: str
    presets: list[str]
    quick_filters: list[QuickFilterOut]
    required: dict[str, list[str]]
    singular: str
    source: RecordSourceOut | None
    submission: str | None
    title: str
    under: list[str]
    unnamed: str


class RecordLink(TypedDict):
    """Another record, by the name people call it."""

    id: str
    label: str | None


class RecordSourceOut(TypedDict):
    """What to say where there are no records yet."""

    action: str
    screen: str
    text: str


class RefusedItemOut(TypedDict):
    """A line that was not taken, and why."""

    hint: str
    line: int
    reason: str
    value: str


class RefusedLine(TypedDict):
    """A line that could not be used."""

    line: int
    reason: str
    value: str


class RefusedValue(TypedDict):
    """A line that says nothing we understand."""

    line: int
    reason: str


class ReopenedIn(TypedDict):
    """Who has not been notified after all."""

    contact_ids: list[str]


Repetition: TypeAlias = 'Literal["daily", "weekly", "monthly"]'


class ReplayIn(TypedDict):
    """What is to be sent again."""

    failed_only: NotRequired[bool]
    since: str
    until: NotRequired[str | None]


class ReplayOut(TypedDict):
    """What a replay will send."""

    messages: int
    starts_at: str | None


class RetentionOut(TypedDict):
    """How long everything is kept, and how often that is enforced."""

    kinds: list[KindOut]
    purge_interval_minutes: float


Role: TypeAlias = 'Literal["viewer", "curator", "admin"]'


class RotationIn(TypedDict):
    """How long the secret before holds beside the new one."""

    overlap_hours: NotRequired[int]


class RuleChange(TypedDict):
    """What to change of a rule; the rest stays."""

    best_first: NotRequired[bool | None]
    conditions: NotRequired[list[Condition] | None]
    is_enabled: NotRequired[bool | None]
    name: NotRequired[str | None]
    status: NotRequired[str | None]


class RuleIn(TypedDict):
    """A rule to make: all conditions must hold; it decides about new records only."""

    best_first: NotRequired[bool]
    conditions: list[Condition]
    is_enabled: NotRequired[bool]
    kind: Literal[
        "places",
        "businesses",
        "domains",
        "sitemap_files",
        "pages",
        "contacts",
        "companies",
    ]
    name: str
    status: str


class RuleOut(TypedDict):
    """A rule, and what it has decided so far."""

    actions: int
    best_first: bool
    conditions: list[Condition]
    created_at: str
    decided: int
    etag: str
    id: str
    is_enabled: bool
    kind: str
    last_decided_at: str | None
    name: str
    status: str
    updated_at: str


class RuleRunOut(TypedDict):
    """What a run of a rule came to, as far as it was waited for."""

    action_id: str | None
    changed: int
    finished: bool
    queued: int
    skipped: dict[str, int]


class RunIn(TypedDict):
    """Leads to write."""

    again: NotRequired[bool]
    filter: NotRequired[list[Condition] | None]
    ids: NotRequired[list[str] | None]
    kind: NotRequired[Literal["companies", "contacts"]]
    q: NotRequired[str | None]


class RunOut(TypedDict):
    """One due time of one job, or its work between two of them, and what came of it."""

    due_at: str
    error: str | None
    failed: int | None
    finished_at: str | None
    id: str
    items: int | None
    job_id: str
    last_item_error: str | None
    outcome: RunOutcome
    process: str
    retried: int | None
    started_at: str | None
    succeeded: int | None


RunOutcome: TypeAlias = (
    'Literal["running", "executed", "failed", "missed", "skipped", "lost"]'
)


class SampleDetail(TypedDict):
    """A sample with its values."""

    created_at: str
    drawn: int
    field: str
    id: str
    kind: str
    population: int
    precision: PrecisionOut
    query: dict[str, Any]
    values: list[SampledValueOut]


class SampleIn(TypedDict):
    """Of which list which values are drawn."""

    field: Literal["email", "phone", "person", "role", "address"]
    filter: NotRequired[list[str]]
    kind: Literal["companies", "contacts"]
    q: NotRequired[str | None]


class SampleOut(TypedDict):
    """A record the rule would decide about."""

    id: str
    label: str | None


class SampledValueOut(TypedDict):
    """One value of a sample, and where it was read."""

    confidence: float | None
    domain: str | None
    mark: ValueMark | None
    method: str | None
    position: int
    record_id: str
    snippet: str | None
    url: str | None
    value: str | None


class ScheduleIn(TypedDict):
    """How often a search is run, and for how much."""

    budget: NotRequired[float | str | None]
    every: Repetition
    has_digest: NotRequired[bool]
    is_paused: NotRequired[bool]
    next_run_at: NotRequired[str | None]


class ScheduleOut(TypedDict):
    """When a search is run, what its runs have come to, and what the next one will cost."""

    budget: str | None
    estimate: EstimateOut | None
    every: Repetition | None
    has_digest: bool
    is_paused: bool
    is_scheduled: bool
    last_run_at: str | None
    most_a_month: str | None
    next_run_at: str | None
    problem: str | None
    runs: list[SearchRun]
    search_id: str
    spent: str
    unavailable: str | None


SchedulerPace: TypeAlias = 'Literal["eager", "interval"]'


class SchedulerStatusOut(TypedDict):
    """The scheduler, over all processes."""

    jobs: list[JobOut]
    problems: dict[str, str]
    running: bool


class SearchBudgetIn(TypedDict):
    """How much more a search may spend when it goes on."""

    budget: NotRequired[float | str | None]


class SearchChanges(TypedDict):
    """What a search found against the one before it that asked the same."""

    changed: list[RecordLink]
    changed_count: int
    gone: list[RecordLink]
    gone_count: int
    new: list[RecordLink]
    new_count: int
    previous_id: str | None


class SearchDetail(TypedDict):
    """One search, with what has changed since the last one like it."""

    budget: NotRequired[list[SiteBudgetLine]]
    changes: SearchChanges
    etag: str
    evidence: list[EvidenceOut]
    people: NotRequired[list[NamedPerson]]
    record: SearchOut
    related: dict[str, list[RecordLink]]
    verdicts: NotRequired[list[MapVerdictOut]]


class SearchIn(TypedDict):
    """What to look for, where, in which source."""

    area: NotRequired[AreaIn | None]
    budget: NotRequired[float | str | None]
    business_type: NotRequired[str]
    dataset: NotRequired[str | None]
    file: NotRequired[str | None]
    language: NotRequired[str | None]
    licence: NotRequired[str | None]
    limit: NotRequired[int | None]
    location: NotRequired[str | None]
    radius_m: NotRequired[int | None]
    region: NotRequired[str | None]
    service_areas: NotRequired[bool]
    source: NotRequired[str]


class SearchOut(TypedDict):
    """One search of a source for businesses of a kind in an area."""

    area: list[Any] | dict[str, Any] | None
    budget: str | None
    business_type: str
    coverage: list[Any] | dict[str, Any] | None
    created_at: str
    created_by: str | None
    error: str | None
    finished_at: str | None
    followed_at: str | None
    found_count: int
    id: str
    location: str | None
    new_count: int
    params: list[Any] | dict[str, Any]
    problems: list[Any] | dict[str, Any]
    progress: list[Any] | dict[str, Any]
    radius_m: int | None
    repeats_id: str | None
    source: str
    spent: str
    status: TaskStatus
    updated_at: str


class SearchProgressOut(TypedDict):
    """How far a search is, with everything that it found."""

    error: str | None
    estimated_end_at: str | None
    followed_at: str | None
    open: int
    stages: list[StageCountOut]
    state: Literal["searching", "following", "undecided", "finished", "stopped"]
    undecided: list[UndecidedOut]


class SearchRun(TypedDict):
    """One run of a search."""

    created_at: str
    finished_at: str | None
    found_count: int
    id: str
    new_count: int
    spent: str
    status: str


class SearchYield(TypedDict):
    """A search and what it brought."""

    business_type: str
    created_at: str
    funnel: FunnelOut
    id: str
    location: str | None
    source: str
    status: str


Seniority: TypeAlias = (
    'Literal["owner", "executive", "manager", "professional", "staff"]'
)


class SessionOut(TypedDict):
    """Who is asking, and what they may do."""

    csrf_token: str | None
    email: str | None
    environment: str
    is_operator: bool
    name: str
    permissions: list[Permission]
    role: Role
    tenant: SessionTenant
    version: str
    via: Literal["session", "token", "key", "local"]


class SessionTenant(TypedDict):
    """The tenant of a session."""

    id: str
    name: str


class SessionsEnded(TypedDict):
    """How many sessions a request has ended."""

    ended: int


class SettingOut(TypedDict):
    """One setting; secrets are masked."""

    changed: str | None
    description: str
    is_default: bool
    name: str
    value: str


class SideOut(TypedDict):
    """One of two records that may be one company."""

    company_id: str | None
    domain: str | None
    name: str | None
    phone: str | None
    source: str
    street: str | None


class SiteBudgetLine(TypedDict):
    """One part of what may be taken of a site."""

    most: int
    name: str
    used: float


SitemapAnalysisStatus: TypeAlias = (
    'Literal["pending", "queued", "processing", "submitted", "failed"]'
)


class SitemapFileOut(TypedDict):
    """One sitemap, feed or link list that names pages of a domain."""

    created_at: str
    created_by: str | None
    deep_scrape_curation_status: CurationStatus
    domain: str | None
    domain_id: str
    dropped: list[Any] | dict[str, Any]
    etag: str | None
    found_by: str | None
    generator: str | None
    id: str
    last_modified: str | None
    lastmod: str | None
    priority: int
    sitemap_import_error: str | None
    sitemap_import_status: SitemapImportStatus | None
    sitemap_type: str | None
    size_bytes: int | None
    status: SitemapFileStatus
    updated_at: str
    url: str
    url_count: int | None


SitemapFileStatus: TypeAlias = 'Literal["Pending", "Processing", "Completed", "Error"]'


SitemapImportStatus: TypeAlias = 'Literal["Queued", "Processing", "Complete", "Error"]'


class SourceOut(TypedDict):
    """A source of places: whether it can be asked, and what it needs."""

    attribution: str | None
    is_ready: bool
    licence: str | None
    name: str
    needs: str | None
    needs_budget: bool
    takes: list[str]
    why: str | None


class StageCountOut(TypedDict):
    """Records of one stage that a search has led to."""

    done: int
    failed: int
    queued: int
    stage: str
    working: int


class StageOut(TypedDict):
    """One stage of the pipeline, as it stands for this tenant."""

    changed: NotRequired[dict[str, Any]]
    does: str
    done: int
    errors_last_hour: int
    eta_seconds: NotRequired[float | None]
    failed: int
    field: str
    held: int
    held_back: NotRequired[str | None]
    high_water: NotRequired[int | None]
    kind: str
    lane: str
    makes: NotRequired[str | None]
    next: list[str]
    oldest_seconds: NotRequired[float | None]
    overrides: NotRequired[list[StageOverrideOut]]
    pace: str
    paused: NotRequired[str | None]
    queued: int
    queued_status: str
    rate_limit: NotRequired[int | None]
    rate_per_minute: float
    settings: StageSettingsOut
    stage: str
    started_with: StageSettingsOut
    title: str
    waiting_retry: int
    working: int


class StageOverrideOut(TypedDict):
    """A setting of a stage that was changed while processes run."""

    changed_at: str
    changed_by: str | None
    no_effect: str | None
    setting: str
    value: Any


class StageSettingsIn(TypedDict):
    """Settings to change; null takes a change back."""

    batch_size: NotRequired[int | None]
    concurrency: NotRequired[int | None]
    high_water: NotRequired[int | None]
    interval_minutes: NotRequired[float | None]
    max_instances: NotRequired[int | None]
    pace: NotRequired[SchedulerPace | None]
    rate_per_minute: NotRequired[int | None]


class StageSettingsOut(TypedDict):
    """The settings of a stage that can be changed without a restart."""

    batch_size: int
    concurrency: int
    high_water: int
    interval_minutes: float
    max_instances: int
    pace: SchedulerPace
    rate_per_minute: NotRequired[int | None]


class StatusIn(TypedDict):
    """Which records get which status: these ids, or all that a list would show."""

    dry_run: NotRequired[bool]
    filter: NotRequired[list[Condition] | None]
    force: NotRequired[bool]
    ids: NotRequired[list[str] | None]
    q: NotRequired[str | None]
    status: str


class StatusOut(TypedDict):
    """What a decision came to, and the handle to undo it by."""

    action_id: str | None
    changed: int
    dry_run: bool
    matched: int
    queued: int
    skipped: dict[str, int]


class StoppedCompaniesOut(TypedDict):
    """Companies on the list, the latest change first."""

    items: list[StoppedCompanyOut]
    next_after: str | None


class StoppedCompanyOut(TypedDict):
    """A company on the list, which its lead status says."""

    by: str | None
    domain: str | None
    id: str
    name: str | None
    phone: str | None
    since: str | None


SubjectKind: TypeAlias = 'Literal["email", "phone", "domain", "person"]'


class SubmissionOut(TypedDict):
    """What a submission came to, line by line where something was wrong."""

    accepted: int
    batch_id: str
    duplicates: int
    refused: list[RefusedLine]
    refused_count: int


class SubmitIn(TypedDict):
    """Lines to submit together."""

    items: list[str]
    name: NotRequired[str | None]
    priority: NotRequired[int]


class SuppressedOut(TypedDict):
    """What adding to the list came to."""

    added: int
    contacts_removed: int
    ids: list[str]
    known: int
    refused: list[RefusedValue]


class SuppressionOut(TypedDict):
    """One entry; whom it protects is known only to whoever asks with the value."""

    created_at: str
    created_by: str | None
    id: str
    kind: SubjectKind
    reason: str | None


class SuppressionsIn(TypedDict):
    """Whom to leave alone from now on."""

    dry_run: NotRequired[bool]
    reason: NotRequired[str | None]
    region: NotRequired[str | None]
    values: list[str]


class SyncRecordOut(TypedDict):
    """A record of ours in a CRM: since when, and what differs there."""

    connection_id: str
    created_at: str
    differs: dict[str, Any]
    done_at: str | None
    id: str
    kind: str
    label: NotRequired[str | None]
    problem: dict[str, Any]
    record_id: str
    state: str
    their_id: str | None
    updated_at: str


class SyncWriteOut(TypedDict):
    """One write to the CRM."""

    after: dict[str, Any]
    before: dict[str, Any]
    created_at: str
    id: str
    is_new: bool
    kind: str
    label: NotRequired[str | None]
    record_id: str
    run_id: str
    their_id: str
    undone_at: str | None


class SystemOut(TypedDict):
    """The system as its administrators see it."""

    environment: Environment
    inside: NotRequired[InsideOut | None]
    scheduler_runs: bool
    version: str


TaskStatus: TypeAlias = 'Literal["Queued", "InProgress", "Completed", "Error", "ManualReview", "Cancelled", "Paused"]'


class TenantChange(TypedDict):
    """What changes of a tenant; what is left out stays."""

    budget: NotRequired[TenantLimits | None]
    name: NotRequired[str | None]
    suspended: NotRequired[bool | None]


class TenantIn(TypedDict):
    """A tenant to make, best with someone who can log in."""

    admin: NotRequired[UserIn | None]
    name: str
    slug: NotRequired[str | None]


class TenantLimits(TypedDict):
    """What a tenant may take a day (UTC); what is left out stays."""

    bytes: NotRequired[int | None]
    pages_fetched: NotRequired[int | None]
    pages_stored: NotRequired[int | None]
    parse_seconds: NotRequired[int | None]
    snapshot_bytes: NotRequired[int | None]


class TenantOut(TypedDict):
    """A tenant."""

    budget: dict[str, int]
    created_at: str
    id: str
    name: str
    slug: str
    suspended_at: str | None


class ThroughputOut(TypedDict):
    """One stage's minutes, the oldest first."""

    minutes: list[MinuteOut]
    stage: str
    title: str


class TimelineEvent(TypedDict):
    """One thing that happened."""

    at: str
    fields: NotRequired[list[str]]
    name: NotRequired[str | None]
    search_id: NotRequired[str | None]
    status_after: NotRequired[str | None]
    status_before: NotRequired[str | None]
    value: NotRequired[str | None]
    value_before: NotRequired[str | None]
    what: Literal[
        "found",
        "confirmed",
        "status",
        "edited",
        "merged",
        "undone",
        "changed",
        "contact_found",
        "person_found",
    ]
    who: str | None


class TimelineOut(TypedDict):
    """What happened to a company, the latest first."""

    events: list[TimelineEvent]


class Total(TypedDict):
    """How many there are in all."""

    count: int
    is_exact: bool


class TotalOut(TypedDict):
    """How many companies exist of what was searched for."""

    estimate: float | None
    found: int
    high: int | None
    low: int | None
    sources: dict[str, int]
    why: str


class TriggeredOut(TypedDict):
    """What a manual run came to, as far as it was waited for."""

    finished: bool
    items: NotRequired[int | None]
    job_id: str


class TroubleOut(TypedDict):
    """One cause of failures, lately."""

    cause: str
    count: int
    example: NotRequired[str | None]
    final: int
    first_at: str
    items: int
    last_at: str
    stage: str
    title: str


class UndecidedOut(TypedDict):
    """Records that wait for a person."""

    kind: str
    records: int


class UndoOut(TypedDict):
    """What a slice of an undo did; call again while `left` is not 0."""

    deleted: int
    kept: int
    left: int
    restored: int


class UndoneOut(TypedDict):
    """What an undo came to."""

    action_id: str
    restored: int
    skipped: dict[str, int]


class UserChange(TypedDict):
    """What changes of a person; what is left out stays."""

    disabled: NotRequired[bool | None]
    name: NotRequired[str | None]
    password: NotRequired[str | None]
    role: NotRequired[Role | None]
    subject: NotRequired[str | None]


class UserIn(TypedDict):
    """A person to let in."""

    email: str
    name: NotRequired[str | None]
    password: NotRequired[str | None]
    role: NotRequired[Role]
    subject: NotRequired[str | None]


class UserOut(TypedDict):
    """A person of the tenant."""

    created_at: str
    disabled_at: str | None
    email: str
    id: str
    is_invited: bool
    name: str | None
    role: Role
    subject: str | None
    updated_at: str


ValueMark: TypeAlias = 'Literal["right", "wrong", "unknown"]'


class ValueSampleOut(TypedDict):
    """A sample, and what its marks measure."""

    created_at: str
    drawn: int
    field: str
    id: str
    kind: str
    population: int
    precision: PrecisionOut
    query: dict[str, Any]


class ValueShareOut(TypedDict):
    """How many companies have a value, and what share of them is expected to be right."""

    basis: Literal["marks", "confidence"] | None
    companies: int
    expected: float | None
    high: float | None
    low: float | None
    marked: int
    name: Literal["email", "phone", "person", "address"]


class ValuesIn(TypedDict):
    """Which values to look up."""

    region: NotRequired[str | None]
    values: list[str]


class ViewIn(TypedDict):
    """A list under a name; a view of that name is replaced."""

    is_shared: NotRequired[bool]
    kind: str
    name: str
    query: ViewQuery


class ViewOut(TypedDict):
    """A saved view."""

    created_at: str
    id: str
    is_mine: bool
    is_shared: bool
    kind: str
    name: str
    query: ViewQuery
    updated_at: str


class ViewQuery(TypedDict):
    """What the view shows, as a list is asked for it."""

    columns: NotRequired[list[str]]
    filter: NotRequired[list[str]]
    q: NotRequired[str | None]
    sort: NotRequired[str]


VoidReason: TypeAlias = 'Literal["erased", "suppressed", "expired", "budget"]'


class WebhookChange(TypedDict):
    """What is to be different about an endpoint."""

    events: NotRequired[list[str] | None]
    format: NotRequired[Literal["event", "batch"] | None]
    ignored_actors: NotRequired[list[str] | None]
    is_active: NotRequired[bool | None]
    name: NotRequired[str | None]
    schemes: NotRequired[list[Literal["v1", "v1a"]] | None]
    url: NotRequired[str | None]


class WebhookDeliveryOut(TypedDict):
    """One message, and how it went."""

    attempts: list[DeliveryAttemptOut]
    created_at: str
    delivered_at: str | None
    event_count: int
    id: str
    message_id: str
    next_at: str | None
    state: Literal["pending", "delivered", "failed"]
    type: str


class WebhookIn(TypedDict):
    """A new endpoint."""

    events: NotRequired[list[str]]
    format: NotRequired[Literal["event", "batch"]]
    ignored_actors: NotRequired[list[str]]
    name: NotRequired[str | None]
    schemes: NotRequired[list[Literal["v1", "v1a"]]]
    url: str


class WebhookMade(TypedDict):
    """A new endpoint, or one with a new secret: the only time that it is shown."""

    created_at: str
    disabled_at: str | None
    events: list[str]
    failing_since: str | None
    format: Literal["event", "batch"]
    id: str
    ignored_actors: list[str]
    is_active: bool
    last_delivery_at: NotRequired[str | None]
    name: str
    pending: NotRequired[int]
    problem: str | None
    public_key: str | None
    schemes: list[Literal["v1", "v1a"]]
    secret: str
    url: str


class WebhookOut(TypedDict):
    """An endpoint; its secret is not shown."""

    created_at: str
    disabled_at: str | None
    events: list[str]
    failing_since: str | None
    format: Literal["event", "batch"]
    id: str
    ignored_actors: list[str]
    is_active: bool
    last_delivery_at: NotRequired[str | None]
    name: str
    pending: NotRequired[int]
    problem: str | None
    public_key: str | None
    schemes: list[Literal["v1", "v1a"]]
    url: str


class WebhookTestOut(TypedDict):
    """How a test message went."""

    attempt: DeliveryAttemptOut
    is_delivered: bool
    message_id: str


class WeekOut(TypedDict):
    """Whom one person contacted and won in a week.

    A lead counts by its status now, as in the funnels: once, in the week in which
    somebody brought it that far. What came from a CRM is nobody's.
    """

    contacted: int
    person: str | None
    replied: int
    user_id: str | None
    week: str
    won: int


class WorkIn(TypedDict):
    """What to change on which companies: these ids, or all that a list would show."""

    add_tags: NotRequired[list[str]]
    filter: NotRequired[list[Condition] | None]
    follow_up_on: NotRequired[str | None]
    ids: NotRequired[list[str] | None]
    own: NotRequired[dict[str, str | float | None]]
    owner_id: NotRequired[str | None]
    q: NotRequired[str | None]
    remove_tags: NotRequired[list[str]]


class WorkOut(TypedDict):
    """What it came to, and the handle to undo it by."""

    action_id: str | None
    changed: int
    matched: int


class WorkerOut(TypedDict):
    """One process of this installation."""

    address: NotRequired[str | None]
    host: str
    in_hand: int
    name: str
    pid: int
    resting: NotRequired[str | None]
    role: str
    seen_seconds: float
    stages: list[str]
    started_at: str
    state: str
    version: str
