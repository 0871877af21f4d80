"""Where we differ from a specification, and why that is right. docs/conformance.md repeats the reasons for its readers.

Each reason stands over the numbers of the examples it explains. An example that differs and stands nowhere fails a test, and so
does one that stands here and no longer differs.
"""

type Reasons = dict[str, set[int]]

GFM: Reasons = {
    "The page's own example is written for plain CommonMark; with the tag filter, which the same page demands, `<script>` and "
    "`<style>` come out as text.": {140, 141, 142, 145, 147},
    "The page's own example is written for plain CommonMark; with extended autolinks, which the same page demands, a bare "
    "address becomes a link.": {610, 616, 619, 620},
    "The same box, written otherwise: the attributes of `<input>` in another order, and the tag closed as XHTML closes it.": {
        279,
        280,
    },
    "`<strong>` directly inside `<strong>` is kept, as CommonMark 0.31 has it; cmark-gfm leaves the inner one out, which "
    "looks the same.": {398, 426, 434, 435, 436, 473, 474, 475, 477},
}  # fmt: skip

CLEANED_COMMONMARK: Reasons = {
    "Raw HTML: an element that HTML does not have, or that is not allowed in embedded content; the text in it stays.": {
        150, 163, 171, 201, 491, 524, 536, 613, 614, 615, 617,
    },
    "Raw HTML: `<script>` and `<style>` go with what is in them.": {170, 172, 173, 176, 178},
    "Raw HTML: comments, processing instructions, declarations and CDATA.": {
        177, 179, 180, 182, 183, 308, 309, 625, 626, 627, 628, 629,
    },
    "Raw HTML: an attribute that is not on the list (`id` of a `<div>`, `class` of an `<i>`, unknown names).": {
        153, 154, 164, 169, 616,
    },
    "A link whose scheme is none of http, https, mailto and tel keeps its text and loses its address.": {596, 598, 599, 601},
}  # fmt: skip

CLEANED_GFM: Reasons = {
    "Raw HTML: an element that HTML does not have, or that is not allowed in embedded content; the text in it stays.": {
        120, 133, 170, 500, 532, 544, 632, 633, 634, 636,
    },
    "Raw HTML: comments, processing instructions, declarations and CDATA.": {
        146, 148, 149, 151, 152, 288, 289, 644, 645, 646, 647, 648,
    },
    "Raw HTML: an attribute that is not on the list (`id` of a `<div>`, `class` of an `<i>`, unknown names).": {
        123, 124, 134, 139, 635,
    },
    "A link whose scheme is none of http, https, mailto and tel keeps its text and loses its address.": {
        604, 606, 607, 609, 628,
    },
}  # fmt: skip


def explained(reasons: Reasons) -> set[int]:
    return set().union(*reasons.values())


# Diagrams that are not drawn, with the reason. Those that Mermaid itself refuses are nobody's loss.
MERMAID = {
    "merm/corpus/shapes/asymmetric.mmd": "`A)Asymmetric(` is no shape of Mermaid's; Mermaid itself refuses it too",
}
MERMAID_BROWSER = MERMAID
GRAPHVIZ: dict[str, str] = {}
D2 = {
    "vitepress-plugin-d2-1.1.0/README.md 2": "it begins with settings of that plug-in, which are not D2",
}

# The letters differ: an identifier of a commit that the source does not name is made up by each engine.
MADE_UP_NAMES = "gitgraph"
