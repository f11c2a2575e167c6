/** What can be done with one contact beyond deciding about it. */
import { type ReactNode, useState } from "react";
import { ApiError, read, write } from "@/api/client";
import type { Kind } from "@/api/kinds";
import { fieldErrors } from "@/api/problem";
import { useMay } from "@/app/session";
import {
  Button,
  Confirm,
  Dialog,
  Field,
  FormButtons,
  Input,
  Menu,
  type MenuItem,
  toast,
  toastError,
} from "@/kit";
import { common } from "@/texts/common";
import { texts } from "@/texts/record";
import { changed, clashWords, type Fields, fieldsOf, merge } from "./edit";
import { type DetailAnswer, text } from "./model";
import { saveEdit } from "./save";

interface ContactToolsProps {
  kind: Kind;
  detail: DetailAnswer;
  onChanged: () => void;
  /** The contact is no longer there. */
  onGone: () => void;
}

type Asked = "edit" | "suppress" | "erase" | "delete" | null;

export function ContactTools({ kind, detail, onChanged, onGone }: ContactToolsProps) {
  const [asked, setAsked] = useState<Asked>(null);
  const [busy, setBusy] = useState(false);
  const mayCurate = useMay("curate");
  const mayAdminister = useMay("administer");
  const { record } = detail;
  const email = text(record.email);
  const phone = text(record.phone);
  const person = email ? { email } : { phone };

  async function run(
    work: () => Promise<unknown>,
    said: string | null,
    isGone = false,
  ): Promise<void> {
    setBusy(true);
    try {
      if ((await work()) === UNFINISHED) return;
      setAsked(null);
      if (said !== null) toast({ kind: "good", text: said });
      if (isGone) onGone();
      onChanged();
    } catch (error) {
      toastError(error);
    } finally {
      setBusy(false);
    }
  }

  if (!mayCurate) return null;
  const items: (MenuItem | "line")[] = [
    {
      name: texts.contactTools.verifyAgain,
      icon: "refresh",
      run: () =>
        void run(
          () => write("POST", "/contacts/{record_id}/validate", { path: { record_id: record.id } }),
          texts.contactTools.verificationIsQueued,
        ),
    },
    { name: common.delete, icon: "trash", danger: true, run: () => setAsked("delete") },
    ...(mayAdminister
      ? ([
          "line",
          { name: common.doNotContact, icon: "shield", run: () => setAsked("suppress") },
          {
            name: texts.contactTools.eraseThisPersonsData,
            icon: "trash",
            danger: true,
            run: () => setAsked("erase"),
          },
        ] as const)
      : []),
  ];
  const close = () => setAsked(null);
  return (
    <div className="row">
      <Button small icon="edit" onClick={() => setAsked("edit")}>
        {texts.contactTools.edit}
      </Button>
      <Menu small label={texts.contactTools.more} icon="more" items={items} />
      {asked === "edit" && (
        <Edit kind={kind} detail={detail} busy={busy} run={run} onClose={close} />
      )}
      {asked === "delete" && (
        <Confirm
          title={texts.contactTools.deleteThisContact}
          action={common.delete}
          danger
          busy={busy}
          onClose={close}
          onConfirm={() =>
            void run(
              () => write("DELETE", "/contacts/{record_id}", { path: { record_id: record.id } }),
              texts.contactTools.contactIsDeleted,
              true,
            )
          }
        >
          <p>{texts.contactTools.itMayComeBack}</p>
        </Confirm>
      )}
      {asked === "suppress" && (
        <Confirm
          title={texts.contactTools.neverContact(email ?? phone)}
          action={common.doNotContact}
          danger
          busy={busy}
          onClose={close}
          onConfirm={() =>
            void run(
              () =>
                write("POST", "/suppressions", {
                  body: { values: [email ?? phone ?? ""] },
                }),
              texts.contactTools.deletedItWillNotBeStored,
              true,
            )
          }
        >
          <p>{texts.contactTools.contactIsDeletedNow}</p>
        </Confirm>
      )}
      {asked === "erase" && (
        <Confirm
          title={texts.contactTools.eraseAllDataOf(email ?? phone)}
          action={texts.contactTools.erase}
          danger
          busy={busy}
          onClose={close}
          onConfirm={() =>
            void run(
              () => write("POST", "/people/erase", { body: person }),
              texts.contactTools.allDataAboutThisPerson,
              true,
            )
          }
        >
          <p>{texts.contactTools.allDataAboutThisPersonIsDeleted}</p>
        </Confirm>
      )}
    </div>
  );
}

