"""Which things there are and which pictures of each: names and characters from Unicode, drawings from seven icon sets.

A *class* is one emoji character; its pictures are the drawings of that character by up to seven independent styles.  Twins are
left out: no two classes of a dataset share a content word (not both `tiger` and `tiger face`), because the name of a twin would
give the answer away.
"""

import csv
import json
import re
import unicodedata
from pathlib import Path

# The styles, in the order in which the pictures of a class lie in the files.
STYLES = ["noto", "noto-v1", "twemoji", "fluent-emoji", "fluent-emoji-flat", "emojione", "fxemoji"]
# A class with fewer drawings than this is left out.
FEWEST = 4

# Words that say nothing about what is seen.
EMPTY_WORDS = set("a an and at in of off on over the to up with without not done s o".split())

# Names of whole animals in the one set that has names of its own: there `cat` is a cat's face, `catside` is the cat.
FXEMOJI = {
    "camel": "dromedarycamel",
    "cat": "catside",
    "dog": "dogside",
    "dragon": "dragonside",
    "ewe": "sheep",
    "leopard": "leopardside",
    "mouse": "mouseside",
    "panda": "pandaface",
    "pig": "pigside",
    "rabbit": "bunnyside",
    "tiger": "tigerside",
    "wolf": "wolfface",
}

# Drawings that show something else under the same name: a bat and ball, a piano, a screen's window, a face, a building site.
WRONG = {
    ("noto-v1", "cricket"),
    ("emojione", "cricket"),
    ("fxemoji", "keyboard"),
    ("fxemoji", "window"),
    ("fxemoji", "sunglasses"),
    ("fxemoji", "construction"),
}

# Groups of Unicode that the larger set is made of.  Faces, people, flags and signs are no things.
GROUPS = ["Animals & Nature", "Food & Drink", "Travel & Places", "Activities", "Objects"]
# Clocks and moons are twins without a common word, as are a few pairs here; the rest are signs, views or parts of animals.
LEFT_OUT = re.compile(
    r"o.clock|-thirty|moon|sun behind|hourglass|foggy|unlocked|mount fuji|houses|yen banknote|page with curl|"
    r"paw prints|pig nose|feather$|wing$|phoenix|spade suit|heart suit|diamond suit|club suit|muted speaker|elevator"
)


def slug(name):
    plain = unicodedata.normalize("NFKD", name).encode("ascii", "ignore").decode().lower()
    return re.sub(r"[^a-z0-9]+", "-", plain.replace("'", "")).strip("-")


def content_words(name):
    """The words of a name by which two classes would be twins, in a crude singular."""
    words = re.findall(r"[a-z0-9]+", slug(name.replace("\u2019", " ")))
    singular = (re.sub(r"(?<=[^s])s$", "", re.sub(r"ies$", "y", word)) if len(word) > 3 else word for word in words)
    return {word for word in singular if word not in EMPTY_WORDS}


class Sources:
    """The installed packages."""

    def __init__(self, modules):
        self.modules = Path(modules)
        self.icons = {style: self._json(f"@iconify-json/{style}/icons.json") for style in STYLES}
        self.by_character = {style: self._json(f"@iconify-json/{style}/chars.json") for style in STYLES}
        self.groups = self._json("unicode-emoji-json/data-by-group.json")
        self.keywords = self._json("emojilib/dist/emoji-en-US.json")
        self.annotations = self._json("cldr-annotations-full/annotations/en/annotations.json")["annotations"]["annotations"]

    def _json(self, path):
        return json.loads((self.modules / path).read_text(encoding="utf-8"))

    def emoji(self, groups=None):
        """Character and name of everything, in Unicode's order."""
        for group in self.groups:
            if groups is None or group["name"] in groups:
                for entry in group["emojis"]:
                    yield entry["emoji"], entry["name"]

    def icon(self, style, character, name):
        """The name of a drawing in a set, or None."""
        points = [f"{ord(point):x}" for point in character]
        bare = [point for point in points if point != "fe0f"]
        chars = self.by_character[style]
        if chars:
            found = chars.get("-".join(points)) or chars.get("-".join(bare))
        elif style == "fluent-emoji":
            # The same drawings as the flat set, shaded, under the same names.
            found = self.icon("fluent-emoji-flat", character, name)
        elif style == "fxemoji":
            found = FXEMOJI.get(name, slug(name).replace("-", ""))
        else:
            found = slug(name)
        return found if found and self._body(style, found) else None

    def _body(self, style, icon):
        icons = self.icons[style]
        alias = icons.get("aliases", {}).get(icon)
        return self._body(style, alias["parent"]) if alias else icons["icons"].get(icon)

    def svg(self, style, icon):
        """A drawing on a white square, however wide it is."""
        icons, body = self.icons[style], self._body(style, icon)
        width = body.get("width", icons.get("width", 16))
        height = body.get("height", icons.get("height", 16))
        side = max(width, height)
        left, top = body.get("left", 0) - (side - width) / 2, body.get("top", 0) - (side - height) / 2
        return (
            f'<svg xmlns="http://www.w3.org/2000/svg" xmlns:xlink="http://www.w3.org/1999/xlink" width="{side}" height="{side}" '
            f'viewBox="{left:g} {top:g} {side:g} {side:g}">'
            f'<rect x="{left:g}" y="{top:g}" width="{side:g}" height="{side:g}" fill="#fff"/>{body["body"]}</svg>'
        )

    def drawings(self, character, name):
        """Style and icon name of every drawing of a character."""
        found = [(style, self.icon(style, character, name)) for style in STYLES if (style, name) not in WRONG]
        return [(style, icon) for style, icon in found if icon]

    def sentence(self, character, name):
        """Name and keywords as one line of text."""
        # The first keywords are names of the character in other programs: `tiger2`, `tiger_face`.
        words = [word.replace("_", " ") for word in self.keywords.get(character, []) if not re.search(r"\d", word)]
        annotation = self.annotations.get(character) or self.annotations.get(character.replace("\ufe0f", "")) or {}
        words += annotation.get("default", [])
        unique = [word for word in dict.fromkeys(words) if word != name]
        return ", ".join([name, *unique])


def animals(sources, table):
    """The animals of the attribute table: name, character."""
    characters = {name: character for character, name in sources.emoji()}
    with open(table, encoding="utf-8", newline="") as file:
        names = [row["animal"] for row in csv.DictReader(file)]
    return [(name, characters[name]) for name in names]


def things(sources, animals):
    """Everything else that has enough drawings and no twin; short names first, so that as many as possible stay."""
    taken = set().union(*(content_words(name) for name, _ in animals))
    candidates = [
        (name, character)
        for character, name in sources.emoji(GROUPS)
        if not LEFT_OUT.search(name) and len(sources.drawings(character, name)) >= FEWEST
    ]
    order = {name: index for index, (name, _) in enumerate(candidates)}
    kept = []
    for name, character in sorted(candidates, key=lambda pair: (len(content_words(pair[0])), order[pair[0]])):
        words = content_words(name)
        if not words & taken:
            taken |= words
            kept.append((name, character))
    return sorted(kept, key=lambda pair: order[pair[0]])
