"""The report in a browser: it is static, so only whether it is whole, readable and two pages long on paper."""

import base64
import os
import re
import subprocess

import drives
import stores


def write(program, directory, name, fences, *arguments):
    """The address of a report on a store of these fences."""
    folder = os.path.join(directory, name)
    os.mkdir(folder)
    configuration = stores.make_empty(program, folder)
    drives.fill(os.path.join(folder, "coverage.sqlite"), fences)
    page = os.path.join(directory, f"{name}.html")
    subprocess.run([program, "report", "--config", configuration, "-o", page, *arguments], check=True)
    return "file://" + page


def test(options, tools, program, directory, findings, driver):
    """`tools` has what test-pages uses for all pages."""
    page = write(program, directory, "report", 1600)
    for width, is_dark in ((1280, False), (1280, True), (390, False), (390, True)):
        findings.where = f"report, {width} px, {'dark' if is_dark else 'light'}: "
        browser = tools.Browser(driver, width, 1000, is_dark=is_dark, touch=width < 500)
        try:
            browser.open(page)
            shown = browser.run("return {tables: document.querySelectorAll('table').length, maps: document.querySelectorAll('svg circle').length,"
                                "notes: document.querySelectorAll('ol li').length, title: document.title}")
            findings.check(shown["tables"] == 4 and shown["maps"] > 3 and shown["notes"] == 10 and shown["title"], f"is whole: {shown}")
            broken = browser.run("return [...document.querySelectorAll('a')].filter((a) => !document.querySelector(a.getAttribute('href'))).length")
            findings.check(broken == 0, "each footnote leads to its text")
            tools.accessible(browser, findings)
            tools.quiet(browser, findings)
            if options.pictures:
                browser.picture(os.path.join(options.pictures, f"report-{width}-{'dark' if is_dark else 'light'}.png"))
            if width == 1280:
                paper = base64.b64decode(browser.cdp("Page.printToPDF", preferCSSPageSize=True, printBackground=True)["data"])
                pages = len(re.findall(rb"/Type\s*/Page\b", paper))
                findings.check(pages == 2, f"is {pages} pages on paper")
        finally:
            browser.end()