/** What work returns that goes on in front of the person. */
const UNFINISHED = Symbol("unfinished");

interface EditProps {
  kind: Kind;
  detail: DetailAnswer;
  busy: boolean;
  run: (work: () => Promise<unknown>, said: null) => Promise<void>;
  onClose: () => void;
}

function Edit({ kind, detail, busy, run, onClose }: EditProps): ReactNode {
  // The version that was opened, not the newest: what others write meanwhile must be noticed.
  const [base, setBase] = useState(detail);
  const [values, setValues] = useState(fieldsOf(detail.record));
  const [theirs, setTheirs] = useState<Partial<Fields>>({});
  const [wrong, setWrong] = useState<Record<string, string>>({});
  const isClash = Object.keys(theirs).length > 0;
  const bind = (name: keyof Fields) => ({
    value: values[name],
    onChange: (event: { target: { value: string } }) =>
      setValues({ ...values, [name]: event.target.value }),
    error: wrong[name] ?? clashWords(theirs[name]),
  });

  async function send(version: DetailAnswer, wanted: Fields): Promise<unknown> {
    const body = changed(fieldsOf(version.record), wanted);
    setWrong({});
    try {
      return await saveEdit(kind, version, body);
    } catch (error) {
      if (!(error instanceof ApiError)) throw error;
      if (error.status !== 412) {
        const found = fieldErrors(error);
        setWrong(found);
        if (Object.keys(found).length === 0) throw error;
        return UNFINISHED;
      }
    }
    const now = await read("/contacts/{record_id}", { path: { record_id: version.record.id } });
    const merged = merge(fieldsOf(version.record), wanted, fieldsOf(now.record));
    setBase(now);
    setValues(merged.values);
    setTheirs(merged.clashes);
    if (Object.keys(merged.clashes).length) return UNFINISHED;
    return send(now, merged.values);
  }

  return (
    <Dialog
      title={texts.contactTools.editContact(
        text(base.record.email) ?? text(base.record.phone) ?? "contact",
      )}
      onClose={onClose}
      onSubmit={() => void run(() => send(base, values), null)}
      actions={
        <FormButtons onClose={onClose} busy={busy}>
          {isClash ? texts.contactTools.saveMyVersion : common.save}
        </FormButtons>
      }
    >
      <div className="stack">
        <div role="status">
          {isClash && (
            <p className="small warn">{texts.contactTools.someoneElseEditedThisContactWhile}</p>
          )}
        </div>
        <Input label={common.name} maxLength={200} {...bind("name")} />
        <Input label={common.role} maxLength={200} {...bind("role")} />
        <Input label={texts.contactTools.phone} maxLength={50} {...bind("phone")} />
        <Input label={texts.contactTools.tags} hint={common.separatedByCommas} {...bind("tags")} />
        <Notes {...bind("notes")} />
      </div>
    </Dialog>
  );
}

interface NotesProps {
  value: string;
  error: string | undefined;
  onChange: (event: { target: { value: string } }) => void;
}

function Notes({ value, error, onChange }: NotesProps) {
  return (
    <Field label={texts.contactTools.notes} error={error}>
      {(props) => (
        <textarea className="input" maxLength={5000} value={value} onChange={onChange} {...props} />
      )}
    </Field>
  );
}
