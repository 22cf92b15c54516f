"""Hooks of mkdocs.yml: pages from outside docs/, links that leave docs/, llms.txt and the Markdown of each page."""

import logging
import posixpath
import re
from pathlib import Path

from mkdocs.structure.files import File

ROOT = Path(__file__).resolve().parents[3]
SOURCE = "https://github.com/oxgang/oxgang/blob/main/"
# Pages of the site whose files are not in docs/.
OUTSIDE = {"index.md": "README.md", "changelog.md": "CHANGELOG.md", "python.md": "python/README.md"}
PAGES = {file: page for page, file in OUTSIDE.items()}
LINK = re.compile(r'(```.*?```|`[^`\n]*`)|(\]\(|(?:src|srcset|href)=")([^)\s"]+)', re.S)

log = logging.getLogger("mkdocs.plugins.site")  # its warnings are errors, as the build is strict
pages = {}
order = []  # the pages of nav, in its order


def on_files(files, config):
    for page, file in OUTSIDE.items():
        files.append(File.generated(config, page, content=(ROOT / file).read_text()))
    return files


def on_nav(nav, config, files):
    order[:] = [page.file.src_uri for page in nav.pages]
    return nav


def on_page_markdown(markdown, page, config, files):
    """Points each relative link to a page of the site, or to the file at GitHub."""
    here = page.file.src_uri
    folder = posixpath.dirname(OUTSIDE.get(here, "docs/" + here))

    def rewrite(match):
        code, before, target = match.groups()
        if code or target.startswith("#") or re.match(r"[a-z]+:", target):
            return match.group(0)
        path, sep, anchor = target.partition("#")
        file = posixpath.normpath(posixpath.join(folder, path))
        if not (ROOT / file).exists():
            log.warning("%s: dead link: %s", here, target)
        to = PAGES.get(file, file.removeprefix("docs/"))
        if file not in PAGES and (not file.startswith("docs/") or (ROOT / file).is_dir()):
            return before + SOURCE + file + sep + anchor
        return before + posixpath.relpath(to, posixpath.dirname(here) or ".") + sep + anchor

    markdown = LINK.sub(rewrite, markdown)
    pages[here] = markdown
    return markdown


def on_post_build(config):
    """Writes each page's Markdown next to its HTML, and llms.txt, the list of them for programs that read."""
    lines = ["# " + config.site_name, "", "> " + config.site_description, ""]
    for page in order + sorted(pages.keys() - set(order)):
        markdown = pages[page]
        to = Path(config.site_dir, page)
        to.parent.mkdir(parents=True, exist_ok=True)
        to.write_text(markdown)
        title = re.search(r"^# (.+)$", markdown, re.M)
        lines.append(f"- [{title.group(1) if title else page}]({page})")
    Path(config.site_dir, "llms.txt").write_text("\n".join(lines) + "\n")
