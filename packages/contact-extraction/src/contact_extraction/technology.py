"""Recognise the programs and services a page is made with, and what shows it."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from enum import StrEnum
from typing import Final

from contact_extraction.html import HtmlPage


class Category(StrEnum):
    """What a technology is for."""

    CMS = "cms"
    BUILDER = "builder"
    SHOP = "shop"
    THEME = "theme"
    PLUGIN = "plugin"
    ANALYTICS = "analytics"
    TAG_MANAGER = "tag_manager"
    ADVERTISING = "advertising"
    CHAT = "chat"
    BOOKING = "booking"
    FORMS = "forms"
    MARKETING = "marketing"
    PAYMENT = "payment"
    CONSENT = "consent"
    MAPS = "maps"
    REVIEWS = "reviews"
    FRAMEWORK = "framework"
    LIBRARY = "library"
    FONTS = "fonts"
    CDN = "cdn"


@dataclass(frozen=True, slots=True)
class Technology:
    """Something a page is made with."""

    name: str
    category: Category
    version: str | None
    evidence: str


def find_technologies(page: HtmlPage) -> tuple[Technology, ...]:
    """Return what a page is made with, each once, the programs of the site first."""
    clues = _Clues.of(page)
    found: dict[str, Technology] = {}
    for technology in (*_from_generators(clues), *_from_signs(clues)):
        known = found.get(technology.name)
        if known is None or (known.version is None and technology.version):
            found[technology.name] = technology
    order = list(Category)
    return tuple(sorted(found.values(), key=lambda one: order.index(one.category)))


def main_generator(technologies: tuple[Technology, ...]) -> Technology | None:
    """Return the program that a site is run with: its CMS, builder or shop."""
    for category in (Category.CMS, Category.BUILDER, Category.SHOP):
        for technology in technologies:
            if technology.category is category:
                return technology
    return None


@dataclass(frozen=True, slots=True)
class _Clues:
    """Where signs are looked for, all in lower case."""

    generators: tuple[str, ...]
    assets: str
    inline: str
    classes: str

    @classmethod
    def of(cls, page: HtmlPage) -> "_Clues":
        assets = [script.src for script in page.scripts if script.src]
        assets += [link.href for link in page.head_links]
        assets += [image.src for image in page.images[:_MAX_IMAGES]]
        assets += page.frames
        assets += [form.action for form in page.forms]
        assets += [link.href for link in page.links if "://" in link.href]
        inline = [script.text[:_MAX_INLINE] for script in page.scripts if script.text]
        classes = (page.root_attributes.get("class"), page.body_attributes.get("class"))
        return cls(
            generators=tuple(
                content for name, content in page.metas if name == "generator"
            )[:_MAX_GENERATORS],
            assets="\n".join(assets).lower()[:_MAX_CLUES],
            inline="\n".join(inline).lower()[:_MAX_CLUES],
            classes=" ".join(filter(None, classes)).lower(),
        )


@dataclass(frozen=True, slots=True)
class _Sign:
    """What gives a technology away: any of these texts in any of these places."""

    name: str
    category: Category
    assets: tuple[str, ...] = ()
    inline: tuple[str, ...] = ()
    classes: tuple[str, ...] = ()
    version: re.Pattern[str] | None = None


def _from_generators(clues: _Clues) -> Iterator[Technology]:
    for content in clues.generators:
        for name, category, pattern in _GENERATORS:
            if found := pattern.search(content):
                version = found.groupdict().get("version")
                yield Technology(
                    name=name,
                    category=category,
                    version=version.strip(".") if version else None,
                    evidence=f"the generator says {content[:80]!r}",
                )


def _from_signs(clues: _Clues) -> Iterator[Technology]:
    for sign in _SIGNS:
        evidence = _evidence(sign, clues)
        if evidence is not None:
            found = sign.version.search(clues.assets) if sign.version else None
            version = found[1] if found else None
            yield Technology(sign.name, sign.category, version, evidence)


def _evidence(sign: _Sign, clues: _Clues) -> str | None:
    for text in sign.assets:
        if text in clues.assets:
            return f"it loads or links {text!r}"
    for text in sign.inline:
        if text in clues.inline:
            return f"a script says {text!r}"
    for text in sign.classes:
        if text in clues.classes:
            return f"it has the class {text!r}"
    return None


_MAX_IMAGES: Final = 200
_MAX_INLINE: Final = 20_000
_MAX_CLUES: Final = 400_000
_MAX_GENERATORS: Final = 20
_V: Final = r"[\s/:v.]{0,4}(?P<version>\d[\d.]{0,14})?"

_GENERATORS: Final = tuple(
    (name, category, re.compile(pattern, re.IGNORECASE))
    for name, category, pattern in (
        ("WordPress", Category.CMS, r"^wordpress(?:\.com)?" + _V),
        ("WooCommerce", Category.SHOP, r"^woocommerce" + _V),
        ("Elementor", Category.PLUGIN, r"^elementor" + _V),
        ("Divi", Category.THEME, r"^divi(?:\s+v)?" + _V),
        ("WPBakery", Category.PLUGIN, r"wpbakery|visual composer"),
        ("Slider Revolution", Category.PLUGIN, r"slider revolution" + _V),
        ("WPML", Category.PLUGIN, r"^wpml(?: ver)?" + _V),
        ("Site Kit", Category.PLUGIN, r"^site kit by google" + _V),
        ("Easy Digital Downloads", Category.SHOP, r"^easy digital downloads" + _V),
        ("Wix", Category.BUILDER, r"^wix\.com"),
        ("Squarespace", Category.BUILDER, r"^squarespace" + _V),
        ("Shopify", Category.SHOP, r"^shopify"),
        ("Webflow", Category.BUILDER, r"^webflow"),
        ("Drupal", Category.CMS, r"^drupal" + _V),
        ("Joomla", Category.CMS, r"joomla!?" + _V),
        ("TYPO3", Category.CMS, r"^typo3(?: cms)?" + _V),
        ("Jimdo", Category.BUILDER, r"jimdo"),
        (
            "GoDaddy",
            Category.BUILDER,
            r"(?:go daddy|starfield technologies).{0,60}?builder" + _V,
        ),
        ("Weebly", Category.BUILDER, r"weebly"),
        ("Duda", Category.BUILDER, r"^duda\b"),
        ("Ghost", Category.CMS, r"^ghost" + _V),
        ("HubSpot", Category.CMS, r"^hubspot"),
        ("PrestaShop", Category.SHOP, r"^prestashop" + _V),
        ("Magento", Category.SHOP, r"^magento" + _V),
        ("OpenCart", Category.SHOP, r"^opencart" + _V),
        ("Shopware", Category.SHOP, r"^shopware" + _V),
        ("Contao", Category.CMS, r"^contao" + _V),
        ("Concrete CMS", Category.CMS, r"^concrete(?:5| cms)" + _V),
        ("Neos", Category.CMS, r"^neos" + _V),
        ("Kirby", Category.CMS, r"^kirby" + _V),
        ("Craft CMS", Category.CMS, r"^craft cms" + _V),
        ("Umbraco", Category.CMS, r"^umbraco" + _V),
        ("SilverStripe", Category.CMS, r"^silverstripe" + _V),
        ("MODX", Category.CMS, r"^modx" + _V),
        ("ProcessWire", Category.CMS, r"^processwire" + _V),
        ("Bitrix", Category.CMS, r"bitrix"),
        ("DotNetNuke", Category.CMS, r"dotnetnuke"),
        ("Blogger", Category.CMS, r"^blogger"),
        ("Tilda", Category.BUILDER, r"^tilda"),
        ("Webnode", Category.BUILDER, r"^webnode" + _V),
        ("Website X5", Category.BUILDER, r"website x5" + _V),
        ("MobiRise", Category.BUILDER, r"^mobirise" + _V),
        ("IONOS", Category.BUILDER, r"ionos|1&1|1and1|diy.{0,9}website.{0,9}1und1"),
        ("Strato", Category.BUILDER, r"strato|homepage-?baukasten"),
        ("Framer", Category.BUILDER, r"^framer" + _V),
        ("Hostinger", Category.BUILDER, r"^hostinger|^zyro"),
        ("Site123", Category.BUILDER, r"^site123"),
        ("Strikingly", Category.BUILDER, r"^strikingly"),
        ("JouwWeb", Category.BUILDER, r"^(?:jouwweb|webador)"),
        ("Microsoft FrontPage", Category.BUILDER, r"frontpage" + _V),
        ("Adobe Muse", Category.BUILDER, r"^muse" + _V),
        ("RapidWeaver", Category.BUILDER, r"rapidweaver"),
        ("iWeb", Category.BUILDER, r"^iweb" + _V),
        ("NetObjects Fusion", Category.BUILDER, r"netobjects"),
        ("Hugo", Category.CMS, r"^hugo" + _V),
        ("Jekyll", Category.CMS, r"^jekyll" + _V),
        ("Gatsby", Category.FRAMEWORK, r"^gatsby" + _V),
        ("Next.js", Category.FRAMEWORK, r"^next\.js" + _V),
        ("Astro", Category.FRAMEWORK, r"^astro" + _V),
        ("Docusaurus", Category.CMS, r"^docusaurus" + _V),
        ("MediaWiki", Category.CMS, r"^mediawiki" + _V),
        ("vBulletin", Category.CMS, r"^vbulletin" + _V),
        ("Discourse", Category.CMS, r"^discourse" + _V),
        ("Moodle", Category.CMS, r"^moodle"),
    )
)


def _signs() -> Iterator[_Sign]:
    yield _Sign(
        "WordPress",
        Category.CMS,
        assets=("/wp-content/", "/wp-includes/", "wp-emoji-release", "/wp-json/"),
        inline=("wp-includes\\/js", "wpemojisettings"),
        version=re.compile(
            r"/wp-includes/[^\n]{0,200}?[?&]ver=(\d+\.\d+(?:\.\d+)?)(?:\D|$)"
        ),
    )
    yield _Sign(
        "WooCommerce",
        Category.SHOP,
        assets=("/plugins/woocommerce/",),
        classes=("woocommerce",),
        version=re.compile(r"/plugins/woocommerce/[^\n]{0,200}?ver=(\d[\d.]{0,14})"),
    )
    yield _Sign(
        "Elementor",
        Category.PLUGIN,
        assets=("/plugins/elementor/", "/uploads/elementor/"),
        classes=("elementor-page", "elementor-default"),
        version=re.compile(r"/plugins/elementor/[^\n]{0,200}?ver=(\d[\d.]{0,14})"),
    )
    yield _Sign(
        "Divi",
        Category.THEME,
        assets=("/themes/divi/", "/et-cache/"),
        classes=("et_divi_theme", "et_pb_"),
        version=re.compile(r"/themes/divi/[^\n]{0,200}?ver=(\d[\d.]{0,14})"),
    )
    for name, category, *texts in _ASSET_SIGNS:
        yield _Sign(name, Category(category), assets=tuple(texts))
    for name, category, *texts in _INLINE_SIGNS:
        yield _Sign(name, Category(category), inline=tuple(texts))
    for name, category, *texts in _CLASS_SIGNS:
        yield _Sign(name, Category(category), classes=tuple(texts))


_ASSET_SIGNS: Final = (
    ("Astra", "theme", "/themes/astra/"),
    ("Avada", "theme", "/themes/avada/"),
    ("Enfold", "theme", "/themes/enfold/"),
    ("GeneratePress", "theme", "/themes/generatepress/"),
    ("Kadence", "theme", "/themes/kadence/"),
    ("OceanWP", "theme", "/themes/oceanwp/"),
    ("Yoast SEO", "plugin", "/plugins/wordpress-seo/"),
    ("WP Rocket", "plugin", "/wp-rocket/", "/cache/min/"),
    ("WPBakery", "plugin", "/plugins/js_composer/"),
    ("Beaver Builder", "plugin", "/plugins/bb-plugin/", "/fl-builder/"),
    ("Jetpack", "plugin", "/plugins/jetpack/", "stats.wp.com", "i0.wp.com"),
    ("Contact Form 7", "forms", "/plugins/contact-form-7/"),
    ("WPForms", "forms", "/plugins/wpforms"),
    ("Gravity Forms", "forms", "/plugins/gravityforms/"),
    ("Ninja Forms", "forms", "/plugins/ninja-forms/"),
    ("Formspree", "forms", "formspree.io"),
    ("Jotform", "forms", "jotform.com", "jotfor.ms"),
    ("Typeform", "forms", "typeform.com"),
    ("Google Forms", "forms", "docs.google.com/forms"),
    ("Wix", "builder", "static.wixstatic.com", "static.parastorage.com"),
    (
        "Squarespace",
        "builder",
        "static1.squarespace.com",
        "assets.squarespace.com",
        "squarespace-cdn",
    ),
    ("Shopify", "shop", "cdn.shopify.com", "/cdn/shop/"),
    ("Webflow", "builder", "assets.website-files.com", "cdn.prod.website-files.com"),
    ("Drupal", "cms", "/sites/default/files/", "/core/misc/drupal", "/misc/drupal.js"),
    ("Joomla", "cms", "/media/jui/", "/media/system/js/", "/components/com_"),
    ("TYPO3", "cms", "/typo3conf/", "/typo3temp/", "/fileadmin/"),
    ("Jimdo", "builder", "assets.jimstatic.com", "jimdo-storage", "jimcdn.com"),
    ("GoDaddy", "builder", "img1.wsimg.com", "websites.godaddy.com"),
    ("Weebly", "builder", "editmysite.com", "weebly.com/weebly"),
    (
        "Duda",
        "builder",
        "irp.cdn-website.com",
        "lirp.cdn-website.com",
        "multiscreensite.com",
    ),
    ("Ghost", "cms", "/ghost/api/", "ghost.io", "/public/cards.min.css"),
    ("HubSpot", "cms", "/hs-fs/", "/hubfs/", "hs-sites.com"),
    (
        "HubSpot",
        "marketing",
        "js.hs-scripts.com",
        "js.hsforms.net",
        "js.hs-analytics.net",
    ),
    ("PrestaShop", "shop", "/modules/ps_", "/themes/_libraries/"),
    ("Magento", "shop", "/static/version", "/skin/frontend/", "mage/cookies"),
    ("BigCommerce", "shop", "cdn11.bigcommerce.com", "bigcommerce.com/s-"),
    ("Ecwid", "shop", "app.ecwid.com"),
    ("Square Online", "builder", "cdn3.editmysite.com", "square.site"),
    ("Tilda", "builder", "tildacdn.com", "tilda.ws"),
    ("Webnode", "builder", "webnode.com", "duyn491kcolsw.cloudfront.net"),
    ("Framer", "builder", "framerusercontent.com"),
    ("Carrd", "builder", "carrd.co"),
    ("Strikingly", "builder", "strikinglycdn.com"),
    ("Site123", "builder", "cdn-cms.f-static.com", "site123"),
    ("Bitrix", "cms", "/bitrix/"),
    ("Contao", "cms", "/assets/contao/"),
    ("Blogger", "cms", "blogger.com/static", "blogblog.com"),
    ("IONOS", "builder", "cdn.website-start.de", "mywebsite-editor.com"),
    ("Kajabi", "builder", "kajabi-cdn.com", "kajabi.com"),
    ("ClickFunnels", "builder", "clickfunnels.com"),
    (
        "Google Analytics",
        "analytics",
        "google-analytics.com",
        "googletagmanager.com/gtag",
    ),
    ("Matomo", "analytics", "matomo.js", "piwik.js", "matomo.php"),
    ("Plausible", "analytics", "plausible.io"),
    ("Fathom", "analytics", "cdn.usefathom.com"),
    ("Hotjar", "analytics", "static.hotjar.com"),
    ("Microsoft Clarity", "analytics", "clarity.ms"),
    ("Yandex Metrica", "analytics", "mc.yandex.ru"),
    ("Statcounter", "analytics", "statcounter.com"),
    ("Cloudflare Insights", "analytics", "static.cloudflareinsights.com"),
    ("Segment", "analytics", "cdn.segment.com"),
    ("etracker", "analytics", "etracker.com"),
    (
        "Google Tag Manager",
        "tag_manager",
        "googletagmanager.com/gtm",
        "googletagmanager.com/ns",
    ),
    ("Adobe Launch", "tag_manager", "assets.adobedtm.com"),
    ("Tealium", "tag_manager", "tags.tiqcdn.com"),
    ("Google Ads", "advertising", "googleadservices.com", "googlesyndication.com"),
    ("Meta Pixel", "advertising", "connect.facebook.net", "facebook.com/tr?"),
    ("LinkedIn Insight", "advertising", "snap.licdn.com"),
    ("TikTok Pixel", "advertising", "analytics.tiktok.com"),
    ("Microsoft Advertising", "advertising", "bat.bing.com"),
    ("Intercom", "chat", "widget.intercom.io", "js.intercomcdn.com"),
    ("Drift", "chat", "js.driftt.com"),
    ("Tawk.to", "chat", "embed.tawk.to"),
    ("Crisp", "chat", "client.crisp.chat"),
    ("LiveChat", "chat", "cdn.livechatinc.com"),
    ("Zendesk", "chat", "static.zdassets.com"),
    ("Tidio", "chat", "code.tidio.co"),
    ("Olark", "chat", "static.olark.com"),
    ("Smartsupp", "chat", "smartsuppchat.com"),
    ("Userlike", "chat", "userlike-cdn"),
    ("JivoChat", "chat", "code.jivosite.com", "code.jivo"),
    ("Freshchat", "chat", "wchat.freshchat.com"),
    ("Podium", "chat", "connect.podium.com"),
    ("Birdeye", "chat", "birdeye.com/embed"),
    ("WhatsApp button", "chat", "wa.me/", "api.whatsapp.com/send"),
    ("Calendly", "booking", "calendly.com"),
    ("Acuity", "booking", "acuityscheduling.com"),
    ("OpenTable", "booking", "opentable.com/widget", "opentable.com/restref"),
    ("Resy", "booking", "widgets.resy.com"),
    ("Fresha", "booking", "fresha.com"),
    ("Booksy", "booking", "booksy.com"),
    ("Treatwell", "booking", "treatwell."),
    ("Vagaro", "booking", "vagaro.com"),
    ("Mindbody", "booking", "mindbodyonline.com", "healcode.com"),
    ("Setmore", "booking", "setmore.com"),
    ("SimplyBook", "booking", "simplybook."),
    ("Doctolib", "booking", "doctolib."),
    ("Zocdoc", "booking", "zocdoc.com"),
    ("Jane", "booking", "janeapp.com"),
    ("Housecall Pro", "booking", "housecallpro.com"),
    ("Bookeo", "booking", "bookeo.com"),
    ("FareHarbor", "booking", "fareharbor.com"),
    ("Quandoo", "booking", "quandoo."),
    ("TheFork", "booking", "thefork.", "lafourchette.com"),
    ("SevenRooms", "booking", "sevenrooms.com"),
    ("Square Appointments", "booking", "squareup.com/appointments"),
    ("Mailchimp", "marketing", "list-manage.com", "chimpstatic.com"),
    ("Klaviyo", "marketing", "static.klaviyo.com"),
    ("Brevo", "marketing", "sibforms.com", "sendinblue.com", "brevo.com"),
    ("ActiveCampaign", "marketing", "trackcmp.net", "activehosted.com"),
    ("Constant Contact", "marketing", "constantcontact.com", "ctctcdn.com"),
    ("MailerLite", "marketing", "mailerlite.com"),
    ("Salesforce", "marketing", "pardot.com", ".force.com", "salesforce.com"),
    ("CallRail", "marketing", "cdn.callrail.com"),
    ("Stripe", "payment", "js.stripe.com"),
    ("PayPal", "payment", "paypal.com/sdk", "paypalobjects.com"),
    ("Klarna", "payment", "klarna"),
    ("Cookiebot", "consent", "consent.cookiebot.com"),
    ("OneTrust", "consent", "cdn.cookielaw.org", "onetrust.com"),
    ("Borlabs Cookie", "consent", "/plugins/borlabs-cookie/"),
    ("Usercentrics", "consent", "usercentrics.eu"),
    ("Complianz", "consent", "/plugins/complianz"),
    ("iubenda", "consent", "iubenda.com"),
    ("CookieYes", "consent", "cookieyes.com"),
    (
        "Google Maps",
        "maps",
        "google.com/maps/embed",
        "maps.googleapis.com",
        "maps.google.",
    ),
    ("OpenStreetMap", "maps", "openstreetmap.org/export"),
    ("Mapbox", "maps", "api.mapbox.com"),
    ("Trustpilot", "reviews", "widget.trustpilot.com"),
    ("Elfsight", "reviews", "elfsight.com"),
    ("ProvenExpert", "reviews", "provenexpert.com"),
    ("Next.js", "framework", "/_next/"),
    ("Nuxt", "framework", "/_nuxt/"),
    ("Gatsby", "framework", "/page-data/", "webpack-runtime-"),
    ("Angular", "framework", "polyfills-es5", "runtime-es2015"),
    ("React", "framework", "react-dom", "react.production"),
    ("Vue.js", "framework", "vue.min.js", "vue.global", "/vue@"),
    ("jQuery", "library", "jquery"),
    ("Bootstrap", "library", "bootstrap"),
    ("Font Awesome", "fonts", "font-awesome", "fontawesome"),
    ("Google Fonts", "fonts", "fonts.googleapis.com", "fonts.gstatic.com"),
    ("Adobe Fonts", "fonts", "use.typekit.net"),
    ("Cloudflare", "cdn", "cdnjs.cloudflare.com", "/cdn-cgi/"),
    ("jsDelivr", "cdn", "cdn.jsdelivr.net"),
    ("unpkg", "cdn", "unpkg.com"),
    ("reCAPTCHA", "library", "google.com/recaptcha", "gstatic.com/recaptcha"),
    ("hCaptcha", "library", "hcaptcha.com"),
)
_INLINE_SIGNS: Final = (
    ("Google Analytics", "analytics", "gtag('config'", 'gtag("config"', "ga('create'"),
    ("Google Tag Manager", "tag_manager", "'gtm.start'", '"gtm.start"'),
    ("Meta Pixel", "advertising", "fbq('init'", 'fbq("init"'),
    ("Hotjar", "analytics", "_hjsettings"),
    ("Matomo", "analytics", "_paq.push"),
    ("Microsoft Clarity", "analytics", '"clarity", "script"', "'clarity','script'"),
    ("Shopify", "shop", "shopify.theme", "shopify.shop"),
    ("Squarespace", "builder", "static.squarespace_context"),
    ("Wix", "builder", "wixbisession", "rendermodel"),
    ("Tawk.to", "chat", "tawk_api"),
    ("Crisp", "chat", "crisp_website_id"),
    ("Intercom", "chat", "intercomsettings"),
    ("LiveChat", "chat", "__lc.license"),
    ("Drupal", "cms", "drupal.settings", "drupalsettings"),
    ("Weebly", "builder", "_w.configdomain", "weebly."),
    ("Duda", "builder", "dm_site_alias", "_dm_ecommerce"),
)
_CLASS_SIGNS: Final = (
    (
        "WordPress",
        "cms",
        "wp-singular",
        "wp-theme-",
        "page-template-default",
        "wp-custom-logo",
    ),
    ("Webflow", "builder", "w-mod-"),
    ("Wix", "builder", "wix-"),
    ("Squarespace", "builder", "sqs-", "squarespace"),
    ("Drupal", "cms", "node--type", "page-node-type"),
    ("Avada", "theme", "avada-"),
    ("Astra", "theme", "ast-desktop", "ast-page-builder"),
    ("Shopify", "shop", "template-index shopify"),
)
_SIGNS: Final = tuple(_signs())
