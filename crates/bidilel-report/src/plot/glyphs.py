#!/usr/bin/env python3
"""Writes glyphs.txt: the outlines of Roboto Regular that drawings without a font need.

    pip install fonttools
    python3 glyphs.py /usr/share/fonts/truetype/roboto/unhinted/RobotoTTF/Roboto-Regular.ttf > glyphs.txt

One line per character: its number (hexadecimal), its advance and its outline as SVG path data, in thousandths of the font
size, with y downwards. Debian's package fonts-roboto-unhinted has the font (Apache-2.0).
"""

import sys

from fontTools.pens.basePen import BasePen
from fontTools.ttLib import TTFont

CHARACTERS = (
    [*range(0x20, 0x7F), *range(0xA0, 0x180), *range(0x391, 0x3CA), *range(0x400, 0x460)]
    + [0x2010, 0x2013, 0x2014, 0x2018, 0x2019, 0x201C, 0x201D, 0x2022, 0x2026, 0x2032, 0x2212, 0x2248, 0x2260, 0x2264, 0x2265]
)


class Path(BasePen):
    """SVG path data with relative commands, rounded to integers."""

    def __init__(self, glyphs, scale):
        super().__init__(glyphs)
        self.scale, self.at, self.parts = scale, (0, 0), []

    def point(self, xy):
        return round(xy[0] * self.scale), round(-xy[1] * self.scale)

    def add(self, command, points):
        numbers = [f"{x - self.at[0]} {y - self.at[1]}" for x, y in points]
        self.parts.append(command + " ".join(numbers).replace(" -", "-"))
        self.at = points[-1]

    def _moveTo(self, to):
        # A contour ends where it began, from where relative commands go on.
        to = self.point(to)
        self.parts.append(f"M{to[0]} {to[1]}".replace(" -", "-"))
        self.at = to

    def _lineTo(self, to):
        self.add("l", [self.point(to)])

    def _qCurveToOne(self, control, to):
        self.add("q", [self.point(control), self.point(to)])

    def _closePath(self):
        self.parts.append("z")


def main():
    font = TTFont(sys.argv[1])
    glyphs, names = font.getGlyphSet(), font.getBestCmap()
    scale = 1000 / font["head"].unitsPerEm
    print("# Outlines of Roboto Regular, copyright 2015 Google Inc., Apache License 2.0; made by glyphs.py")
    for character in CHARACTERS:
        if character in names:
            glyph = glyphs[names[character]]
            pen = Path(glyphs, scale)
            glyph.draw(pen)
            print(f"{character:x} {round(glyph.width * scale)} {''.join(pen.parts)}".rstrip())


main()
