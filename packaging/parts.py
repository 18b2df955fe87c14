"""The parts that a program is linked with, from the linker's map: Swift packages, the projects that they contain, the parts of the toolchain,
and Debian's packages. What the map names and no rule below knows is an error, so that no part is left out."""

import fnmatch
import json
import re
import subprocess
from dataclasses import dataclass, field
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
CHECKOUTS = ROOT / ".build" / "checkouts"
SWIFT = "Apache-2.0 WITH Swift-exception"


@dataclass
class Part:
    name: str
    version: str
    licence: str                      # an SPDX expression
    texts: list[Path] = field(default_factory=list)
    notices: list[Path] = field(default_factory=list)
    source: str = ""                  # where it is from
    purl: str = ""
    copyright: list[str] = field(default_factory=list)
    is_debian: bool = False

    def __post_init__(self):
        for path in [] if self.copyright else self.notices + self.texts:
            lines = path.read_text(encoding="utf-8").splitlines()
            found = [re.sub(r"(?i)^\W*copyright(?: *\(c\)| *©|:)?,? *", "", line).strip(" .*") for line in lines
                     if re.match(r"(?i)\W*copyright(?: *\(c\)| *©|:)? .*(?:\d{4}|authors)", line) and "[yyyy]" not in line]
            self.copyright += [line for line in found if line not in self.copyright]
        self.copyright = self.copyright or [f"the authors of {self.name}"]


# Targets in C: None is the package's own code; otherwise the project that the target contains, its licence, and the text or the holders.
C_TARGETS = {
    "CNIOExtrasZlib": ("zlib", "Zlib", "include/nioextras-zlib.h"),
    "CNIOLLHTTP": ("llhttp", "MIT", "LICENSE"),
    "CYaml": ("libyaml", "MIT", ROOT / "packaging" / "licences" / "libyaml"),
    **dict.fromkeys((
        "CNIOAtomics", "CNIODarwin", "CNIOFreeBSD", "CNIOLinux", "CNIOOpenBSD", "CNIOPosix",
        "CNIOWASI", "CNIOWindows", "CSystem", "_AtomicsShims", "_NumericsShims", "_SubprocessCShims")),
}
# Archives of the toolchain, by pattern.
ARCHIVES = {
    "libdispatch.a": ["libdispatch"], "libBlocksRuntime.a": ["libdispatch"], "lib_FoundationICU.a": ["ICU", "Foundation"],
    "libswiftCore.a": ["Swift", "LLVM"], "libswift*.a": ["Swift"], "swiftrt.o": ["Swift"],
    "libFoundation*.a": ["Foundation"], "libCoreFoundation.a": ["Foundation"], "lib_FoundationCShims.a": ["Foundation"],
    "lib_FoundationCollections.a": ["swift-collections of Foundation"],
}
TOOLCHAIN = {
    "Swift": (SWIFT, "https://github.com/swiftlang/swift"),
    "LLVM": ("Apache-2.0 WITH LLVM-exception", "https://github.com/swiftlang/llvm-project"),
    "Foundation": (SWIFT, "https://github.com/swiftlang/swift-foundation"),
    "swift-collections of Foundation": (SWIFT, "https://github.com/apple/swift-collections"),
    "libdispatch": (SWIFT, "https://github.com/swiftlang/swift-corelibs-libdispatch"),
    "ICU": ("Unicode-3.0", "https://github.com/swiftlang/swift-foundation-icu"),
}


def fail(words):
    raise SystemExit(f"packaging/parts.py: {words}")


def licence_of(text, place):
    if "Permission is hereby granted, free of charge" in text:
        return "MIT"
    if "Apache License" in text:
        return SWIFT if "As an exception, if you use this Software to compile" in text else "Apache-2.0"
    fail(f"{place} has a licence that is not known here: add its rule to licence_of")


def read(maps):
    """The targets, those with objects of C, and the other files that the maps name."""
    objects, others = {}, set()
    for path in maps:
        with open(path, encoding="utf-8", errors="replace") as file:
            for line in file:
                # A path begins with a slash, as the linker's command line has it; gold, lld and bfd write maps of different forms.
                for found in re.findall(r"/[^\s()]+?\.(?:o|a)(?=[\s():]|$)", line):
                    target = re.search(r"/([^/]+)\.build/.*?([^/]+)\.o$", found)
                    if target:
                        objects.setdefault(target[1], set()).add(target[2])
                    elif ".product/" not in found:
                        others.add(found)
    if not objects or not others:
        fail(f"{' '.join(maps)}: no linker's map of a Swift program")
    return objects, others


