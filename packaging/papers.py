"""What goes with the packages: terms of what they carry, an SBOM (SPDX 2.3), release notes, sums."""
import hashlib
import json
import re
import shutil
import subprocess
import zipfile
from datetime import datetime, timezone
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]


def components() -> list[dict]:
    """What packages carry or have linked in: packaging/components.json, with versions."""
    listed = json.loads((ROOT / "packaging/components.json").read_text())
    for component in listed:
        if "debian" in component:
            component["version"] = debian_version(component["debian"])
    return listed


def debian_version(package: str) -> str:
    """9.1.0 of 9.1.0+ds1-2: upstream's."""
    told = subprocess.run(["dpkg-query", "-W", "-f=${Version}", package], check=True, capture_output=True, text=True)
    return re.split(r"[-+~]", told.stdout.split(":")[-1])[0]


def copy_terms(part: str, folder: Path) -> None:
    """Those of one part ("cpp"), or of all ("")."""
    folder.mkdir(parents=True, exist_ok=True)
    shutil.copyfile(ROOT / "LICENSE", folder / "LICENSE")
    for component in components():
        if part and part not in component["in"]:
            continue
        for name, path in component["terms"].items():
            source = ROOT / path
            if source.is_dir():
                shutil.copytree(source, folder / name, dirs_exist_ok=True)
            elif source.exists():
                shutil.copyfile(source, folder / name)
            elif part:
                raise SystemExit(f"dist: {source} is missing: the package must carry it")


def terms(parts: set[str]) -> dict[str, bytes]:
    """The same as files of a jar."""
    return {f"META-INF/licenses/{name}": (ROOT / path).read_bytes() for component in components()
            if parts.intersection(component["in"]) for name, path in component["terms"].items()}


def jar_parts(jar: Path) -> set[str]:
    """As components.json names them: what was built for musl has the C++ library linked in."""
    with zipfile.ZipFile(jar) as opened:
        return {"maven", *("maven musl" for name in opened.namelist() if "-musl/" in name)}


def sha256(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()


def artifacts(out: Path) -> list[Path]:
    return sorted(path for part in ("npm", "cpp", "maven") for path in (out / part).rglob("*") if path.is_file())


def spdx_id(text: str) -> str:
    return "SPDXRef-" + re.sub(r"[^A-Za-z0-9.]+", "-", text)


def sbom(out: Path, version: str, when: int) -> dict:
    created = datetime.fromtimestamp(when, timezone.utc).strftime("%Y-%m-%dT%H:%M:%SZ")
    carried = [{"SPDXID": spdx_id(component["name"]), "name": component["name"],
                "versionInfo": component["version"], "supplier": f"Organization: {component['supplier']}",
                "downloadLocation": "NOASSERTION", "filesAnalyzed": False, "copyrightText": "NOASSERTION",
                "licenseConcluded": component["license"], "licenseDeclared": component["license"]}
               for component in components()]
    made = [{"SPDXID": spdx_id(str(path.relative_to(out))), "name": path.name, "versionInfo": version,
             "packageFileName": str(path.relative_to(out)), "supplier": "Organization: Ebb",
             "downloadLocation": "NOASSERTION", "filesAnalyzed": False, "copyrightText": "NOASSERTION",
             "licenseConcluded": "Apache-2.0", "licenseDeclared": "Apache-2.0",
             "checksums": [{"algorithm": "SHA256", "checksumValue": sha256(path)}]}
            for path in artifacts(out)]
    relations = [{"spdxElementId": "SPDXRef-DOCUMENT", "relationshipType": "DESCRIBES",
                  "relatedSpdxElement": one["SPDXID"]} for one in made]
    for path, one in zip(artifacts(out), made):
        relations += [{"spdxElementId": one["SPDXID"], "relationshipType": "CONTAINS",
                       "relatedSpdxElement": spdx_id(component["name"])}
                      for component in components() if parts_of(path, out).intersection(component["in"])]
    licences = [{"licenseId": "LicenseRef-NVIDIA-CUDA-EULA", "name": "NVIDIA CUDA Toolkit EULA",
                 "extractedText": "See LICENSES/cuda-runtime.txt"}]
    return {"spdxVersion": "SPDX-2.3", "dataLicense": "CC0-1.0", "SPDXID": "SPDXRef-DOCUMENT", "name": f"ebb-{version}",
            "documentNamespace": f"https://ebb.dev/spdx/ebb-{version}-{when}",
            "creationInfo": {"created": created, "creators": ["Tool: packaging/make.py"]},
            "packages": made + carried, "relationships": relations, "hasExtractedLicensingInfos": licences}


def parts_of(path: Path, out: Path) -> set[str]:
    """As components.json names them. The JavaScript of npm, Maven's sources and documents carry nothing."""
    folder, *rest = path.relative_to(out).parts
    if folder == "npm":
        return {f"npm {rest[0]}"} if f"-{rest[0]}-" in path.name else set()
    if folder == "maven":
        return jar_parts(path) if re.search(r"-\d+\.\d+\.\d+\.jar$", path.name) else set()
    return {folder}


def release_notes(version: str) -> str:
    """The version's section of the changelog, or what has not been released yet."""
    sections = re.split(r"^## ", (ROOT / "CHANGELOG.md").read_text(), flags=re.MULTILINE)[1:]
    for title in (f"[{version}]", "[Unreleased]"):
        for section in sections:
            if section.startswith(title):
                return f"# Ebb {version}\n\n" + section.split("\n", 1)[1].strip() + "\n"
    raise SystemExit(f"dist: CHANGELOG.md says nothing of {version}")


def write(out: Path, version: str, when: int) -> None:
    copy_terms("", out / "LICENSES")
    (out / "RELEASE_NOTES.md").write_text(release_notes(version))
    (out / "ebb.spdx.json").write_text(json.dumps(sbom(out, version, when), indent=2) + "\n")
    listed = [*artifacts(out), out / "RELEASE_NOTES.md", out / "ebb.spdx.json"]
    (out / "SHA256SUMS").write_text("".join(f"{sha256(path)}  {path.relative_to(out)}\n" for path in listed))
