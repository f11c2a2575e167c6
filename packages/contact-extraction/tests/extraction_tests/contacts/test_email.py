import base64
import codecs

import pytest

from contact_extraction.contacts.finder import find_contacts


def addresses(html: str) -> list[str]:
    return [email.address for email in find_contacts(html, "https://acme.com/").emails]


def coded(text: str) -> str:
    return base64.b64encode(text.encode()).decode()


def turned(text: str) -> str:
    return codecs.encode(text, "rot13")


def moved(text: str, by: int) -> str:
    return "".join(chr(ord(letter) + by) for letter in text)


def codeigniter(address: str) -> str:
    """Write an address as CodeIgniter's `safe_mailto` does, the last character first."""
    link = f'<a href="mailto:{address}">{address}</a>'
    cells = [c if c in '<>a=" /' else f"|{ord(c)}" for c in reversed(link)]
    array = "".join(f"l[{place}] = '{cell}';" for place, cell in enumerate(cells))
    return f"<script>var l=new Array();{array}while (l.length) write(l.pop());</script>"


@pytest.mark.parametrize(
    "address",
    ["marie.blanc@notaires.fr", "c.roux@avocat.fr", "dr.petit@medecin.fr", "jo@or.at"],
)
def test_an_address_at_a_public_suffix_that_receives_mail_is_kept(address: str) -> None:
    contacts = find_contacts(f"<p>{address}</p>", "https://acme.com/")

    assert [email.address for email in contacts.emails] == [address]
    assert contacts.emails[0].quality.is_valid


def test_a_category_of_a_registry_is_not_a_mail_host() -> None:
    assert addresses("<p>a@co.uk, b@com.br and c@org.au</p>") == []


@pytest.mark.parametrize(
    "html",
    [
        "<p><strong>Email</strong>jo@acme.com</p>",
        "<p><span>E-mail</span><span>jo@acme.com</span></p>",
        "<li><b>E-Mail-Adresse</b>jo@acme.com</li>",
        "<p><b>Correo electrónico</b><i>jo@acme.com</i></p>",
    ],
)
def test_a_label_that_sticks_to_an_address_is_not_part_of_it(html: str) -> None:
    assert addresses(html) == ["jo@acme.com"]


@pytest.mark.parametrize(
    "html", ["<p>j<!-- -->o@acme.com</p>", "<p>j<b>o@acme.com</b></p>"]
)
def test_an_address_cut_by_markup_is_still_one(html: str) -> None:
    assert addresses(html) == ["jo@acme.com"]


@pytest.mark.parametrize(
    "html",
    [
        pytest.param(
            '<a href="#" data-mailto-token="nbjmup+kpAbdnf/dpn"'
            ' data-mailto-vector="1">Mail</a>',
            id="TYPO3 12 token and vector",
        ),
        pytest.param(
            "<a href=\"javascript:linkTo_UnCryptMailto('nbjmup+kpAbdnf\\/dpn');\">M</a>",
            id="TYPO3 shift by one",
        ),
        pytest.param(
            f'<joomla-hidden-mail is-link="1" first="{coded("jo")}"'
            f' last="{coded("acme.com")}">hidden</joomla-hidden-mail>',
            id="Joomla 4",
        ),
        pytest.param(
            f'<a data-enc-email="{turned("jo")}[at]{turned("acme.com")}">Mail</a>',
            id="Email Encoder, turned",
        ),
        pytest.param(
            '<span class="eeb-rtl">moc.<i class="eeb-nodis">x</i>emca@oj</span>',
            id="Email Encoder, backwards",
        ),
        pytest.param(
            f'<script>var s="{moved("mailto:jo@acme.com", 1)}";for (i in s)'
            " r += String.fromCharCode(s.charCodeAt(i) - 1);</script>",
            id="each character moved by one",
        ),
        pytest.param(
            """<a href="#" onclick="location='mai'+'lto:'+'jo'+'@'+'acme.com'">M</a>""",
            id="put together on click",
        ),
        pytest.param(
            """<a href="javascript:go('jo'+String.fromCharCode(64)+'acme.com')">M</a>""",
            id="put together in a link",
        ),
        pytest.param(
            "<script>const a = 'jo', b = 'acme'; m = `${a}@${b}.com`;</script>",
            id="template literal",
        ),
        pytest.param(codeigniter("jo@acme.com"), id="CodeIgniter"),
        pytest.param(
            f"<script>write('{turned('<a href=mailto:jo@acme.com>')}'.replace(/[a-z]/g,"
            " f => String.fromCharCode(f.charCodeAt(0) + 13)));</script>",
            id="Drupal, turned",
        ),
        pytest.param(f'<a data-email="{coded("jo@acme.com")}">M</a>', id="base64"),
        pytest.param("<p>jo@NOSPAM.acme.com</p>", id="a label against spam"),
        pytest.param("<p>jo.nospam@acme.com</p>", id="a word against spam"),
    ],
)
def test_a_hidden_address_is_read(html: str) -> None:
    assert addresses(html) == ["jo@acme.com"]


