"""What stands over a contents page, in the language of a pack."""

TITLES = {
    "ar": "المحتويات",
    "cs": "Obsah",
    "da": "Indhold",
    "de": "Inhalt",
    "el": "Περιεχόμενα",
    "en": "Contents",
    "es": "Contenido",
    "fa": "فهرست",
    "fi": "Sisällys",
    "fr": "Sommaire",
    "he": "תוכן העניינים",
    "hu": "Tartalom",
    "it": "Indice",
    "ja": "目次",
    "ko": "목차",
    "nb": "Innhold",
    "nl": "Inhoud",
    "no": "Innhold",
    "pl": "Spis treści",
    "pt": "Índice",
    "ro": "Cuprins",
    "ru": "Содержание",
    "sk": "Obsah",
    "sv": "Innehåll",
    "tr": "İçindekiler",
    "uk": "Зміст",
    "zh": "目录",
}


def contents_title(lang: str) -> str:
    """English for a language that is not here."""
    return TITLES.get(lang.replace("_", "-").partition("-")[0].lower(), TITLES["en"])