def places_of(target):
    """The checkouts of the packages that have the target, each with the target's folder. Two can have one of the same name, of which the map
    does not say the package: then both count."""
    declared, found = [], []
    for home in sorted(CHECKOUTS.iterdir()):
        folder = next((path for path in (home / "Sources" / target, home / target) if path.is_dir()), None)
        words = "".join(path.read_text(encoding="utf-8") for path in home.glob("Package*.swift"))
        if re.search(rf'\.target\(\s*name: *"{target}"', words):
            declared.append((home, folder or home))
        elif folder:
            # A manifest can make its targets by functions of its own.
            found.append((home, folder))
    return declared or found or fail(f"the target {target} is linked, and no checkout has it")


def package(home, pins):
    pin = pins.get(home.name.lower()) or fail(f"{home.name} is not in Package.resolved")
    source = pin["location"].removesuffix(".git")
    version = pin["state"].get("version", pin["state"]["revision"])
    texts = [path for path in sorted(home.iterdir()) if re.match(r"(?i)(licen[cs]e|copying)", path.name)]
    notices = [path for path in sorted(home.iterdir()) if path.name.upper().startswith("NOTICE")]
    licence = licence_of("\n".join(path.read_text(encoding="utf-8") for path in texts), home)
    return Part(home.name, version, licence, texts, notices, source, f"pkg:swift/{source.split('://', 1)[1]}@{version}")


def contained_in(target, part, folder):
    """The project that a target in C contains, if its source is not the package's own."""
    if target not in C_TARGETS:
        fail(f"{target} of {part.name} is in C: say in C_TARGETS whether it contains another project, and its licence")
    if not C_TARGETS[target]:
        return None
    name, licence, text = C_TARGETS[target]
    texts, holders = ([], text) if isinstance(text, list) else ([folder / text], [])
    return Part(name, f"in {part.name} {part.version}", licence, texts, [], part.source, copyright=holders)


def packages(objects):
    pins = {pin["identity"]: pin for pin in json.loads((ROOT / "Package.resolved").read_text(encoding="utf-8"))["pins"]}
    own = {path.name.replace("-", "_") for folder in ("Sources", "tools") for path in (ROOT / folder).iterdir()}
    parts = {}
    for target, files in sorted(objects.items()):
        for home, folder in [] if target in own else places_of(target):
            part = parts.setdefault(home.name, package(home, pins))
            if any(not re.search(r"\.swift(module)?$|^[^.]*$", file) for file in files):
                contained = contained_in(target, part, folder)
                parts.update({contained.name: contained} if contained else {})
    return list(parts.values())


def toolchain(names):
    words = subprocess.run(["swift", "--version"], check=True, capture_output=True, text=True).stdout
    version = re.search(r"Swift version (\S+)", words)
    if not version:
        fail("swift --version names no version")
    return [Part(name, f"of Swift {version[1]}", TOOLCHAIN[name][0], [ROOT / "packaging/licences/Unicode-3.0"] if name == "ICU" else [], [],
                 TOOLCHAIN[name][1]) for name in sorted(names)]


def debian(name):
    """One of Debian's packages. Its licence is the one that its copyright file has for most files, if that says so by a machine's rules."""
    query = subprocess.run(["dpkg-query", "-W", "-f", "${Version} ${Architecture}", name], check=True, capture_output=True, text=True).stdout
    version, architecture = query.split()
    path = Path("/usr/share/doc") / name / "copyright"
    text = path.read_text(encoding="utf-8", errors="replace") if path.exists() else ""
    found = re.search(r"^Files: *\*\n(?:.+\n)*?License: *(\S.*)$", text, re.M)
    return Part(name, version, found[1] if found else f"see {path}", purl=f"pkg:deb/debian/{name}@{version}?arch={architecture}", is_debian=True)


def owner(path):
    for name in (path, path.removeprefix("/usr"), "/usr" + path):
        run = subprocess.run(["dpkg", "-S", name], capture_output=True, text=True)
        if run.returncode == 0:
            return run.stdout.split(":", 1)[0]
    fail(f"{path} is linked, and no package has it")


def linked(maps, libraries=()):
    """All parts. `libraries`: the Debian packages whose shared libraries the program loads."""
    objects, others = read(maps)
    names, static = set(), set(libraries)
    for path in others:
        name = path.rsplit("/", 1)[1]
        rule = next((ARCHIVES[pattern] for pattern in ARCHIVES if fnmatch.fnmatchcase(name, pattern)), None)
        if "/swift_static/" in path or "/swift/" in path:
            names.update(rule or fail(f"{path} is linked, and ARCHIVES does not know it"))
        else:
            static.add(owner(path))
    return packages(objects) + toolchain(names) + [debian(name) for name in sorted(static)]