def test_a_turned_address_whose_ending_exists_is_turned_back() -> None:
    html = f'<a data-enc-email="{turned("jo")}[at]{turned("acme.org")}">Mail</a>'

    assert addresses(html) == ["jo@acme.org"]


@pytest.mark.parametrize(
    "html",
    [
        pytest.param("<p>Follow @ann@mastodon.social</p>", id="Mastodon handle"),
        pytest.param("<p>Follow us</p><p>@jo.smith.art</p>", id="handle below a word"),
        pytest.param("<p>git clone git@github.com:acme/tool.git</p>", id="git"),
        pytest.param("<p>Message-ID: CAF7x=ab12@mail.acme.com</p>", id="message id"),
        pytest.param(
            "<p>20240102030405.77@mail.acme.com</p>", id="id of a mail server"
        ),
        pytest.param("<pre>root@web1.acme.com:~# ls</pre>", id="prompt"),
        pytest.param("<pre>[ann@web1.acme.com ~]$ ls</pre>", id="prompt in brackets"),
        pytest.param(
            "<p>https://9f8e7d6c5b4a3928@errors.acme.com/5</p>", id="Sentry key"
        ),
        pytest.param("<p>ftp://bob:secret@ftp.acme.com/</p>", id="password in a URL"),
        pytest.param("<p>mart***@gmail.com</p>", id="masked end"),
        pytest.param("<p>***n@gmail.com</p>", id="masked beginning"),
        pytest.param("<p>m•••n@gmail.com</p>", id="masked with dots"),
        pytest.param(f"<p>{'a' * 70}@acme.com</p>", id="70 characters"),
        pytest.param("<p>пётр.ivanov@acme.ru</p>", id="two scripts"),
        pytest.param("<p>info@nomeazienda.it</p>", id="Italian placeholder"),
        pytest.param("<p>kontakt@ihrefirma.de</p>", id="German placeholder"),
        pytest.param("<p>hello@your-company.com</p>", id="English placeholder"),
    ],
)
def test_what_only_looks_like_an_address_is_refused(html: str) -> None:
    assert addresses(html) == []


def test_an_address_after_a_long_url_is_read() -> None:
    link = "https://acme.com/" + "path/" * 20 + "?mail=jo@acme.com"

    assert addresses(f"<p>{link}</p>") == ["jo@acme.com"]


def test_an_address_after_chinese_text_is_read() -> None:
    assert addresses("<p>邮箱jo@acme.com</p>") == ["jo@acme.com"]


def test_strings_side_by_side_in_a_script_are_not_joined_to_an_address() -> None:
    script = '{"name": "shop", "supportEmail": "help@acme.com", "type": "x"}'

    assert addresses(f"<script>var page = {script};</script>") == ["help@acme.com"]


def test_what_a_script_leaves_open_is_not_left_out_of_an_address() -> None:
    assert addresses("<script>m = 'jo' + suffix + '@acme.com';</script>") == []


@pytest.mark.parametrize(
    "secret", ["jogpApck/ef", "0i1o2h3r0@1p2d3m0.1e2g", turned("info@obj.de")]
)
def test_an_address_in_cipher_that_a_link_hands_to_a_script_is_read(
    secret: str,
) -> None:
    page = f"""<p><a href="javascript:DeCryptX('{secret}')">Write to us</a></p>"""

    assert addresses(page) == ["info@obj.de"]


def test_the_argument_of_any_other_script_is_not_an_address() -> None:
    page = """<p><a href="javascript:openWindow('gallery/summer')">Photos</a></p>"""

    assert addresses(page) == []


@pytest.mark.parametrize(
    "page",
    [
        "<p>E-Mail: info @ acme . com</p>",
        "<p>info @ acme . com Tel. 040 123</p>",
        '<p>info<img src="at.gif" alt="@">acme.com</p>',
    ],
)
def test_an_address_with_gaps_or_a_picture_of_its_sign_is_read(page: str) -> None:
    assert addresses(page) == ["info@acme.com"]


def test_a_sentence_with_the_sign_in_it_is_not_an_address() -> None:
    assert addresses("<p>Join us @ noon . it is free</p>") == []
